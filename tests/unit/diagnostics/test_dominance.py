"""One large column: what it does to a similarity, and the numbers that show it."""

import numpy as np
import pytest

from assay.diagnostics.cka import gram, linear_cka
from assay.diagnostics.dominance import effective_dimension, largest_share, standardised_rows


def test_shares_and_dimensions_by_hand():
    rows = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 3)))[0]
    rows = np.linalg.qr(rows - rows.mean(axis=0))[0] * np.sqrt([6.0, 3, 1])
    assert largest_share(rows) == pytest.approx(0.6)
    assert effective_dimension(rows) == pytest.approx(100 / 46)
    assert effective_dimension(np.random.default_rng(1).standard_normal((4000, 5))) == pytest.approx(5, abs=0.05)


def test_one_column_moves_cka_and_standardising_undoes_it():
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((80, 12)) * np.linspace(0.5, 2, 12)
    recipient = donor @ rng.standard_normal((12, 20)) / 3 + rng.standard_normal((80, 20))
    spoilt = recipient.copy()
    spoilt[:, 3] *= 100
    value = linear_cka(gram(donor), gram(recipient))
    assert linear_cka(gram(donor), gram(spoilt)) < value / 2
    assert largest_share(spoilt) > 0.99 > 3 * largest_share(recipient) / 2
    standard = [linear_cka(gram(donor), gram(standardised_rows(side))) for side in (recipient, spoilt)]
    assert standard[1] == pytest.approx(standard[0])


def test_constant_columns_stay_zero():
    rows = np.column_stack([np.arange(5.0), np.full(5, 0.1)])
    found = standardised_rows(rows)
    assert found.std(axis=0).tolist() == pytest.approx([1, 0])
    assert not found[:, 1].any()
