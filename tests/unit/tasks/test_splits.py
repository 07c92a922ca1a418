"""Splits by the hash of the id do not depend on file order, and lose nothing; disjointness is proven."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DataError
from assay.tasks.splits import hash_order, item_set_digest, prove_disjoint, split_by_hash

IDS = [f"page{i}.html#par_{i * 7}" for i in range(50)]


@given(st.permutations(IDS))
def test_membership_does_not_depend_on_the_order_of_the_items(ids):
    def names(order, split):
        return {order[i] for i in split_by_hash(order, sizes={"a": 10, "b": 7}, rest="c")[split]}

    assert all(names(ids, split) == names(IDS, split) for split in "abc")


def test_splits_are_disjoint_and_complete():
    splits = split_by_hash(IDS, sizes={"a": 10, "b": 7}, rest="c")
    assert sorted(place for places in splits.values() for place in places) == list(range(50))
    assert [len(splits[name]) for name in "abc"] == [10, 7, 33]


def test_hash_order_is_pinned():
    assert hash_order(["a", "b", "c"]) == [2, 1, 0]


@pytest.mark.parametrize(
    ("ids", "sizes", "message"),
    [
        (["x", "y", "x"], {"a": 1}, "'x' occurs twice"),
        (IDS, {"a": 40, "b": 11}, "51 items wanted"),
        (IDS, {"rest": 4}, "rest is none of them"),
        (IDS, {"a": 0}, "sizes are 1 or more"),
    ],
)
def test_impossible_splits_are_refused(ids, sizes, message):
    with pytest.raises(DataError, match=message):
        split_by_hash(ids, sizes=sizes, rest="rest")


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
