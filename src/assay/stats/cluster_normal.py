"""Normal-theory interval of a mean with cluster-robust error: the cross-check of a cluster bootstrap.

With many clusters both agree. Where their widths differ by more than a fifth, one of them is not to be trusted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from scipy.stats import norm
from statsmodels.regression.linear_model import OLS

from assay.errors import EstimateError
from assay.stats.bootstrap import LEVEL, Numbers, cluster_codes, cluster_flag
from assay.stats.estimate import Estimate

WIDTH_TOLERANCE = 0.20
"""Share by which a bootstrap interval may be wider or narrower before it is said."""


def cluster_normal(values: Numbers, *, clusters: Sequence[Hashable], level: float = LEVEL) -> Estimate:
    """Mean over items, +- z times the cluster-robust standard error of statsmodels (small-sample factor included).

    With residuals e and cluster sums: variance = G / (G - 1) sum_g (sum_{i in g} e_i)^2 / n^2.

    Raises:
        EstimateError: values that are not finite, not one an item; fewer than 10 clusters; a level outside (0, 1).

    Source: Liang and Zeger 1986 (doi 10.1093/biomet/73.1.13); for evaluations Miller 2024 (arXiv 2411.00640).
    """
    items = np.asarray(values, dtype=np.float64)
    if items.shape != (len(clusters),) or not np.isfinite(items).all():
        raise EstimateError(
            f"cluster_normal: values of shape {items.shape}, {int((~np.isfinite(items)).sum())} not finite, "
            f"{len(clusters)} cluster names; one finite value and one name an item."
        )
    if not 0 < level < 1:
        raise EstimateError(f"cluster_normal: level {level}; it lies between 0 and 1, for example 0.95.")
    codes = cluster_codes(clusters, len(clusters))
    fit = OLS(items, np.ones(items.size)).fit(cov_type="cluster", cov_kwds={"groups": codes.of_item})
    half = float(norm.ppf((1 + level) / 2) * fit.bse[0])
    value = float(items.mean())
    return Estimate(value, value - half, value + half, items.size, cluster_flag(codes.n_clusters))


def width_alarm(bootstrap: Estimate, normal: Estimate) -> str:
    """Why the two intervals of one level do not agree in width; empty if they agree within a fifth.

    Raises:
        EstimateError: an interval that is not known, or a normal one without width.
    """
    widths = [one.high - one.low for one in (bootstrap, normal)]
    if not (bootstrap.known and normal.known and widths[1] > 0):
        raise EstimateError(f"width_alarm: widths {widths[0]:g} and {widths[1]:g}; two known intervals with a width.")
    ratio = widths[0] / widths[1]
    if abs(ratio - 1) <= WIDTH_TOLERANCE:
        return ""
    return f"the bootstrap interval is {ratio:.2f} times as wide as the normal one"
