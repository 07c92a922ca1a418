"""Digests of sets of items, and the proof that no item is in two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from assay.errors import DataError

__all__ = ["DisjointSets", "item_set_digest", "prove_disjoint"]


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
