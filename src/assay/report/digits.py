"""How numbers look in a report: few digits, the same number behind the point all the way down a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_SIGNIFICANT = 3
_MOST_DECIMALS = 6
_MINUTE, _HOUR = 60, 3600


def decimals(values: Sequence[float]) -> int | None:
    """Digits behind the point that give the largest finite value of a column three significant ones.

    None when that takes more than six: such a column is printed in powers of ten.
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return 1
    places = _SIGNIFICANT - 1 - math.floor(math.log10(max(sizes)))
    return max(0, places) if places <= _MOST_DECIMALS else None


def fixed(value: float, places: int | None) -> str:
    """A float at so many digits behind the point (None: three significant ones in a power of ten), never -0."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if places is None:
        return f"{value:.{_SIGNIFICANT - 1}e}" if value else "0"
    text = f"{value:,.{places}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def column(values: Sequence[Any], kind: str, *, places: int | None = None) -> list[str]:
    """The entries of a table's column as text; ``kind`` is its declared type, ``places`` overrides the decimals."""
    if kind == "float64":
        numbers = [float(value) for value in values]
        chosen = decimals(numbers) if places is None else places
        return [fixed(number, chosen) for number in numbers]
    if kind == "int64":
        return [f"{int(value):,}" for value in values]
    return [("yes" if value else "no") if kind == "bool" else str(value) for value in values]


def duration(seconds: float | None) -> str:
    """Seconds as people say them: 4.2 s, 16 min 28 s, 3 h 5 min; a dash for none."""
    if seconds is None:
        return "–"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def size(n_bytes: int | None) -> str:
    """Bytes in powers of a thousand: 940 B, 33.1 kB, 1.95 GB; a dash for none."""
    if n_bytes is None:
        return "–"
    value, unit = float(n_bytes), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, bigger
    return f"{n_bytes} B" if unit == "B" else f"{value:.3g} {unit}"
