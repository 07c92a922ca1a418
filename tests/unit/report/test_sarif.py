"""SARIF holds one result for each claim that does not simply hold, at the line of its sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from assay.report.sarif import sarif
from assay.report.study import Study


def run_of(study: Study) -> Any:
    return json.loads(sarif(study.claims))["runs"][0]


def test_each_claim_that_does_not_hold_is_a_result(study: Study) -> None:
    found = run_of(study)
    results = {one["locations"][0]["logicalLocations"][0]["name"]: one for one in found["results"]}
    assert {name: (one["ruleId"], one["level"]) for name, one in results.items()} == {
        "E3": ("FAILS", "error"),
        "E4": ("PENDING", "note"),
        "E5": ("UNVERIFIED", "error"),
        "E6": ("STALE", "warning"),
    }
    place = results["E3"]["locations"][0]["physicalLocation"]
    line = next(claim.line for claim in study.claims if claim.id == "E3")
    assert place["artifactLocation"]["uri"] == "claims/study/test_study.py"
    assert place["region"] == {"startLine": line, "startColumn": 8}
    assert "printed 3,001, registered 3,000" in results["E3"]["message"]["text"]
    assert found["properties"]["verdicts"] == {"FAILS": 1, "HOLDS": 3, "PENDING": 1, "STALE": 1, "UNVERIFIED": 1}


def test_each_result_names_a_rule_that_is_there(study: Study) -> None:
    found = run_of(study)
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in found["results"])


def test_an_order_in_doubt_is_a_result_whatever_the_verdict(study: Study) -> None:
    claims = [
        replace(one, order=("unprovable",), doubt="the clone is shallow")
        for one in study.claims
        if one.id in ("E1", "E6")
    ]
    found = json.loads(sarif(claims))["runs"][0]
    said = [(one["ruleId"], one["level"], one["message"]["text"]) for one in found["results"]]
    assert said[1:] == [
        ("ORDER", "warning", f"{name}: order unprovable: the clone is shallow") for name in ("E1", "E6")
    ]
    assert said[0][0] == "STALE"
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in found["results"])
    prints = [one["partialFingerprints"]["claim/v1"] for one in found["results"]]
    assert len(set(prints)) == len(prints)


def test_fingerprints_tell_results_apart_and_stay(study: Study) -> None:
    prints = [one["partialFingerprints"]["claim/v1"] for one in run_of(study)["results"]]
    assert len(set(prints)) == len(prints)
    assert sarif(study.claims) == sarif(study.claims)


def test_where_all_claims_hold_there_is_no_result(representations: Study) -> None:
    assert run_of(representations)["results"] == []
