"""``--set field=value``: read by the type of the field, or refused by name."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from assay.errors import ConfigError
from assay.runs.overrides import field_paths, override


class Pooling(enum.StrEnum):
    MEAN = "mean"
    LAST = "last"


@dataclass(frozen=True)
class Text:
    languages: tuple[str, ...] = ("eng", "deu")
    items: int = 8

    def __post_init__(self) -> None:
        if self.items < 0:
            raise ValueError(f"items is {self.items}")


@dataclass(frozen=True)
class Settings:
    seed: int = 7
    rate: float = 0.5
    label: str = "a"
    exact: bool = False
    pooling: Pooling = Pooling.MEAN
    layers: Literal[1, 2] = 1
    limit: int | None = None
    pair: tuple[int, float] = (1, 2.0)
    text: Text = field(default_factory=Text)


@pytest.mark.parametrize(
    ("assignment", "name", "value"),
    [
        ("seed=12", "seed", 12),
        ("rate=1", "rate", 1.0),
        ("rate=1e-3", "rate", 0.001),
        ("label=true", "label", "true"),
        ("label=", "label", ""),
        ("label=a=b", "label", "a=b"),
        ("exact=true", "exact", True),
        ("exact=False", "exact", False),
        ("pooling=last", "pooling", Pooling.LAST),
        ("layers=2", "layers", 2),
        ("limit=4", "limit", 4),
        ("limit=none", "limit", None),
        ("pair=3,4", "pair", (3, 4.0)),
        ("pair=[3, 4.5]", "pair", (3, 4.5)),
        ("pair=[3, 4]", "pair", (3, 4.0)),
    ],
)
def test_a_value_is_read_by_the_type_of_its_field(assignment: str, name: str, value: Any) -> None:
    changed = getattr(override(Settings(), [assignment]), name)
    assert changed == value
    assert type(changed) is type(value)


def test_nested_fields_are_dotted_and_later_assignments_win() -> None:
    changed = override(Settings(), ["text.items=3", "text.languages=zho,deu", "text.items=4"])
    assert changed.text == Text(("zho", "deu"), 4)
    assert override(Settings(), ["text.languages="]).text.languages == ()


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("sede=1", "Settings has no field 'sede'. Did you mean 'seed'? Known: seed, rate,"),
        ("text.item=1", "no field 'item'. Did you mean 'items'?"),
        ("text=1", "'text' is a group of fields"),
        ("seed.x=1", "'seed' holds 7 (int), it has no fields"),
        ("seed=1.5", "field 'seed': wanted int, got '1.5' (str)"),
        ("seed=true", "field 'seed': wanted int, got 'true' (str)"),
        ("exact=1", "field 'exact': wanted bool, got '1' (str)"),
        ("layers=3", "field 'layers': wanted one of 1, 2, got '3' (str)"),
        ("pooling=max", "wanted one of 'mean', 'last' (Pooling), got 'max' (str)"),
        ("limit=x", "field 'limit': wanted int or None, got 'x' (str)"),
        ("pair=1", "field 'pair': wanted tuple[int, float], got '1' (str)"),
        ("pair=[1", "field 'pair': wanted tuple[int, float], got '[1' (str)"),
        (f"pair={'[' * 50_000}", "field 'pair': wanted tuple[int, float], got '[[["),
        ("text.items=x", "field 'text.items': wanted int, got 'x' (str)"),
        ("text.items=-1", "Text cannot be built: ValueError: items is -1"),
        ("seed", "write it as field=value"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(assignment: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        override(Settings(), [assignment])
    assert words in str(caught.value)


def test_field_paths_are_those_that_set_accepts() -> None:
    paths = list(field_paths(Settings()))
    assert paths[-2:] == ["text.languages", "text.items"]
    assert "text" not in paths
