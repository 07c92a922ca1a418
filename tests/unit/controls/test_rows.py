"""Shuffled pairings: a null below the matched value."""

import numpy as np
import pytest

from assay.controls.rows import shuffled_values
from assay.diagnostics.procrustes import compact_rows, procrustes_similarity
from assay.errors import EstimateError, ShapeError
from assay.seeds import stream


def test_matched_rows_lie_above_their_shuffles_and_the_compact_form_gives_the_same():
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((40, 90))
    recipient = donor @ rng.standard_normal((90, 70)) / 9 + rng.standard_normal((40, 70))
    shuffled = shuffled_values(procrustes_similarity, donor, recipient, draws=20, rng=stream(0, "sham"))
    compact = shuffled_values(
        procrustes_similarity, compact_rows(donor), compact_rows(recipient), draws=20, rng=stream(0, "sham")
    )
    np.testing.assert_allclose(shuffled, compact, atol=1e-12)
    assert procrustes_similarity(donor, recipient) > shuffled.max() > 0.5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: shuffled_values(procrustes_similarity, r, r[:2], draws=1, rng=stream(0, "x")), ShapeError, "2 rec"),
        (lambda r: shuffled_values(procrustes_similarity, r, r, draws=0, rng=stream(0, "x")), EstimateError, "0 draws"),
    ],
)
def test_unusable_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(np.eye(3))
