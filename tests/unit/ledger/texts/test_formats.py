"""Coverage as lines, GitHub annotations and SARIF."""

from __future__ import annotations

import json

from assay.ledger.texts.coverage import Reader, Standing
from assay.ledger.texts.formats import as_json, github, listing, sarif, summary

TEXT = "In 14/20 (M7).\n\n# Results\n\nThe 5 % of `6`.\n\nIt is 15/20 (M7), or (M9).\n\n# B\n\nA 7.\n"
FOUND = [Reader({"M7": "It wins in 14/20."}).cover(TEXT, "docs/a,b.md")]


def test_lines_and_rows() -> None:
    assert listing(FOUND) == [
        "docs/a,b.md:5:5: 5% is loose among results: cite the claim that prints it",
        "docs/a,b.md:7:7: prints 15/20, and M7 prints 14/20",
        "docs/a,b.md:7:23: cites (M9): no claim has this id",
        "docs/a,b.md:11:3: 7 is loose",
    ]
    assert listing(FOUND, standings=(Standing.ASIDE,)) == ["docs/a,b.md:5:13: 6 is set aside: code"]
    assert summary(FOUND) == [("docs/a,b.md", "1", "1", "2", "1", "2", "0", "20%")]


def test_annotations_escape_what_workflow_commands_would_read() -> None:
    assert list(github(FOUND)) == [
        "::error file=docs/a%2Cb.md,line=5,col=5,title=loose-number::5%25 is loose among results: cite the claim that "
        "prints it",
        "::error file=docs/a%2Cb.md,line=7,col=7,title=wrong-number::prints 15/20, and M7 prints 14/20",
        "::error file=docs/a%2Cb.md,line=7,col=23,title=unknown-claim::cites (M9): no claim has this id",
        "::notice file=docs/a%2Cb.md,line=11,col=3,title=loose-number::7 is loose",
    ]


def test_sarif_names_its_rules_and_places() -> None:
    log = json.loads(json.dumps(sarif(FOUND)))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in run["results"]} == rules - {"not-read"}
    assert [one["level"] for one in run["results"]] == ["error", "error", "error", "note"]
    region = run["results"][0]["locations"][0]["physicalLocation"]
    assert region == {"artifactLocation": {"uri": "docs/a%2Cb.md"}, "region": {"startLine": 5, "startColumn": 5}}


def test_json_has_every_number() -> None:
    found = json.loads(json.dumps(as_json(FOUND)))
    assert found["failing"] == 3
    assert [one["standing"] for one in found["texts"][0]["numbers"]] == [
        *("bound", "loose", "set aside", "wrong", "wrong", "loose")
    ]


def test_what_is_not_read_is_said_in_every_form() -> None:
    source = "\\section{Results}\\csvreader{a.csv}{}{}\n\\section{B}\\ifx 5\\fi\n"
    found = [Reader({}).cover(source, "a.tex")]
    assert listing(found)[:2] == [
        "a.tex:1:18: \\csvreader{a.csv}{}{} is not read: it prints the numbers of a data file",
        "a.tex:2:12: \\ifx is not read: it is not decided: every branch of it is read",
    ]
    assert summary(found) == [("a.tex", "0", "0", "1", "0", "0", "2", "0%")]
    assert found[0].summary == "a.tex: 0 bound, 0 set aside, 1 loose, 0 wrong, 2 not read; 0% covered"
    assert [line.partition("::\\")[0] for line in github(found)][:2] == [
        "::error file=a.tex,line=1,col=18,title=not-read",
        "::notice file=a.tex,line=2,col=12,title=not-read",
    ]
    results = sarif(found)["runs"][0]["results"]
    assert [(one["ruleId"], one["level"]) for one in results[:2]] == [("not-read", "error"), ("not-read", "note")]
    (text,) = as_json(found)["texts"]
    assert (text["not read"], [one["fails"] for one in text["numbers"]]) == (2, [True, False, False])
