"""Negative sampling as shifted PMI: the optimum of a cell, wide and narrow tables, refusals."""

import numpy as np
import pytest
import scipy.optimize

from onesentence.embed.shifted_pmi import cell_optimum, expected_loss, fit_tables
from onesentence.numerics import numerical_gradient

COUNTS = np.array([[8.0, 2, 4], [2, 6, 1], [4, 1, 2]])


def test_cell_optimum_is_pmi_minus_log_k():
    p = COUNTS / COUNTS.sum()
    pmi = np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))
    np.testing.assert_allclose(cell_optimum(COUNTS, 5), pmi - np.log(5), atol=1e-12)


def test_cell_optimum_uses_the_noise():
    noise = np.array([0.5, 0.3, 0.2])
    expected = np.log(COUNTS / (COUNTS.sum(axis=1, keepdims=True) * noise)) - np.log(2)
    np.testing.assert_allclose(cell_optimum(COUNTS, 2, noise), expected, atol=1e-12)


def test_cell_optimum_minimises_the_expected_loss():
    best = cell_optimum(COUNTS, 2)
    gradient = numerical_gradient(lambda x: expected_loss(x, COUNTS, 2), best)
    np.testing.assert_allclose(gradient, 0, atol=1e-8)
    found = scipy.optimize.minimize(
        lambda x: expected_loss(x.reshape(3, 3), COUNTS, 2), np.zeros(9), tol=1e-12
    )
    np.testing.assert_allclose(found.x.reshape(3, 3), best, atol=1e-3)


def test_fit_tables_of_full_width_reach_it_and_narrow_ones_do_not():
    best = cell_optimum(COUNTS, 2)
    wide, narrow = (v @ u.T for v, u in (fit_tables(COUNTS, d, 2, np.random.default_rng(0)) for d in (3, 1)))
    assert np.abs(wide - best).max() < 1e-3
    assert np.abs(narrow - best).max() > 0.1
    assert expected_loss(narrow, COUNTS, 2) > expected_loss(wide, COUNTS, 2) + 1e-3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cell_optimum([[0, 1], [1, 1]], 1), ValueError, "an empty cell has no optimum"),
        (lambda: cell_optimum(COUNTS, 0), ValueError, "negatives must be at least 1, got 0"),
        (lambda: cell_optimum(COUNTS, 1.5), TypeError, r"negatives must be an integer, got 1\.5"),
        (lambda: cell_optimum(COUNTS, 1, [1.0]), ValueError, "noise must be a vector of 3"),
        (lambda: expected_loss([[0.0]], COUNTS, 1), ValueError, r"scores must have the shape \(3, 3\)"),
        (lambda: fit_tables(COUNTS, 0, 1, np.random.default_rng(0)), ValueError, "width and steps must be"),
        (lambda: fit_tables(COUNTS, 1, 1, 0), TypeError, "rng must be a numpy Generator, got int"),
    ],
)
def test_shifted_pmi_refuses_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
