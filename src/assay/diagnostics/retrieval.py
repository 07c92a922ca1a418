"""Retrieval of translations: does a linear map from donor rows find the recipient's row of the same item?

P@1 is the share of held-out items whose mapped donor row is nearest to the item's own recipient row, among the rows of
all held-out items. Chance is one over their number. Whole clusters are held out, so that neighbours from one document
never help.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from assay.axes import Bool, Float, Int, NDArray
from assay.choices import checked_choice
from assay.clusters import clusters_of
from assay.diagnostics.retrieval_maps import DonorRows, Fitted, fit_procrustes, fit_ridge
from assay.errors import EstimateError, ShapeError
from assay.rows import checked_rows
from assay.stats.bootstrap import cluster_mean
from assay.stats.estimate import Estimate

NEIGHBOURS = 10
MapKind = Literal["ridge", "procrustes"]
_MAPS: Mapping[str, Callable[[DonorRows, NDArray], Fitted]] = {"ridge": fit_ridge, "procrustes": fit_procrustes}


@dataclass(frozen=True, eq=False)
class RetrievalSplit:
    """Items to fit and to test on, no cluster in both, and folds of whole clusters within the fit items.

    ``folds`` hold positions among the fit items; ``test_clusters`` names the cluster of every test item.
    """

    fit: Int[NDArray, " fit_item"]
    test: Int[NDArray, " test_item"]
    folds: tuple[Int[NDArray, " _"], ...]
    test_clusters: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Which test items were found. ``kind`` is ``nearest`` (cosine) or ``csls``; ``note`` tells how it was fitted."""

    found: Bool[NDArray, " test_item"]
    clusters: tuple[Hashable, ...]
    kind: str
    note: str = ""

    @property
    def hits(self) -> int:
        """Number of test items found."""
        return int(self.found.sum())

    @property
    def n_test(self) -> int:
        """Number of test items, which is the number of candidates."""
        return len(self.found)

    @property
    def rate(self) -> float:
        """P@1: hits over test items."""
        return self.hits / self.n_test

    @property
    def chance(self) -> float:
        """P@1 of a guess: one over the test items."""
        return 1 / self.n_test

    def interval(self, *, draws: int, rng: np.random.Generator) -> Estimate:
        """P@1 with a bootstrap interval over test clusters; map and candidates stay as they are.

        Raises:
            EstimateError: fewer than 10 test clusters.
        """
        return cluster_mean(self.found.astype(np.float64), clusters=self.clusters, draws=draws, rng=rng)


class Retrievals(NamedTuple):
    """The same map read in two ways, and its ridge penalty (0 for Procrustes)."""

    nearest: Retrieval
    csls: Retrieval
    penalty: float


@dataclass(frozen=True, eq=False)
class RetrievalView:
    """Rows of one view, centred with the means of its fit rows; usable as donor and as recipient."""

    split: RetrievalSplit
    donor: DonorRows


def retrieval_split(
    clusters: Sequence[Hashable], *, rng: np.random.Generator, fit_share: float = 0.5, folds: int = 5
) -> RetrievalSplit:
    """Clusters in random order: the first ones, up to ``fit_share`` of the items, to fit on, the others to test on.

    Raises:
        EstimateError: an item without a cluster, a share outside (0, 1), fewer fit clusters than folds, or 10 or fewer
            test items.
    """
    members = clusters_of(clusters, len(clusters), what="retrieval_split").members
    if not 0 < fit_share < 1 or folds < 2:
        raise EstimateError(
            f"retrieval_split: fit_share {fit_share}, {folds} folds; a share in (0, 1), 2 folds or more."
        )
    order = [members[place] for place in rng.permutation(len(members))]
    sizes = np.cumsum([len(group) for group in order])
    n_fit_clusters = int(np.searchsorted(sizes, fit_share * len(clusters), side="right"))
    fit_groups, test_groups = order[:n_fit_clusters], order[n_fit_clusters:]
    n_test = sum(len(group) for group in test_groups)
    if n_fit_clusters < folds or n_test <= NEIGHBOURS:
        raise EstimateError(
            f"retrieval_split: {len(clusters)} items in {len(members)} clusters give {n_fit_clusters} fit clusters for "
            f"{folds} folds and {n_test} test items; {folds} clusters and {NEIGHBOURS + 1} test items are needed."
        )
    fit = np.concatenate(fit_groups)
    fold_of = np.repeat(np.arange(n_fit_clusters) % folds, [len(group) for group in fit_groups])
    test = np.sort(np.concatenate(test_groups))
    parts = tuple(np.flatnonzero(fold_of == fold) for fold in range(folds))
    return RetrievalSplit(fit, test, parts, tuple(clusters[item] for item in test))


