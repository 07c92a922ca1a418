"""Two runs side by side: which numbers, settings and versions differ, and whether one reproduces the other."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.runs.values import Count, Value

if TYPE_CHECKING:
    from assay.runs.manifest import Manifest
    from assay.runs.results import Results

RELATIVE_TOLERANCE = 1e-4
"""Largest |a - b| / max(|a|, |b|) between a run and its rerun for numbers that no claim prints."""

ZERO_TOLERANCE = 1e-9
"""Largest absolute value of a rerun's number where the run recorded exactly 0, to which nothing is near relatively."""

Path = str
Holds = Callable[[str, Value], bool]
"""Whether a printed form, such as ``14/20``, holds for a value."""


class Change(NamedTuple):
    """A place where two runs differ; ``None`` where one of them has nothing there."""

    where: Path
    first: Any
    second: Any


@dataclasses.dataclass(frozen=True)
class Difference:
    """What differs between two runs; ``compared`` numbers and table cells were looked at."""

    first: str
    second: str
    compared: int
    numbers: tuple[Change, ...]
    configuration: tuple[Change, ...]
    source: tuple[Change, ...]
    environment: tuple[Change, ...]

    @property
    def largest(self) -> float:
        """Largest relative difference between two finite numbers; 0 when there is none."""
        found = (relative(change.first, change.second) for change in self.numbers)
        return max((value for value in found if not math.isnan(value)), default=0.0)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Whether a rerun reproduced a run.

    ``drifted`` are the numbers beyond what is allowed. ``printed`` were held against the printed precision of claims,
    the other numbers against ``tolerance`` (relative) or ``absolute``, whichever allows more, and against
    ``ZERO_TOLERANCE`` where exactly 0 was recorded; counts, whole numbers and words had to be equal.
    """

    run_id: str
    rerun_id: str
    identical: bool
    compared: int
    printed: int
    tolerance: float
    absolute: float
    largest: float
    drifted: tuple[Change, ...]
    source: tuple[Change, ...]
    environment: tuple[Change, ...]

    @property
    def reproduced(self) -> bool:
        """No number drifted."""
        return not self.drifted


def diff(first: Results, second: Results) -> Difference:
    """Every number, table cell, setting, module and version that differs between two runs."""
    left, right = dict(leaves(first)), dict(leaves(second))
    one, two = first.manifest, second.manifest
    return Difference(
        first=first.run_id,
        second=second.run_id,
        compared=len(left.keys() | right.keys()),
        numbers=_changes(left, right),
        configuration=settings_changes(one.config, two.config),
        source=_changes(dict(one.modules), dict(two.modules)),
        environment=environment_changes(one, two),
    )


def judge(
    registered: Results,
    rerun: Results,
    *,
    printed: Mapping[Path, tuple[str, ...]],
    holds: Holds,
    tolerance: float = RELATIVE_TOLERANCE,
    absolute: float = 0.0,
) -> Outcome:
    """Hold a rerun against the run it repeats.

    ``printed`` are the forms in which claims print a key. A number with forms that hold for the recorded value
    reproduces when each of these holds for the new one as well; a form that does not is of another run, or of a claim
    that fails. All others: ``|a - b| <= max(tolerance max(|a|, |b|), absolute)``, and ``|b| <= ZERO_TOLERANCE``
    for a = 0.
    """
    old, new = dict(leaves(registered)), dict(leaves(rerun))
    forms = _governing(printed, registered, rerun, holds)
    governed = forms.keys() | {f"{key}.value" for key in forms}
    drifted = [
        change
        for change in _changes(old, new)
        if change.where not in governed
        and not close(change.first, change.second, tolerance=tolerance, absolute=absolute)
    ]
    drifted += [
        Change(key, f"printed {form}", rerun.value(key))
        for key in sorted(forms)
        for form in forms[key]
        if not holds(form, rerun.value(key))
    ]
    difference = diff(registered, rerun)
    return Outcome(
        run_id=registered.run_id,
        rerun_id=rerun.run_id,
        identical=registered.manifest.summary == rerun.manifest.summary,
        compared=difference.compared,
        printed=len(forms),
        tolerance=tolerance,
        absolute=absolute,
        largest=difference.largest,
        drifted=tuple(drifted),
        source=difference.source,
        environment=difference.environment,
    )


def leaves(results: Results) -> Iterator[tuple[Path, Any]]:
    """Each number of a run by key (the parts of an estimate apart), and each table cell as ``table[row].column``."""
    for key in (*results.keys(),):
        value = results.value(key)
        if dataclasses.is_dataclass(value) and not isinstance(value, Count):
            for field in dataclasses.fields(value):
                if (part := getattr(value, field.name)) is not None and part != "":
                    yield f"{key}.{field.name}", part
        else:
            yield key, value
    for name in results.tables():
        for row, entries in enumerate(results.table(name).to_dict("records")):
            for column, entry in entries.items():
                yield f"{name}[{row}].{column}", entry


def _has(results: Results, key: Path) -> bool:
    """Whether ``key`` names a number, or a part of a count or estimate, of the run itself."""
    return bool({key, key.rpartition(".")[0]} & set(results.keys()))


def close(recorded: Any, now: Any, *, tolerance: float, absolute: float = 0.0) -> bool:
    """Whether two values are equal, or are floats within the tolerances; NaN is close to NaN alone."""
    if same(recorded, now):
        return True
    if not (isinstance(recorded, float) and isinstance(now, float)):
        return False
    if not (math.isfinite(recorded) and math.isfinite(now)):
        return False
    allowed = max(tolerance * max(abs(recorded), abs(now)), absolute, ZERO_TOLERANCE if recorded == 0 else 0.0)
    return abs(recorded - now) <= allowed


def same(first: Any, second: Any) -> bool:
    """Equality in which NaN equals NaN, and True is not 1."""
    if isinstance(first, bool) != isinstance(second, bool):
        return False
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return True
    return bool(first == second)


def relative(first: Any, second: Any) -> float:
    """|a - b| / max(|a|, |b|) of two numbers (a count by its share), 0 beside an exact 0 within ``ZERO_TOLERANCE``.

    NaN for all else.
    """
    first, second = (value.share if isinstance(value, Count) else value for value in (first, second))
    for value in (first, second):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return math.nan
    if first == second or (first == 0 and abs(second) <= ZERO_TOLERANCE):
        return 0.0
    gap: float = abs(first - second) / max(abs(first), abs(second))
    return gap


def environment_changes(first: Manifest, second: Manifest) -> tuple[Change, ...]:
    """Differences in Python, packages, operating system, processor, accelerator and determinism."""
    sides = []
    for manifest in (first, second):
        facts = {name: getattr(manifest, name) for name in ("python", "os", "cpu", "cores", "threads", "accelerator")}
        sides.append(facts | _flat(manifest.packages, "package ") | _flat(manifest.determinism, "determinism "))
    return _changes(*sides)


def settings_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Change, ...]:
    """Fields, by dotted name, in which two resolved configurations differ."""
    return _changes(_flat(first), _flat(second))


def _changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Change, ...]:
    keys = dict.fromkeys((*first, *second))
    return tuple(
        Change(key, first.get(key), second.get(key))
        for key in keys
        if key not in first or key not in second or not same(first[key], second[key])
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _governing(
    printed: Mapping[Path, tuple[str, ...]], registered: Results, rerun: Results, holds: Holds
) -> dict[Path, tuple[str, ...]]:
    """The printed forms that the recorded values have, by the key of a number that both runs hold."""
    both = [key for key in printed if _has(registered, key) and _has(rerun, key)]
    forms = {key: tuple(form for form in printed[key] if holds(form, registered.value(key))) for key in both}
    return {key: held for key, held in forms.items() if held}
