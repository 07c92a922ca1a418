"""Ridge equals its formula in both forms, and chooses its penalty on whole groups."""

import numpy as np
import pytest

from assay.align.ridge import PENALTIES, GroupedCrossValidation, choose_penalty, fit_ridge
from assay.errors import EstimateError


def problem(n=60, p=8, q=6, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) + 2
    return donor, donor @ rng.standard_normal((p, q)) + noise * rng.standard_normal((n, q)) - 4


def textbook(donor, recipient, penalty):
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    width = X.shape[1]
    return np.linalg.solve(X.T @ X + penalty * np.trace(X.T @ X) / width * np.eye(width), X.T @ Y)


@pytest.mark.parametrize("width", [8, 200])
@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 1.0])
def test_the_formula(width, penalty):
    donor, recipient = problem(p=width)
    fitted = fit_ridge(donor, recipient, penalty=penalty)
    np.testing.assert_allclose(fitted.matrix, textbook(donor, recipient, penalty), atol=1e-8)
    assert (fitted.fit.penalty, fitted.fit.n_rows, fitted.fit.rank) == (penalty, 60, 6)


@pytest.mark.parametrize("width", [8, 200])
def test_no_penalty_is_the_pseudo_inverse(width):
    donor, recipient = problem(p=width)
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    np.testing.assert_allclose(
        fit_ridge(donor, recipient, penalty=0.0).matrix, np.linalg.pinv(X, rcond=1e-12) @ Y, atol=1e-9
    )


def test_one_direction_shrinks_as_the_formula_says():
    rng = np.random.default_rng(0)
    donor = np.linalg.qr(rng.standard_normal((50, 4)) - 0)[0]
    donor -= donor.mean(axis=0)
    fitted = fit_ridge(donor, donor, penalty=0.5)
    values = np.linalg.svd(donor, compute_uv=False) ** 2
    shrunk = values / (values + 0.5 * values.sum() / 4)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(fitted.matrix)), np.sort(shrunk))


def test_folds_hold_whole_groups_and_the_least_error_wins():
    donor, recipient = problem(n=90, p=30, noise=4.0)
    groups = [f"sequence {i // 6}" for i in range(90)]
    choice = choose_penalty(donor, recipient, how=GroupedCrossValidation(groups))
    errors = []
    for penalty in PENALTIES:
        total = 0.0
        for fold in range(5):
            held = np.array([(i // 6) % 5 == fold for i in range(90)])
            matrix = textbook(donor[~held], recipient[~held], penalty)
            seen = donor[held] - donor[~held].mean(axis=0)
            total += ((seen @ matrix + recipient[~held].mean(axis=0) - recipient[held]) ** 2).sum()
        errors.append(total)
    assert choice.errors == pytest.approx(tuple(errors))
    assert choice.penalty == PENALTIES[int(np.argmin(errors))]
    fitted = fit_ridge(donor, recipient, penalty=GroupedCrossValidation(groups))
    assert fitted.fit.penalty == choice.penalty
    np.testing.assert_allclose(fitted.matrix, textbook(donor, recipient, choice.penalty), atol=1e-9)


def test_single_rows_as_folds_would_be_fooled_by_copies():
    """Rows repeated within a group: folds of rows see the answer and take the least penalty, folds of groups do not."""
    rng = np.random.default_rng(0)
    donor = np.repeat(rng.standard_normal((20, 15)), 5, axis=0) + 1e-6 * rng.standard_normal((100, 15))
    recipient = np.repeat(rng.standard_normal((20, 6)), 5, axis=0)
    by_row = choose_penalty(donor, recipient, how=GroupedCrossValidation(range(100)))
    by_group = choose_penalty(donor, recipient, how=GroupedCrossValidation([i // 5 for i in range(100)]))
    assert by_row.penalty < by_group.penalty == 1.0
    assert by_group.note == "the penalty 1 is at the end of its grid"


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (-1.0, "penalty -1"),
        (float("nan"), "penalty nan"),
        (GroupedCrossValidation(range(4)), "4 cluster names for 60 items"),
        (GroupedCrossValidation([i % 4 for i in range(60)]), "4 groups for 5 folds"),
        (GroupedCrossValidation(range(60), folds=1), "60 groups for 1 folds"),
        (GroupedCrossValidation(range(60), penalties=()), "no penalties"),
        (GroupedCrossValidation(range(60), penalties=(1.0, -1.0)), "penalty -1"),
    ],
)
def test_unusable_choices_are_refused(penalty, message):
    with pytest.raises(EstimateError, match=message):
        fit_ridge(*problem(), penalty=penalty)
