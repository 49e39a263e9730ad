"""Truncated SVD: by hand, scikit-learn, the best approximation, signs, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD

from onesentence.text.factors import truncated_svd


def some_matrix(seed, shape=(7, 5)):
    return np.random.default_rng(seed).normal(size=shape)


def test_truncated_svd_by_hand():
    factors = truncated_svd([[3.0, 0.0], [0.0, -2.0]], rank=2)
    assert factors.singular.tolist() == [3, 2]
    assert factors.vectors(1.0).tolist() == [[3, 0], [0, 2]]
    np.testing.assert_allclose(factors.vectors(0.5), np.diag(np.sqrt([3, 2])))
    assert factors.contexts(0.0).tolist() == [[3, 0], [0, -2]]


@pytest.mark.parametrize("rank", [1, 3, 4])
def test_truncated_svd_agrees_with_scikit_learn_up_to_sign(rank):
    matrix = some_matrix(1)
    other = TruncatedSVD(rank, algorithm="arpack", random_state=0).fit_transform(matrix)
    np.testing.assert_allclose(
        np.abs(truncated_svd(matrix, rank).vectors(1.0)), np.abs(other), rtol=1e-8, atol=1e-10
    )


def test_truncated_svd_agrees_with_the_eigenvalues_of_the_gram_matrix():
    matrix = some_matrix(2)
    factors = truncated_svd(matrix, 5)
    np.testing.assert_allclose(factors.singular**2, np.linalg.eigvalsh(matrix.T @ matrix)[::-1])
    np.testing.assert_allclose(factors.u.T @ factors.u, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(factors.v.T @ factors.v, np.eye(5), atol=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 5))
@settings(max_examples=30)
def test_truncated_svd_error_is_what_was_cut(seed, rank):
    matrix = some_matrix(seed)
    cut = np.linalg.svd(matrix, compute_uv=False)[rank:]
    error = np.linalg.norm(matrix - truncated_svd(matrix, rank).matrix())
    np.testing.assert_allclose(error, np.linalg.norm(cut), atol=1e-10)


@given(st.integers(0, 10_000), st.floats(0, 1))
@settings(max_examples=30)
def test_vectors_times_contexts_is_the_same_matrix_for_every_exponent(seed, exponent):
    factors = truncated_svd(some_matrix(seed), 3)
    product = factors.vectors(exponent) @ factors.contexts(exponent).T
    np.testing.assert_allclose(product, factors.matrix(), atol=1e-10)


def test_vectors_at_exponent_one_keep_the_dot_products_of_the_rows():
    factors = truncated_svd(some_matrix(3), 3)
    full, half = factors.vectors(1.0), factors.vectors(0.5)
    rows = factors.matrix()
    np.testing.assert_allclose(full @ full.T, rows @ rows.T, atol=1e-10)
    assert np.abs(half @ half.T - rows @ rows.T).max() > 0.1


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_truncated_svd_signs_do_not_depend_on_those_of_the_input(seed):
    matrix = some_matrix(seed)
    factors, mirrored = truncated_svd(matrix, 5), truncated_svd(-matrix, 5)
    largest = np.abs(factors.u).argmax(axis=0)
    assert (factors.u[largest, range(5)] > 0).all()
    np.testing.assert_allclose(mirrored.u, factors.u, atol=1e-9)
    np.testing.assert_allclose(mirrored.v, -factors.v, atol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "rank", "error", "message"),
    [
        ([[1, 2], [3, 4]], 3, ValueError, r"rank must lie in \[1, 2\] for shape \(2, 2\), got 3"),
        ([[1, 2], [3, 4]], 0, ValueError, "rank must be at least 1, got 0"),
        ([[1, 2], [3, 4]], 1.0, TypeError, "rank must be an integer, got 1.0"),
        ([1, 2], 1, ValueError, r"matrix must have two axes, got shape \(2,\)"),
        ([[1, -np.inf]], 1, ValueError, "PMI of a zero count is -inf, so factor PPMI"),
        ([["书"]], 1, TypeError, "matrix must hold real numbers"),
    ],
)
def test_truncated_svd_refuses(matrix, rank, error, message):
    with pytest.raises(error, match=message):
        truncated_svd(matrix, rank)


def test_vectors_refuses_an_exponent():
    factors = truncated_svd([[1.0]], 1)
    with pytest.raises(ValueError, match=r"exponent must lie in \[0, 1\], got 2"):
        factors.vectors(2)
    with pytest.raises(TypeError, match="exponent must be a number, got None"):
        factors.contexts(None)
