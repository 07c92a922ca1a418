"""Annotated shapes and types hold at run time on a pass through the numeric modules."""

import subprocess
import sys

PASS = """
import numpy as np, torch
from jaxtyping import install_import_hook
names = ["assay.stats.bootstrap", "assay.stats.permutation", "assay.models.pooling"]
names += [f"assay.diagnostics.{name}" for name in ("gram", "cka_interval", "cka", "retrieval_maps", "retrieval")]
with install_import_hook(names, "beartype.beartype"):
    import assay.diagnostics.cka as cka
    import assay.diagnostics.retrieval as found
    import assay.stats.bootstrap as bootstrap
    import assay.stats.permutation as permutation
    import assay.models.pooling as pooling
rng = np.random.default_rng(0)
rows, other = rng.standard_normal((60, 9)), rng.standard_normal((60, 7)).astype(np.float32)
clusters = [f"page {i // 2}" for i in range(60)]
one, two = cka.gram(rows), cka.gram(other, storage="float32")
cka.linear_cka(one, two), cka.unbiased_cka(one, two), cka.shuffled_expectation(one, two)
permutation.permutation_p(cka.unbiased_cka(one, two), cka.shuffled_cka(one, two, draws=9, rng=rng, clusters=clusters))
cka.cka_interval(one, two, clusters=clusters, draws=100, rng=rng)
cka.cka_draws(one, two, clusters=clusters, draws=100, rng=rng)
cka.layer_grid([one, one], [two])
split = found.retrieval_split(clusters, rng=rng)
views = [found.retrieval_view(each, split) for each in (rows, other)]
for kind in ("ridge", "procrustes"):
    found.shuffled_retrieval(*views, rng=rng, map_kind=kind)
    found.retrieval(*views, map_kind=kind).csls.interval(draws=100, rng=rng)
ones = np.ones(60)
bootstrap.cluster_ratio(np.arange(60), ones, clusters=clusters, draws=100, rng=rng)
bootstrap.paired_ratio_difference((ones, ones), (ones, ones), clusters=clusters, draws=100, rng=rng)
bootstrap.paired_difference(ones, np.arange(60), clusters=clusters, draws=100, rng=rng)
pooling.position_weighted_mean(torch.zeros(2, 3, 4), torch.ones(2, 3, dtype=torch.long))
pooling.position_weighted_mean(torch.zeros(2, 3, 4), torch.ones(2, 3, dtype=torch.bool))
try:
    cka.gram(np.zeros((3, 3), dtype=complex))
except Exception as error:
    print(type(error).__name__)
"""


def test_a_pass_with_run_time_checks():
    """The last call gives complex rows, so the checks are on when their own error is printed."""
    done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("TypeCheckError\n", "")
