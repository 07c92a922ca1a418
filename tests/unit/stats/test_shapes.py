"""Annotated shapes and types hold at run time on a pass through the statistics."""

import subprocess
import sys

PASS = """
import numpy as np
from jaxtyping import install_import_hook
names = ["bca", "arrangements", "correlation", "multiplicity"]
names += ["equivalence", "proportion", "sign_flip", "cluster_normal"]
with install_import_hook([f"assay.stats.{name}" for name in names], "beartype.beartype"):
    from assay.stats import arrangements, bca, cluster_normal, correlation, equivalence
    from assay.stats import multiplicity, proportion, sign_flip
rng = np.random.default_rng(0)
values, whole, clusters = rng.standard_normal(60), np.arange(60), [f"page {i // 2}" for i in range(60)]
options = {"clusters": clusters, "draws": 100, "rng": rng}
bca.bca_mean(whole, estimand="cluster-weighted", **options)
bca.bca_ratio(values, whole + 1, **options)
bca.bca_paired_difference(values, whole, estimand="item-weighted", **options)
items = arrangements.item_arrangements(60, draws=99, rng=rng)
labels = arrangements.label_arrangements(4, draws=99, rng=rng)
arrangements.crossed_arrangements(3, 2, draws=99, rng=rng)
correlation.spearman(values, whole, arrangements=items)
correlation.partial_spearman(values, whole, given=values[:, None] ** 2, arrangements=items, alternative="less")
columns = correlation.pair_entries(rng.standard_normal((3, 4, 4)))
correlation.spearman_table(columns, columns[:, :2], arrangements=labels)
correlation.partial_spearman_table(columns, columns[:, :2], given=columns[:, :1], arrangements=labels)
multiplicity.holm(np.array([0.1, np.nan]), planned=3).rejected(0.05)
multiplicity.benjamini_hochberg(np.array([0.1, np.nan]), planned=3)
equivalence.bootstrap_tost(values, margin=0.1)
equivalence.paired_tost(values, whole, margin=0.1)
proportion.sign_test(whole)
sign_flip.sign_flip_p(values, **options)
cluster_normal.cluster_normal(whole, clusters=clusters)
try:
    multiplicity.holm(np.array([1 + 2j]), planned=1)
except Exception as error:
    print(type(error).__name__)
"""


def test_the_numeric_modules_keep_their_annotations():
    done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "TypeCheckError\n"
