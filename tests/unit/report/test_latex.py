"""Numbers and tables for LaTeX: registered values in the printed form, by key, and nothing chosen in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.ledger.texts.coverage import Standing
from assay.ledger.texts.manuscripts import cover_texts, read_settings, reader_of
from assay.report.latex import escape, macros, numbers_file, tables
from assay.report.study import Study

ROOT = Path(__file__).resolve().parents[3]
DEFINED = re.compile(r"^\\assay@number\{(.*?)\}\{(.*?)\}\{(.*?)\}\{(.*)\}$", re.MULTILINE)


def defined(text: str) -> dict[tuple[str, str, str], str]:
    """What `numbers.tex` defines, by experiment, tier and key."""
    return {(experiment, tier, key): printed for experiment, tier, key, printed in DEFINED.findall(text)}


def test_a_number_is_printed_as_registered_in_the_form_of_its_claim(study: Study) -> None:
    found = defined(numbers_file(study))
    assert found["study.effect", "", "items"] == "3,000", "the claim prints 3,001 and fails"
    assert found["study.effect", "", "cka"] == "0.85 {[}0.83, 0.87{]}"
    assert found["study.effect", "", "delta.median"] == r"\ensuremath{-0.012}"
    assert found["study.effect", "", "share"] == r"87.5\%"
    assert found["study.effect", "", "p"] == r"\ensuremath{<} 0.001"
    assert found["study.other", "", "loss"] == "2.5"


def test_parts_of_counts_and_intervals_have_keys_of_their_own(study: Study) -> None:
    found = defined(numbers_file(study))
    assert [found["study.effect", "tiny", f"cka.{part}"] for part in ("value", "low", "high")] == [
        "0.85",
        "0.83",
        "0.87",
    ]
    assert [found["study.effect", "tiny", f"wins.target.{part}"] for part in ("count", "of")] == ["14", "20"]


def test_what_a_claim_prints_itself_goes_before_a_part(study: Study) -> None:
    assert defined(numbers_file(study))["study.effect", "small", "cka.value"] == "0.9"


def test_a_key_printed_at_two_tiers_needs_the_tier(study: Study) -> None:
    found = defined(numbers_file(study))
    assert ("study.effect", "", "wins.target") not in found
    assert found["study.effect", "tiny", "wins.target"] == found["study.effect", "small", "wins.target"] == "14/20"


def test_what_no_run_holds_has_no_macro(study: Study) -> None:
    keys = {macro.key for macro in macros(study)}
    assert "ratio" not in keys, "the claim derives it itself"
    assert "no.such" not in keys


def test_every_number_of_this_repository_has_its_macro(representations: Study) -> None:
    found = defined(numbers_file(representations))
    for claim in representations.claims:
        tier = next(run.registration.tier for run in representations.runs if run.run_id == claim.runs[0])
        for number in claim.numbers:
            assert ("merging.representations", tier, number.key) in found


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b & 5% #1 ${x}", r"a\_b \& 5\% \#1 \$\{x\}"),
        ("\\~^", r"\textbackslash{}\textasciitilde{}\textasciicircum{}"),
        ("-0.03", r"\ensuremath{-0.03}"),
        ("−1,234.5", r"\ensuremath{-1{,}234.5}"),
        ("1.2e-3", r"\ensuremath{1.2\times10^{-3}}"),
        ("[-0.1, +0.2]", r"{[}\ensuremath{-0.1}, \ensuremath{+0.2}{]}"),
        ("0.85 ± 0.02", r"0.85 \ensuremath{\pm} 0.02"),
        ("SmolLM2-135M", "SmolLM2-135M"),
        ("2026-11-30", "2026-11-30"),
    ],
)
def test_what_latex_prints_is_what_is_meant(text: str, written: str) -> None:
    assert escape(text) == written


def test_a_table_is_a_tabular_of_booktabs_in_the_chosen_columns(study: Study) -> None:
    found = tables(study)
    assert set(found) == {
        f"study.effect.{tier}.{name}.tex" for tier in ("tiny", "small") for name in ("directions", "many")
    }
    lines = found["study.effect.tiny.directions.tex"].splitlines()
    assert lines[1:] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"pair & \$\textbackslash{}Delta\$ \& gain \\",
        r"\midrule",
        r"a\_b & 0.50 \\",
        r"b\_a & \ensuremath{-0.25} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert found["study.effect.tiny.many.tex"].count(r"\\") == 61


def test_equal_evidence_gives_equal_bytes(study: Study) -> None:
    assert numbers_file(study) == numbers_file(study)
    assert tables(study) == tables(study)


def test_a_text_that_prints_every_number_of_this_repository_is_bound(representations: Study, tmp_path: Path) -> None:
    (tmp_path / "numbers.tex").write_text(numbers_file(representations))
    known = macros(representations)
    lines = [f"\\assay[{one.tier}]{{{one.experiment}}}{{{one.key}}}, $\\assay[{one.tier}]" for one in known]
    text = "\n\n".join(f"{line}{{{one.experiment}}}{{{one.key}}}$" for line, one in zip(lines, known, strict=True))
    (tmp_path / "main.tex").write_text(f"\\input{{numbers}}\n\\section{{Results}}\n{text}\n")
    main, numbers = cover_texts(reader_of(ROOT, read_settings(ROOT)), [tmp_path / "main.tex"], tmp_path)
    assert [one.message for one in main.found if one.standing is not Standing.BOUND] == []
    assert len({one.line for one in main.found}) == sum(any(map(str.isdigit, one.text)) for one in known) > 20
    assert {one.why for one in numbers.found} == {"registered numbers"}
    for run, text in tables(representations).items():
        (tmp_path / run).write_text(text)
        (tmp_path / "main.tex").write_text(f"\\section{{Results}}\\input{{{run}}}")
        main, table = cover_texts(reader_of(ROOT, read_settings(ROOT)), [tmp_path / "main.tex"], tmp_path)
        assert not main.found
        assert table.found
        assert all(one.why.startswith("registered table ") for one in table.found)
