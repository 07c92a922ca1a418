"""The identity needs equal widths and centres nothing."""

import numpy as np
import pytest

from assay.align.identity import fit_identity
from assay.errors import ShapeError


def test_rows_come_out_as_they_went_in():
    rows = np.random.default_rng(0).standard_normal((6, 3)) + 9
    np.testing.assert_array_equal(fit_identity(rows, -rows).apply(rows), rows)


def test_other_widths_are_refused():
    with pytest.raises(ShapeError, match="donor width 4, recipient width 3"):
        fit_identity(np.eye(4), np.eye(4)[:, :3])
