"""Annotated shapes and types hold at run time on a pass through maps, shams and similarities."""

import subprocess
import sys

PASS = """
import numpy as np
from jaxtyping import install_import_hook
names = ["assay.rows"]
names += [f"assay.align.{name}" for name in ("affine", "identity", "procrustes", "ridge", "cca", "maps")]
names += ["assay.controls.maps", "assay.controls.rows"]
names += [f"assay.diagnostics.{name}" for name in (
    "procrustes", "canonical", "svcca", "pwcca", "rsa", "neighbours", "dominance", "tensor_set", "weights",
    "sign_agreement", "barrier", "typology")]
with install_import_hook(names, "beartype.beartype"):
    from assay.align.maps import MAPS
    from assay.align.ridge import GroupedCrossValidation, fit_ridge
    from assay.controls.maps import fit_haar_sham, sham_of
    from assay.controls.rows import shuffled_values
    from assay.diagnostics import canonical, dominance, neighbours, procrustes, pwcca, rsa, svcca
    from assay.diagnostics import barrier, sign_agreement, tensor_set, typology, weights
rng = np.random.default_rng(0)
rows, other = rng.standard_normal((90, 9)), rng.standard_normal((90, 7)).astype(np.float32)
other = (other + rows[:, :7]).astype(np.float32)
for name, kind in MAPS.items():
    fitted = kind.fit(rows, rows if kind.family == "fixed" else other)
    fitted.apply(rows), fitted.linear(rows), sham_of(fitted, rng=rng).apply(rows)
fit_ridge(rows, other, penalty=GroupedCrossValidation(range(90)))
fit_haar_sham(rows, other, rng=rng).then(MAPS["procrustes"].fit(other, other).inverse())
for measure in (procrustes.procrustes_similarity, procrustes.procrustes_angle, procrustes.procrustes_distance,
                canonical.mean_cca, pwcca.pwcca, rsa.rsa, neighbours.mutual_neighbours):
    shuffled_values(measure, rows, other, draws=2, rng=rng, clusters=[i // 2 for i in range(90)])
svcca.svcca(rows, other, k=3), svcca.svcca_at_share(rows, other)
rsa.rsa(rows, other, distance="sqeuclidean", comparison="whitened_cosine"), rsa.item_distances(rows)
dominance.largest_share(other), dominance.effective_dimension(other), dominance.standardised_rows(other)
models = [{"a.weight": rng.standard_normal((4, 3)).astype(np.float32)} for _ in range(3)]
tensors = tensor_set.tensor_set(*models[:2], vocabulary="shared")
weights.compare_weights(*models[:2], tensors=tensors)
sign_agreement.sign_agreement(*models, tensors=tensors)
barrier.barriers(barrier.LossPath((0.0, 0.5, 1.0), (1.0, 2.0, 3.0)))
typology.typological_distance("eng", "cmn", kind="phonological"), typology.provenance()
try:
    procrustes.compact_rows(np.zeros((3, 3), dtype=complex))
except Exception as error:
    print(type(error).__name__)
"""


def test_a_pass_with_run_time_checks():
    """The last call gives complex rows, so the checks are on when their own error is printed."""
    done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("TypeCheckError\n", "")
