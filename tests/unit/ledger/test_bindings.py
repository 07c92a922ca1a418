"""Printed forms of a run's keys, read from claim files."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ClaimError
from assay.ledger.bindings import printed_bindings

TEXT = """import pytest
pytestmark = pytest.mark.registered("study.effect", tier="tiny")

@pytest.mark.claim("M1")
def test_one(): "Gemma 3 270M: {a: 0.5} of {= 20} over {config.x: 3}, {b.c: 14/20}, {a: 0.5}."

@pytest.mark.claim("M2")
@pytest.mark.registered("study.effect")
def test_two(): "{a: 0.50} and {{x}}"

@pytest.mark.claim("M3", pending="later")
def test_three(): "{p: 1}"

@pytest.mark.claim("M4")
@pytest.mark.registered("study.other")
def test_four(): "{o: 1}"
"""


def test_forms_by_key(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TEXT)
    assert printed_bindings(tmp_path, "study.effect", "tiny") == {"a": ("0.5", "0.50"), "b.c": ("14/20",)}
    assert printed_bindings(tmp_path, "study.effect", "open") == {"a": ("0.50",)}
    assert printed_bindings(tmp_path, "study.never", "open") == {}


def test_a_wrong_sentence_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TEXT.replace("{a: 0.50}", "{a: 0,8}"))
    with pytest.raises(ClaimError, match=r"test_a\.py:9: .*decimal sign"):
        printed_bindings(tmp_path, "study.effect", "tiny")