def retrieval_view(rows: Float[NDArray, "item d"], split: RetrievalSplit) -> RetrievalView:
    """Rows of one view made ready; decompositions are computed at the first use and serve every pair.

    Raises:
        ShapeError: not one row an item of the split.
        EstimateError: NaN or infinity, with the row.
    """
    values = checked_rows(rows, what="retrieval_view")
    n_items = len(split.fit) + len(split.test)
    if len(values) != n_items:
        raise ShapeError(f"retrieval_view: rows of shape {values.shape}, the split has {n_items} items.")
    centred = values - values[split.fit].mean(axis=0)
    return RetrievalView(split, DonorRows(centred[split.fit], centred[split.test], split.folds))


def retrieval(donor: RetrievalView, recipient: RetrievalView, *, map_kind: MapKind = "ridge") -> Retrievals:
    """P@1 and its CSLS form for the map donor -> recipient, fitted on the fit items alone.

    Scores are cosines of mapped donor and recipient rows. CSLS is 2 cos - r_recipient - r_donor, r the mean cosine to
    the 10 nearest rows of the other side. An item counts as found if its own score is above all others; a tie does not.
    Swap the arguments for the other direction.

    Raises:
        ShapeError: the views belong to different splits.
        EstimateError: rows that do not vary, another map.

    Source: CSLS from Conneau et al. 2018 (arXiv 1710.04087).
    """
    return _read(donor, recipient, _checked(donor, recipient, map_kind)(donor.donor, recipient.donor.fit))


def shuffled_retrieval(
    donor: RetrievalView, recipient: RetrievalView, *, rng: np.random.Generator, map_kind: MapKind = "ridge"
) -> Retrievals:
    """`retrieval` with a map fitted to fit items in random order: the sham. Test items keep their partners.

    Raises:
        ShapeError, EstimateError: as for `retrieval`.
    """
    fit = _checked(donor, recipient, map_kind)
    shuffled = recipient.donor.fit[rng.permutation(len(recipient.donor.fit))]
    return _read(donor, recipient, fit(donor.donor, shuffled))


def _checked(
    donor: RetrievalView, recipient: RetrievalView, map_kind: MapKind
) -> Callable[[DonorRows, NDArray], Fitted]:
    """How that map is fitted, for two views of one split."""
    checked_choice(map_kind, MapKind, what="retrieval: map")
    one, other = donor.split, recipient.split
    if not (np.array_equal(one.fit, other.fit) and np.array_equal(one.test, other.test)):
        raise ShapeError("retrieval: donor and recipient were made with different splits. Use one split for all views.")
    return _MAPS[map_kind]


def _read(donor: RetrievalView, recipient: RetrievalView, fitted: Fitted) -> Retrievals:
    cosines = _unit(fitted.mapped) @ _unit(recipient.donor.test).T
    clusters = donor.split.test_clusters
    nearest = Retrieval(_own_is_highest(cosines), clusters, "nearest", fitted.note)
    adjusted = 2 * cosines - _nearest_mean(cosines)[:, None] - _nearest_mean(cosines.T)[None, :]
    return Retrievals(nearest, Retrieval(_own_is_highest(adjusted), clusters, "csls", fitted.note), fitted.penalty)


def _unit(rows: Float[NDArray, "item d"]) -> Float[NDArray, "item d"]:
    """Rows of length 1; a row of zeros stays so and is never found, since all its cosines are equal."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def _own_is_highest(scores: Float[NDArray, "item item"]) -> Bool[NDArray, " item"]:
    own = scores.diagonal().copy()
    others = scores.copy()
    np.fill_diagonal(others, -np.inf)
    return np.asarray(own > others.max(axis=1))


def _nearest_mean(cosines: Float[NDArray, "item item"]) -> Float[NDArray, " item"]:
    return np.asarray(np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(axis=1))
