"""The expectation of negative sampling: finite differences, its free minimum, what low rank changes."""

import numpy as np
import pytest

from onesentence.numerics import numerical_gradient
from onesentence.text.cooccurrence import pmi
from onesentence.text.factors import truncated_svd
from onesentence.text.sgns_expectation import descend, expected_gradient, expected_loss

COUNTS = np.array([[40.0, 2.0, 1.0], [3.0, 9.0, 2.0], [1.0, 1.0, 6.0]])


def test_expected_loss_by_hand():
    log_two = np.log(2.0)
    np.testing.assert_allclose(expected_loss(np.zeros((3, 3)), COUNTS, 5), 6 * COUNTS.sum() * log_two)


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
    expected = numerical_gradient(lambda x: expected_loss(x, COUNTS, 2), scores)
    np.testing.assert_allclose(expected_gradient(scores, COUNTS, 2), expected, atol=1e-5)


@pytest.mark.parametrize("negatives", [0.5, 1, 5])
def test_expected_gradient_vanishes_at_shifted_pmi(negatives):
    best = pmi(COUNTS) - np.log(negatives)
    np.testing.assert_allclose(expected_gradient(best, COUNTS, negatives), 0, atol=1e-12)


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


def test_sgns_expectation_refuses():
    with pytest.raises(ValueError, match=r"scores must be finite and of the shape \(3, 3\) of counts"):
        expected_loss(np.zeros((2, 3)), COUNTS, 1)
    with pytest.raises(ValueError, match="negatives must be positive, got 0"):
        expected_gradient(np.zeros((3, 3)), COUNTS, 0)
    with pytest.raises(ValueError, match="vectors and contexts must be of one width"):
        descend(np.zeros((3, 2)), np.zeros((3, 1)), COUNTS, 1, learning_rate=1, steps=1)
    with pytest.raises(ValueError, match="learning_rate and steps must be positive"):
        descend(np.zeros((3, 1)), np.zeros((3, 1)), COUNTS, 1, learning_rate=0, steps=1)
