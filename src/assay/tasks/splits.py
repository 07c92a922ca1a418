"""Order and splits of items by a hash of their id, digests of sets of items, and the proof that no two sets share one.

Independent of file order, platform and library versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from assay.errors import DataError

__all__ = ["DisjointSets", "hash_order", "item_set_digest", "prove_disjoint", "split_by_hash"]


def hash_order(ids: Sequence[str]) -> list[int]:
    """Positions of ``ids`` in the order of SHA-256 of the id: a fixed shuffle that belongs to the ids alone."""
    keys = [hashlib.sha256(name.encode()).digest() for name in ids]
    return sorted(range(len(ids)), key=keys.__getitem__)


def split_by_hash(ids: Sequence[str], *, sizes: Mapping[str, int], rest: str) -> dict[str, list[int]]:
    """Disjoint splits: the first ``sizes[name]`` items in hash order for each name in turn, all others in ``rest``.

    Adding or removing one item moves at most one item across each boundary.

    Returns:
        For each split the positions of its items, in hash order.

    Raises:
        DataError: a repeated id, a size below 1, ``rest`` among the sizes, or more wanted than there is.
    """
    if len(set(ids)) != len(ids):
        repeated = next(name for position, name in enumerate(ids) if name in ids[:position])
        raise DataError(f"split_by_hash: the id {repeated!r} occurs twice. Ids must be unique to be split.")
    if rest in sizes or any(size < 1 for size in sizes.values()):
        raise DataError(
            f"split_by_hash: sizes {dict(sizes)} with rest {rest!r}; sizes are 1 or more, rest is none of them."
        )
    if sum(sizes.values()) > len(ids):
        raise DataError(f"split_by_hash: {sum(sizes.values())} items wanted for {dict(sizes)}, there are {len(ids)}.")
    order = hash_order(ids)
    splits: dict[str, list[int]] = {}
    start = 0
    for name, size in sizes.items():
        splits[name] = order[start : start + size]
        start += size
    splits[rest] = order[start:]
    return splits


class DisjointSets(NamedTuple):
    """What was proven: for each set the number of different items and the digest; no two sets share an item."""

    sizes: dict[str, int]
    digests: dict[str, str]


def item_set_digest(texts: Iterable[str]) -> str:
    """SHA-256 over the sorted texts, each preceded by its length in bytes; order does not matter, repeats do."""
    digest = hashlib.sha256()
    for text in sorted(texts):
        raw = text.encode()
        digest.update(f"{len(raw)}:".encode() + raw)
    return digest.hexdigest()


def prove_disjoint(sets: Mapping[str, Iterable[str]]) -> DisjointSets:
    """Sizes and digests of the sets, if every text is in at most one of them; repeats within a set count once.

    Equality is that of the whole text: a short program may still be the beginning of a longer one elsewhere.

    Raises:
        DataError: fewer than two sets, an empty set, or a text in two of them, with both names and an example.
    """
    whole = {name: frozenset(texts) for name, texts in sets.items()}
    empty = sorted(name for name, texts in whole.items() if not texts)
    if len(whole) < 2 or empty:
        raise DataError(f"prove_disjoint: sets {sorted(whole)}, empty: {empty}; at least two, none empty, are needed.")
    for one, other in combinations(sorted(whole), 2):
        shared = whole[one] & whole[other]
        if shared:
            raise DataError(
                f"prove_disjoint: {one} and {other} share {len(shared)} items, such as {min(shared)!r}. Draw one of "
                "them without the items of the other."
            )
    return DisjointSets(
        {name: len(texts) for name, texts in whole.items()},
        {name: item_set_digest(texts) for name, texts in whole.items()},
    )
