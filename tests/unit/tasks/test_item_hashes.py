"""Digests of sets and proofs of disjointness."""

from __future__ import annotations

import pytest

from assay.errors import DataError
from assay.tasks.item_hashes import item_set_digest, prove_disjoint


def test_a_digest_belongs_to_the_set() -> None:
    assert item_set_digest(["b", "a"]) == item_set_digest(["a", "b"])
    assert len({item_set_digest(texts) for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "c", "c"], [])}) == 5
    assert item_set_digest([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_disjoint_sets_are_proven_and_described() -> None:
    proof = prove_disjoint({"train": iter(["x", "y", "y"]), "eval": ["z"]})
    assert proof.sizes == {"train": 2, "eval": 1}
    assert proof.digests == {"train": item_set_digest(["x", "y"]), "eval": item_set_digest(["z"])}


def test_a_shared_item_is_named() -> None:
    with pytest.raises(DataError, match=r"b and c share 1 items, such as 'z'"):
        prove_disjoint({"a": ["x"], "b": ["z", "y"], "c": ["z"]})
    for sets in ({"a": ["x"]}, {"a": ["x"], "b": []}):
        with pytest.raises(DataError, match="at least two, none empty"):
            prove_disjoint(sets)
