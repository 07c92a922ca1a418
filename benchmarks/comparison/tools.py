"""The tools of the comparison, in the order of the page, at the versions that the package index had on its date."""

from __future__ import annotations

from typing import Final

from benchmarks.comparison import by_hand, of_manuscripts, with_assay
from benchmarks.comparison.tool import Tool

ASSAY: Final = Tool(
    "Assay",
    "",
    "a claim (a test whose docstring is the sentence) for each number, a registered run, `pytest claims/`, and "
    "`assay claims text paper.tex`",
    "reads LaTeX and Markdown; counts, shares, intervals and powers of ten are printed forms; tells a number "
    "that was not finite or never "
    "measured from a wrong one; ties every number to a run of a commit. It has a format of run of its own, and "
    "its claims are Python",
    with_assay.prepare,
    with_assay.write_paper,
    with_assay.measure,
    with_assay.flagged,
)
RIVALS: Final = (
    Tool(
        "repro",
        "reproducible-science==0.6.1",
        "`repro manifest init`, a claim for each sentence in repro.yaml (`metric` for each number, `quote` for "
        "the sentence), `repro verify`",
        "no Python is written; pins every file by digest; reads JSON, CSV, Excel, SQLite, Parquet, HDF5 and more "
        "at declared addresses; "
        "tells NaN and absent from wrong; exact ties; `repro numbers` counts what is unbound, `repro stale` what "
        "is out of date, "
        "`repro reproduce` runs again; preregistration and quotations from sources",
        of_manuscripts.prepare_repro,
        of_manuscripts.write_repro,
        by_hand.measure_json,
        of_manuscripts.flagged_repro,
    ),
    Tool(
        "manuscript-guard, bound",
        "manuscript-guard==0.2.464",
        "numbers of the manuscript are bindings to what the analysis emits, as its README advises; "
        "`manuscript-guard check`",
        "a bound number cannot be wrong, and one typed instead fails; follows a new run by itself; writes Word "
        "and LaTeX; figures, literature, "
        "journal rules, reporting checklists, review, co-authors' edits in Word",
        of_manuscripts.prepare_bound,
        of_manuscripts.write_bound,
        of_manuscripts.measure_bound,
        of_manuscripts.flagged_bound,
    ),
    Tool(
        "manuscript-guard, audit",
        "manuscript-guard==0.2.464",
        "the finished paper in Markdown against the outputs of the emitter: `manuscript-guard audit paper.md "
        "--strict --against results`",
        "nothing has to be declared; reads Word; says how much a match is worth among these outputs, and that it "
        "asks only whether a number is in them",
        of_manuscripts.prepare_audit,
        of_manuscripts.write_audit,
        of_manuscripts.measure_bound,
        of_manuscripts.flagged_audit,
    ),
    Tool(
        "pytest-grounding",
        "pytest-grounding[data,docs]==0.0.4",
        "a test for each sentence formats it from `data()` and looks for it in the paper, a Word document, with "
        "`doc().contains()`; `pytest`",
        "ordinary tests; every input is pinned by digest, `grounding trace` tells drift; reads PDF, Word and "
        "PowerPoint; "
        "strength and caveats of a claim; the format of a number is any that Python can write",
        by_hand.prepare_grounding,
        by_hand.write_docx,
        by_hand.measure_csv,
        by_hand.flagged_tests,
    ),
    Tool(
        "openpub",
        "openpub==0.1.0",
        "printed numbers with a tolerance of half their last digit in claims.json, a function for each claim; "
        "`openpub verify`",
        "very small; calls the analysis itself, so that a claim is computed anew each time; nested values",
        by_hand.prepare_openpub,
        by_hand.write_plain,
        by_hand.measure_json,
        by_hand.flagged_openpub,
    ),
    Tool(
        "pytest-regressions",
        "pytest-regressions==2.11.0 numpy pandas",
        "printed numbers typed into the expected file of `num_regression`, half the last digit as tolerance; "
        "`pytest`. It is not made for papers",
        "well known and kept; arrays, data frames, images and files; `--force-regen` rewrites what changed; one "
        "line in any test",
        by_hand.prepare_regressions,
        by_hand.write_plain,
        by_hand.measure_json,
        by_hand.flagged_regressions,
    ),
)
