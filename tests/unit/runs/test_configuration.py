"""Configurations: what is refused, what the canonical form is, and that it can be read back."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ConfigError
from assay.runs.configuration import from_plain, plain, seeds


class Pooling(enum.StrEnum):
    MEAN = "mean"
    LAST = "last"


@dataclass(frozen=True)
class Text:
    languages: tuple[str, ...] = ("eng", "deu")
    items: int = 8


@dataclass(frozen=True)
class Settings:
    seed: int = 7
    rate: float = 0.5
    label: str = "a"
    exact: bool = False
    pooling: Pooling = Pooling.MEAN
    norm: Literal["l1", "l2"] = "l2"
    limit: int | None = None
    pair: tuple[int, float] = (1, 2.0)
    text: Text = field(default_factory=Text)


def test_plain_keeps_every_field_and_from_plain_reads_it_back() -> None:
    config = Settings(limit=3, rate=math.inf, text=Text(("zho",), 2))
    values = plain(config)
    assert values == {
        "seed": 7,
        "rate": "Infinity",
        "label": "a",
        "exact": False,
        "pooling": "mean",
        "norm": "l2",
        "limit": 3,
        "pair": [1, 2.0],
        "text": {"languages": ["zho"], "items": 2},
    }
    assert type(values["pooling"]) is str
    assert from_plain(Settings, values) == config


@given(
    st.builds(
        Settings,
        seed=st.integers(),
        rate=st.floats(allow_nan=False),
        label=st.text(),
        exact=st.booleans(),
        pooling=st.sampled_from(Pooling),
        norm=st.sampled_from(["l1", "l2"]),
        limit=st.none() | st.integers(),
        pair=st.tuples(st.integers(), st.floats(allow_nan=False)),
        text=st.builds(Text, languages=st.lists(st.text()).map(tuple), items=st.integers()),
    )
)
def test_round_trip_of_any_configuration(config: Settings) -> None:
    assert from_plain(Settings, plain(config)) == config


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": True}, "field 'seed': wanted int, got True (bool)"),
        ({"seed": 1.0}, "field 'seed': wanted int, got 1.0 (float)"),
        ({"rate": 1}, "field 'rate': wanted float, got 1 (int)"),
        ({"norm": "l3"}, "field 'norm': wanted one of 'l1', 'l2', got 'l3' (str)"),
        ({"pooling": "mean"}, "field 'pooling': wanted one of 'mean', 'last' (Pooling), got 'mean' (str)"),
        ({"limit": "3"}, "field 'limit': wanted int or None, got '3' (str)"),
        ({"pair": (1, 2.0, 3)}, "field 'pair': wanted tuple[int, float]"),
        ({"text": Text(items="8")}, "field 'text.items': wanted int, got '8' (str)"),  # type: ignore[arg-type]
    ],
)
def test_a_field_of_the_wrong_type_is_named_with_what_was_wanted_and_what_came(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        plain(replace(Settings(), **change))
    assert words in str(caught.value)


@dataclass(frozen=True)
class WithPath:
    where: Path = Path("x")


@dataclass(frozen=True)
class WithList:
    items: list[int] = field(default_factory=list)


@dataclass
class Thawed:
    seed: int = 1


@dataclass(frozen=True)
class WithThawed:
    inner: Thawed = field(default_factory=Thawed)


@dataclass(frozen=True)
class WithBareTuple:
    items: tuple = ()  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (WithPath(), "field 'where' is a path"),
        (WithList(), "field 'items': list[int] cannot be in a configuration"),
        (WithThawed(), "field 'inner': Thawed can be changed"),
        (WithBareTuple(), "field 'items': tuple cannot be"),
        (Thawed(), "Thawed can be changed"),
        ({"seed": 1}, "instance of a frozen dataclass, got {'seed': 1}"),
        (Settings, "instance of a frozen dataclass"),
    ],
)
def test_what_can_change_or_names_the_machine_is_refused(config: object, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plain(config)
    assert words in str(caught.value)


@dataclass(frozen=True)
class Kinded:
    kind: str = "exploratory"


def test_kind_is_one_of_three() -> None:
    assert plain(Kinded("pilot")) == {"kind": "pilot"}
    with pytest.raises(ConfigError, match="wanted one of exploratory, pilot, confirmatory, got 'final'"):
        plain(Kinded("final"))


def test_from_plain_refuses_unknown_and_missing_fields() -> None:
    values = plain(Settings())
    with pytest.raises(ConfigError, match=r"no field 'sede'. Did you mean 'seed'\?"):
        from_plain(Settings, {**values, "sede": 1})
    del values["seed"]
    with pytest.raises(ConfigError, match="no value for seed"):
        from_plain(Settings, values)


def test_seeds_are_found_by_name_at_any_depth() -> None:
    values = {"seed": 1, "text": {"shuffle_seed": 2, "seeds": [3, 4]}, "seedling": 4}
    assert seeds(values) == {"seed": 1, "text.shuffle_seed": 2, "text.seeds.0": 3, "text.seeds.1": 4}
