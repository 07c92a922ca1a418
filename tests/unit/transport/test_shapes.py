"""Annotated shapes and types hold at run time on a pass through transport, its shams and a transported merge."""

import subprocess
import sys

PASS = """
import numpy as np, torch
from jaxtyping import install_import_hook
parts = "problem bounds coupling plan kernel newton thinning sinkhorn exact probe_rows cost layers".split()
names = [f"assay.transport.{part}" for part in parts] + ["assay.controls.plans"]
names += [f"assay.merge.{part}" for part in ("selection", "carrying", "transported")]
with install_import_hook(names, "beartype.beartype"):
    from assay.controls.plans import PLAN_CONTROLS
    from assay.merge.selection import select
    from assay.merge.transported import Donor, Fusion, Interfaces, Linear, transported_block
    from assay.transport.cost import correlation_cost
    from assay.transport.exact import exact_plan, log_domain_plan
    from assay.transport.layers import donor_shares, effective_layers, layer_costs, layer_plan
    from assay.transport.probe_rows import ProbeRows, aligned_rows
    from assay.transport.sinkhorn import entropic_plan
rng = np.random.default_rng(0)
ids = tuple(map(str, range(50)))
left, right = (ProbeRows(ids, rng.standard_normal((50, width))) for width in (8, 6))
both = aligned_rows(left, right, min_rows=9)
for storage in ("float32", "float64"):
    cost = correlation_cost(both.recipient, both.donor, storage=storage).matrix
    plans = [entropic_plan(cost, epsilon=0.01), log_domain_plan(cost, epsilon=0.05), exact_plan(cost)]
    coupling = plans[0].checked()
    coupling.barycentric().coupling(coupling.row_marginal)
    coupling.reversed.barycentric().applied(np.ones(8))
layers = layer_plan(layer_costs([plans[:2], plans[:2]]), eta=0.1, normalise="none").checked()
donor_shares(effective_layers(layers, layers), n_donor_layers=1)
sides = Interfaces(*[coupling] * 5)
own, other = ({"up": Linear(torch.randn(n, n), torch.randn(n))} for n in (8, 6))
fusion = Fusion(0.1, "convex", "function", {"up": select(np.arange(8.0), k=3, side="out")})
for name, control in PLAN_CONTROLS.items():
    control.rows(both.donor, rng=rng)
    if name != "identity":
        transported_block(own, [Donor(other, sides, 1.0)], fusion=fusion, control=control, rng=rng)
try:
    correlation_cost(both.recipient, np.zeros((50, 6), dtype=complex))
except Exception as error:
    print(type(error).__name__)
"""


def test_a_pass_with_run_time_checks():
    """The last call gives complex rows, so the checks are on when their own error is printed."""
    done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("TypeCheckError\n", "")
