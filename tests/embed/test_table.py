"""The table of vectors: products done by hand, PyTorch's gradients, changed axes, refusals."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.embed.table import accumulate_gradient, change_axes, lookup, mean_vector, one_hot

E = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
IDS = [2, 0, 2, 2]


def test_one_hot_different_words_have_dot_product_zero():
    vectors = one_hot(range(5), 5)
    np.testing.assert_array_equal(vectors @ vectors.T, np.eye(5))


@given(st.lists(st.integers(0, 6), max_size=8), st.integers(0, 99))
def test_lookup_equals_the_product(ids, seed):
    table = np.random.default_rng(seed).normal(size=(7, 3))
    np.testing.assert_array_equal(lookup(table, ids), one_hot(ids, 7) @ table)


def test_lookup_returns_a_copy():
    looked_up = lookup(E, [2])
    looked_up += 5
    np.testing.assert_array_equal(E[2], [1, 1])


def test_accumulate_gradient_values_by_hand():
    g = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    total = accumulate_gradient(IDS, g, 3)
    np.testing.assert_array_equal(total, [[3, 4], [0, 0], [13, 16]])
    overwritten = np.zeros((3, 2))
    overwritten[IDS] = g  # the mistake: the last occurrence wins
    assert not np.allclose(overwritten, total)
    np.testing.assert_array_equal(total, one_hot(IDS, 3).T @ g)


def test_accumulate_gradient_equals_torch():
    g = np.random.default_rng(0).normal(size=(2, 4, 2))
    ids = np.array([IDS, [1, 2, 0, 0]])
    table = torch.tensor(E, requires_grad=True)
    looked_up = torch.nn.functional.embedding(torch.tensor(ids), table)
    (looked_up * torch.tensor(g)).sum().backward()
    np.testing.assert_allclose(accumulate_gradient(ids, g, 3), table.grad.numpy(), atol=1e-12)


def test_change_axes_leaves_the_output():
    rng = np.random.default_rng(1)
    table, w, a = rng.normal(size=(5, 3)), rng.normal(size=(3, 4)), rng.normal(size=(3, 3))
    other, reader = change_axes(table, w, a)
    np.testing.assert_allclose(other @ reader, table @ w, atol=1e-12)
    assert not np.allclose(other, table)
    assert not np.allclose(other @ w, table @ w)


@given(st.permutations([0, 1, 1, 2, 2, 2, 3]))
def test_mean_vector_has_no_order(ids):
    table = np.random.default_rng(3).normal(size=(4, 3))
    np.testing.assert_array_equal(mean_vector(table, ids), mean_vector(table, sorted(ids)))
    np.testing.assert_allclose(mean_vector(table, ids), table[ids].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lookup(E, [3]), ValueError, r"ids must lie in \[0, 3\), got 3"),
        (lambda: lookup(E, [-1]), ValueError, r"ids must lie in \[0, 3\), got -1"),
        (lambda: lookup(E, [0.5]), TypeError, "ids must hold integers, got dtype float64"),
        (lambda: lookup(E, [True]), TypeError, "ids must hold integers, got dtype bool"),
        (lambda: lookup([1.0], [0]), ValueError, "table must be a matrix"),
        (lambda: lookup([[np.nan]], [0]), ValueError, "table must be finite"),
        (lambda: accumulate_gradient(IDS, E, 3), ValueError, r"gradients must have shape \(4,\) \+ \(d,\)"),
        (lambda: change_axes(E, [[1.0]], np.eye(2)), ValueError, r"downstream must have shape \(2, m\)"),
        (lambda: change_axes(E, np.eye(2), np.eye(3)), ValueError, r"matrix must have shape \(2, 2\)"),
        (lambda: change_axes(E, np.eye(2), np.ones((2, 2))), ValueError, "matrix must be invertible"),
        (lambda: mean_vector(E, np.empty(0, int)), ValueError, r"ids must have shape \(T,\) with T >= 1"),
    ],
)
def test_table_refuses_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
