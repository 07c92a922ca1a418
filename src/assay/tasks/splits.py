"""Order and splits of items by a hash of their id: independent of file order, platform and library versions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from assay.errors import DataError


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
