"""The expectation of negative sampling: finite differences, its free minimum, what low rank changes."""

import numpy as np
import pytest
import scipy.optimize

from onesentence.embed.sgns_expectation import (
    cell_optimum,
    descend,
    expected_gradient,
    expected_loss,
    fit_tables,
)
from onesentence.numerics import numerical_gradient
from onesentence.text.cooccurrence import pmi
from onesentence.text.factors import truncated_svd

COUNTS = np.array([[40.0, 2.0, 1.0], [3.0, 9.0, 2.0], [1.0, 1.0, 6.0]])
NOISE = np.array([0.5, 0.3, 0.2])


def test_expected_loss_by_hand():
    log_two = np.log(2.0)
    np.testing.assert_allclose(expected_loss(np.zeros((3, 3)), COUNTS, 5), 6 * COUNTS.sum() * log_two)
    np.testing.assert_allclose(expected_loss(np.zeros((3, 3)), COUNTS / COUNTS.sum(), 5), 6 * log_two)


def test_expected_loss_is_what_drawing_negatives_gives_on_average():
    scores = np.random.default_rng(0).normal(size=(3, 3))
    share = COUNTS.sum(axis=0) / COUNTS.sum()
    total = 0.0
    for i, j in np.ndindex(3, 3):
        per_pair = -np.log(1 / (1 + np.exp(-scores[i, j])))
        negatives = sum(share[n] * -np.log(1 / (1 + np.exp(scores[i, n]))) for n in range(3))
        total += COUNTS[i, j] * (per_pair + 4 * negatives)
    np.testing.assert_allclose(expected_loss(scores, COUNTS, 4), total)


def test_expected_gradient_agrees_with_finite_differences():
    scores = np.random.default_rng(1).normal(size=(3, 3))
    for noise in (None, NOISE):
        expected = numerical_gradient(lambda x, q=noise: expected_loss(x, COUNTS, 2, q), scores)
        np.testing.assert_allclose(expected_gradient(scores, COUNTS, 2, noise), expected, atol=1e-5)


@pytest.mark.parametrize("negatives", [0.5, 1, 5])
def test_cell_optimum_is_shifted_pmi_and_the_gradient_vanishes_there(negatives):
    best = cell_optimum(COUNTS, negatives)
    np.testing.assert_allclose(best, pmi(COUNTS) - np.log(negatives), atol=1e-12)
    np.testing.assert_allclose(expected_gradient(best, COUNTS, negatives), 0, atol=1e-12)


def test_cell_optimum_uses_the_noise():
    expected = np.log(COUNTS / (COUNTS.sum(axis=1, keepdims=True) * NOISE)) - np.log(2)
    best = cell_optimum(COUNTS, 2, NOISE)
    np.testing.assert_allclose(best, expected, atol=1e-12)
    np.testing.assert_allclose(expected_gradient(best, COUNTS, 2, NOISE), 0, atol=1e-12)


def test_cell_optimum_is_what_scipy_finds():
    found = scipy.optimize.minimize(
        lambda x: expected_loss(x.reshape(3, 3), COUNTS, 2) / COUNTS.sum(), np.zeros(9), tol=1e-12
    )
    np.testing.assert_allclose(found.x.reshape(3, 3), cell_optimum(COUNTS, 2), atol=1e-3)


def test_expected_gradient_pushes_a_pair_that_never_met_down_for_ever():
    counts = [[3.0, 0.0], [1.0, 2.0]]
    for score in (0.0, -5.0, -15.0):
        assert expected_gradient([[0.0, score], [0.0, 0.0]], counts, 1)[0, 1] > 0


def test_descend_reaches_the_free_minimum_at_full_width():
    factors = truncated_svd(pmi(COUNTS), 3)
    w, c = descend(factors.vectors(0.5), factors.contexts(0.5), COUNTS, 2, learning_rate=0.5, steps=3000)
    np.testing.assert_allclose(w @ c.T, pmi(COUNTS) - np.log(2), atol=1e-3)


def test_descend_finds_better_than_the_svd_at_low_rank():
    target = pmi(COUNTS) - np.log(2)
    factors = truncated_svd(target, 1)
    w, c = descend(factors.vectors(0.5), factors.contexts(0.5), COUNTS, 2, learning_rate=0.2, steps=500)
    free, low, svd = (expected_loss(x, COUNTS, 2) for x in (target, w @ c.T, factors.matrix()))
    assert free < low < svd


def test_fit_tables_of_full_width_reach_the_optimum_and_narrow_ones_do_not():
    best = cell_optimum(COUNTS, 2)
    wide, narrow = (w @ c.T for w, c in (fit_tables(COUNTS, d, 2, np.random.default_rng(0)) for d in (3, 1)))
    assert np.abs(wide - best).max() < 1e-3
    assert np.abs(narrow - best).max() > 0.1
    assert expected_loss(narrow, COUNTS, 2) > expected_loss(wide, COUNTS, 2) + 0.05


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cell_optimum([[0, 1], [1, 1]], 1), ValueError, "an empty cell has no optimum"),
        (lambda: fit_tables([[0, 1], [1, 1]], 1, 1, np.random.default_rng(0)), ValueError, "an empty cell"),
        (lambda: cell_optimum(COUNTS, 0), ValueError, "negatives must be positive, got 0"),
        (lambda: cell_optimum(COUNTS, 1, [1.0]), ValueError, "noise must be a vector of 3"),
        (lambda: expected_loss(COUNTS, COUNTS, 1, [1, 0, 0]), ValueError, "noise must be a vector of 3"),
        (lambda: fit_tables(COUNTS, 0, 1, np.random.default_rng(0)), ValueError, "width and steps must be"),
        (lambda: fit_tables(COUNTS, 1, 1, 0), TypeError, "rng must be a numpy Generator, got int"),
    ],
)
def test_optimum_and_fit_tables_refuse_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sgns_expectation_refuses():
    with pytest.raises(ValueError, match=r"scores must be finite and of the shape \(3, 3\) of counts"):
        expected_loss(np.zeros((2, 3)), COUNTS, 1)
    with pytest.raises(ValueError, match="negatives must be positive, got 0"):
        expected_gradient(np.zeros((3, 3)), COUNTS, 0)
    with pytest.raises(ValueError, match="vectors and contexts must be of one width"):
        descend(np.zeros((3, 2)), np.zeros((3, 1)), COUNTS, 1, learning_rate=1, steps=1)
    with pytest.raises(ValueError, match="learning_rate and steps must be positive"):
        descend(np.zeros((3, 1)), np.zeros((3, 1)), COUNTS, 1, learning_rate=0, steps=1)
