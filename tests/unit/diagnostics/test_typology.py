"""Typological distances are the printed values, symmetric, and missing where nothing is shared."""

import itertools
import math

import pytest

from assay.diagnostics.typology import provenance, typological_distance
from assay.errors import DataError

ENGLISH = {
    "syntactic": (0.5275, 0.3818, 0.5162, 0.4154),
    "genetic": (1.0, 0.9359, 0.9047, 0.9291),
    "featural": (0.5494, 0.4089, 0.5117, 0.4756),
    "inventory": (0.5926, 0.4235, 0.5472, 0.5064),
    "geographic": (0.3047, 0.0512, 0.0548, 0.0615),
}


@pytest.mark.parametrize("kind", ENGLISH)
def test_the_row_of_english(kind):
    found = tuple(typological_distance("eng", other, kind=kind).value for other in ("cmn", "por", "pol", "ita"))
    assert found == ENGLISH[kind]


def test_symmetric_between_zero_and_one_and_null_is_not_minus_one():
    kinds = [*ENGLISH, "phonological"]
    found = {}
    for kind, (one, other) in itertools.product(kinds, itertools.combinations(("eng", "cmn", "por", "pol", "ita"), 2)):
        there, back = typological_distance(one, other, kind=kind), typological_distance(other, one, kind=kind)
        assert (there.value, there.n_shared_features) == pytest.approx(
            (back.value, back.n_shared_features), nan_ok=True
        )
        assert 0 < there.value <= 1 or (math.isnan(there.value) and there.n_shared_features == 0 and there.reason)
        found[kind, one, other] = there
    assert sum(math.isnan(each.value) for each in found.values()) == 7
    assert found["phonological", "eng", "cmn"].value == 0.39
    assert found["syntactic", "eng", "cmn"].n_shared_features == 94
    assert found["phonological", "por", "ita"].reason == "no phonological feature is known in both por and ita"


def test_flores_codes():
    assert typological_distance("eng_Latn", "zho_Hans", kind="syntactic").value == 0.5275


def test_the_data_says_where_it_comes_from():
    said = provenance()
    assert (said["version"], said["package"], said["package_version"]) == (1, "urielplus", "1.3.2")
    assert said["licence"] == "CC-BY-SA-4.0"
    assert "arXiv 2409.18472" in said["attribution"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("eng", "zho", "syntactic"), "no language 'zho'.*Mandarin is cmn"),
        (("deu", "eng", "syntactic"), "no language 'deu'; there are eng, cmn"),
        (("eng", "cmn", "morphological"), "no kind 'morphological'; there are syntactic"),
        (("cmn", "zho_Hans", "genetic"), "are one language"),
    ],
)
def test_what_the_data_does_not_hold_is_an_error(call, message):
    first, second, kind = call
    with pytest.raises(DataError, match=message):
        typological_distance(first, second, kind=kind)
