"""A changed module is told by the names of what changed in it."""

from __future__ import annotations

import pytest

from assay.runs.definitions import changed_definitions

BEFORE = b'''"""A module."""
import os
FACTOR = 3.0
LONG = "a text that is much longer than what a sentence should show of it"
class Settings:
    """Fields."""
    seed: int = 1
    def doubled(self):
        return 2 * self.seed
def scaled(x):
    return x * FACTOR
if os:
    FLAG = 1
'''


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"3.0", b"4.0", ["constant FACTOR 3.0 -> 4.0"]),
        (b"much longer", b"far longer", ["constant LONG changed"]),
        (b"seed: int = 1", b"seed: int = 2", ["constant Settings.seed 1 -> 2"]),
        (b"seed: int", b"seed: float", ["constant Settings.seed changed"]),
        (b"    seed: int = 1\n", b"    seed: int = 1\n    cells: int = 2\n", ["constant Settings.cells is new"]),
        (b"2 * self.seed", b"3 * self.seed", ["function Settings.doubled changed"]),
        (b"class Settings:", b"class Settings(dict):", ["class Settings changed"]),
        (b"class Settings:", b"class Options:", ["class Settings renamed to Options"]),
        (b"return x *", b"return x /", ["function scaled changed"]),
        (b"def scaled", b"def shrunk", ["function scaled renamed to shrunk"]),
        (b"def scaled(x)", b"def shrunk(x, y)", ["function scaled is gone", "function shrunk is new"]),
        (b"FACTOR", b"SCALE", ["function scaled changed", "constant FACTOR renamed to SCALE"]),
        (b"import os\n", b"import os\nfrom math import pi\n", ["from math import pi is new"]),
        (b"if os:", b"if not os:", ["statement 'if os:' is gone", "statement 'if not os:' is new"]),
        (b"import os\nFACTOR = 3.0\n", b"FACTOR = 3.0\nimport os\n", ["order of the statements changed"]),
        (b'"""A module."""', b"# nothing", []),
        (b"(x):\n    return x * FACTOR", b"(x):  # a comment\n    return (\n        x * FACTOR\n    )", []),
    ],
)
def test_what_changed_has_a_name(old: bytes, new: bytes, told: list[str]) -> None:
    assert old in BEFORE
    assert [str(change) for change in changed_definitions(BEFORE, BEFORE.replace(old, new))] == told


def test_a_name_defined_twice_is_one_definition() -> None:
    twice = b"X = 1\nX = 2\n"
    assert [str(change) for change in changed_definitions(twice, b"X = 1\nX = 3\n")] == ["constant X changed"]
    assert [str(change) for change in changed_definitions(twice, b"X = 1\n")] == ["constant X changed"]


def test_what_is_no_python_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        changed_definitions(BEFORE, b"def f(:\n")
