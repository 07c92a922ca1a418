"""Claim files read without running them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ClaimError
from assay.ledger.claim import RunMark
from assay.ledger.claim_files import claim_files
from assay.ledger.source import ClaimFile, static_claims

TEXT = '''import pytest
pytestmark = [pytest.mark.slow, pytest.mark.registered("study.effect")]


@pytest.mark.claim("M1")
def test_one(evidence):
    """\u00e9 {wins: 14/20}
    and {loss: 0.5}."""


class TestMore:
    pytestmark = pytest.mark.registered("study.other", tier="tiny")

    @pytest.mark.claim("M2", section="3")
    def test_two(self):
        "It is {a: 1}."

    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.claim("M3")), pytest.param(2, marks=[])])
    @pytest.mark.registered("study.third")
    def test_three(self, x):
        """It \\\\is {a: 1}."""


if True:
    @pytest.mark.claim("M4")
    def test_four():
        ...
'''


@pytest.fixture(params=["\n", "\r\n"], ids=["lf", "crlf"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> ClaimFile:
    path = tmp_path / "test_claims.py"
    path.write_bytes(TEXT.replace("\n", request.param).encode())
    return ClaimFile(path)


def test_functions_marks_and_runs(source: ClaimFile) -> None:
    found = {name: ([mark.id for mark in one.marks], one.run) for name, one in source.functions.items()}
    assert found == {
        "test_one": (["M1"], RunMark("study.effect")),
        "TestMore.test_two": (["M2"], RunMark("study.other", "tiny")),
        "TestMore.test_three": (["M3"], RunMark("study.third")),
        "test_four": (["M4"], RunMark("study.effect")),
    }
    assert source.functions["test_four"].written is None


def test_places_and_spans(source: ClaimFile) -> None:
    written = source.functions["test_one"].written or ""
    for text, place in (("14/20", (7, 17)), ("0.5", (8, 16))):
        start = written.index(text)
        assert source.place("test_one", start) == place
        span = source.span("test_one", start, start + len(text))
        assert span is not None
        assert source.data[slice(*span)] == text.encode()


def test_escapes_hide_a_place(source: ClaimFile) -> None:
    assert source.place("TestMore.test_three", 9) == (21, 9)
    assert source.span("TestMore.test_three", 9, 10) is None
    assert source.place("nowhere", 0) == (1, 1)


def test_static_claims_of_a_folder(source: ClaimFile) -> None:
    assert [mark.id for _, _, mark in static_claims(source.path.parent)] == ["M1", "M2", "M3", "M4"]
    assert claim_files(source.path) == [source.path]


HIDING = '''
@pytest.mark.claim("M1")
def test_one():
    """First {a: 1}."""

class TestMore:
    @pytest.mark.claim("M2")
    def test_two(self):
        """Second {a: 2}."""

    @pytest.mark.claim("M3")
    def test_two(self):
        """Third {a: 3}."""

def test_one():
    """Not a claim."""

try:
    @pytest.mark.claim("M4")
    def test_three(): ...
except ImportError:
    @pytest.mark.claim("M5")
    def test_three(): ...

match 1:
    case 1:
        @pytest.mark.claim("M" + "6")
        def test_four(): ...

class TestMore:
    pass
'''


def test_what_a_later_definition_hides_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "test_hiding.py"
    path.write_text(HIDING)
    source = ClaimFile(path)
    found = {mark.id: (function.line, function.hidden_by) for _, function, mark in static_claims(tmp_path)}
    assert found == {"M1": (3, 15), "M2": (8, 12), "M3": (12, 30), "M4": (20, None), "M5": (23, None)}
    assert [function.computed for function in source.written] == [False] * 6 + [True]
    assert source.place(source.written[0], 0) == (4, 8)
    assert source.functions["test_one"].line == 15


def test_what_is_not_python_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text("def (")
    with pytest.raises(ClaimError, match=r"test_broken\.py: cannot be read as Python"):
        ClaimFile(path)
