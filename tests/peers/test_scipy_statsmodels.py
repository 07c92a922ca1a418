"""The numbers of scipy and statsmodels on the same input; where they differ by intent, the difference itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.arrangements import item_arrangements
from assay.stats.bca import bca_mean, bca_paired_difference
from assay.stats.bootstrap import cluster_mean, paired_difference
from assay.stats.correlation import partial_spearman, spearman, spearman_table
from assay.stats.equivalence import paired_tost
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.permutation import permutation_p
from assay.stats.proportion import proportion, sign_test
from assay.stats.sign_flip import sign_flip_p


def values(n: int, name: str = "values") -> np.ndarray:
    return stream(0, "peers", name).exponential(size=n)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_of_items_bit_for_bit(method: str) -> None:
    """The same generator draws the same resamples on both sides."""
    first, second = values(50), values(50, "second")
    options = {"clusters": range(50), "draws": 999}
    if method == "percentile":
        ours = paired_difference(first, second, rng=stream(1, "b"), **options)
    else:
        ours = bca_paired_difference(first, second, estimand="item-weighted", rng=stream(1, "b"), **options).estimate
    theirs = stats.bootstrap((first - second,), np.mean, n_resamples=999, method=method, rng=stream(1, "b"))
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_bca_of_equal_values_is_nan_there_and_percentile_here() -> None:
    with pytest.warns(stats.DegenerateDataWarning):
        theirs = stats.bootstrap((np.ones(30),), np.mean, n_resamples=200, method="BCa", rng=stream(1, "b"))
    ours = bca_mean(np.ones(30), clusters=range(30), estimand="item-weighted", draws=200, rng=stream(1, "b"))
    assert math.isnan(theirs.confidence_interval.low)
    assert (ours.estimate.low, ours.method) == (1.0, "percentile")
    assert ours.estimate.reason


def test_cluster_bootstrap_is_as_wide_as_the_cluster_robust_error() -> None:
    source = stream(2, "robust")
    clusters = np.repeat(np.arange(200), 5)
    effect = source.standard_normal(200)[clusters] + source.standard_normal(1000)
    ours = cluster_mean(effect, clusters=clusters, draws=4000, rng=source)
    fit = sm.OLS(effect, np.ones(1000)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert (ours.high - ours.low) / (2 * 1.96) == pytest.approx(fit.bse[0], rel=0.05)
    assert (ours.high - ours.low) > 1.5 * 2 * 1.96 * sm.OLS(effect, np.ones(1000)).fit().bse[0]


def test_spearman_and_its_exact_p() -> None:
    first, second = values(6), values(6, "second")
    orders = item_arrangements(6, draws=99, rng=stream(1, "o"))
    for alternative in ("greater", "less"):
        theirs = stats.permutation_test(
            (first,),
            lambda x: stats.spearmanr(x, second).statistic,
            permutation_type="pairings",
            n_resamples=np.inf,
            alternative=alternative,
        )
        ours = spearman(first, second, arrangements=orders, alternative=alternative)
        assert (ours.rho, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_two_sided_p_counts_absolute_values_where_scipy_doubles_a_tail() -> None:
    """With ties the null of rho is skewed and the two rules part."""
    first, second = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 3.0, 3.0, 9.0])
    orders = item_arrangements(6, draws=99, rng=stream(1, "o"))
    ours = {one: spearman(first, second, arrangements=orders, alternative=one).p for one in ("two-sided", "greater")}
    theirs = stats.permutation_test(
        (first,), lambda x: stats.spearmanr(x, second).statistic, permutation_type="pairings", n_resamples=np.inf
    ).pvalue
    assert theirs == pytest.approx(2 * ours["greater"])
    assert ours["greater"] <= ours["two-sided"] <= theirs


def test_a_table_of_drawn_p_is_near_scipys() -> None:
    first, second = (stream(3, name).standard_normal((10, 2)) for name in ("first", "second"))
    ours = spearman_table(first, second, arrangements=item_arrangements(10, draws=20_000, rng=stream(4, "o")))
    for row in range(2):
        for column in range(2):
            ranks = [stats.rankdata(one) for one in (first[:, row], second[:, column])]
            method = stats.PermutationMethod(n_resamples=20_000, rng=stream(5, "o"))
            assert ours.p[row, column] == pytest.approx(stats.pearsonr(*ranks, method=method).pvalue, abs=0.015)
    assert ours.rho == pytest.approx(stats.spearmanr(first, second).statistic[:2, 2:])


def test_partial_spearman_is_the_regression_of_ranks() -> None:
    first, second, given = (stats.rankdata(values(20, name)) for name in ("a", "b", "c"))
    design = sm.add_constant(given)
    left, right = (sm.OLS(one, design).fit().resid for one in (first, second))
    orders = item_arrangements(20, draws=99, rng=stream(1, "o"))
    ours = partial_spearman(first, second, given=given[:, None], arrangements=orders)
    assert ours.rho == pytest.approx(stats.pearsonr(left, right).statistic)


def test_adjusted_p() -> None:
    p = stream(6, "p").random(25) ** 3
    assert holm(p, planned=25).p == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p, planned=25).p == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert benjamini_hochberg(p, planned=25).p == pytest.approx(stats.false_discovery_control(p))


def test_a_missing_p_in_statsmodels_scipy_and_here() -> None:
    p = np.array([0.01, np.nan, 0.02])
    assert np.isnan(multipletests(p, method="fdr_bh")[1]).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.false_discovery_control(p)
    assert benjamini_hochberg(p, planned=3).p == pytest.approx([0.03, np.nan, 0.03], nan_ok=True)
    assert holm(p, planned=3).p == pytest.approx([0.03, np.nan, 0.04], nan_ok=True)


def test_exact_shares_and_signs() -> None:
    for kind, name in (("exact", "beta"), ("wilson", "wilson")):
        ours = proportion(17, n=20, kind=kind)
        assert (ours.low, ours.high) == pytest.approx(proportion_confint(17, 20, method=name))
    from statsmodels.stats.descriptivestats import sign_test as peer

    differences = np.round(values(40) - 0.7, 1)
    assert sign_test(differences).p == pytest.approx(peer(differences, 0)[1])


def test_tost_of_pairs() -> None:
    first, second = values(30), values(30, "second")
    p, above, below = DescrStatsW(first - second).ttost_mean(-0.4, 0.4)
    found = paired_tost(first, second, margin=0.4)
    assert (found.p, found.p_above, found.p_below) == pytest.approx((p, above[1], below[1]))


def test_sign_flips_of_items_are_scipys_paired_permutations() -> None:
    difference = values(9) - 0.8
    for alternative in ("greater", "less", "two-sided"):
        theirs = stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
        )
        ours = sign_flip_p(difference, clusters=range(9), draws=99, rng=stream(1, "f"), alternative=alternative)
        assert ours.p == pytest.approx(theirs.pvalue)


def test_permutation_p_has_scipys_plus_one() -> None:
    first, second = values(30), values(30, "second") + 0.3
    theirs = stats.permutation_test(
        (second, first), lambda a, b: a.mean() - b.mean(), n_resamples=500, alternative="greater", rng=stream(1, "p")
    )
    assert permutation_p(theirs.statistic, theirs.null_distribution) == pytest.approx(theirs.pvalue)


def test_too_few_clusters_are_refused_where_scipy_goes_on() -> None:
    assert stats.bootstrap((values(3),), np.mean, n_resamples=100, rng=stream(1, "b")).confidence_interval.low > 0
    with pytest.raises(EstimateError, match="an interval needs 10 clusters"):
        cluster_mean(values(3), clusters=range(3), draws=100, rng=stream(1, "b"))
