"""The way back through a read: by hand, autograd, finite differences, masks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.gradient import read_gradients, weighted_sum_gradients
from onesentence.attention.read import read
from onesentence.attention.scorers import Additive
from onesentence.numerics import numerical_gradient, softmax

SHAPES = {
    "plain": ((2, 3), (4, 3), (4, 5)),
    "batch": ((2, 2, 3), (2, 4, 3), (2, 4, 5)),
    "shared keys": ((2, 2, 3), (4, 3), (4, 5)),
    "shared queries": ((2, 3), (3, 4, 3), (3, 4, 5)),
    "more values": ((2, 3), (4, 3), (6, 4, 5)),
    "heads": ((2, 1, 2, 3), (3, 4, 3), (2, 3, 4, 5)),
}


def drawn(shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("scale", [1.0, None, 0.3])
@pytest.mark.parametrize("masked", [False, True])
def test_read_gradients_equal_autograd(shapes, scale, masked):
    arrays = drawn(shapes)
    mask = np.array([[True, False, True, True], [False, False, True, False]]) if masked else None
    g = np.random.default_rng(1).normal(size=read(*arrays, mask=mask).context.shape)
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in arrays)
    e = q @ k.mT * (3**-0.5 if scale is None else scale)
    e.retain_grad()
    shown = e if mask is None else e.masked_fill(torch.from_numpy(~mask), -torch.inf)
    ((shown.softmax(-1) @ v) * torch.from_numpy(g)).sum().backward()
    of = read_gradients(*arrays, g, mask=mask, scale=scale)
    for ours, theirs in ((of.q, q), (of.k, k), (of.v, v), (of.scores, e)):
        np.testing.assert_allclose(ours, theirs.grad.numpy(), rtol=0, atol=1e-12)
    if mask is not None:
        assert not of.scores[..., ~mask].any()


def test_read_gradients_equal_finite_differences():
    arrays = drawn(SHAPES["plain"], seed=2)
    g = np.random.default_rng(3).normal(size=(2, 5))
    of = read_gradients(*arrays, g, scale=None)
    for i, name in enumerate("qkv"):

        def loss(x, i=i):
            moved = [*arrays[:i], x, *arrays[i + 1 :]]
            return float((read(*moved, scale=None).context * g).sum())

        np.testing.assert_allclose(getattr(of, name), numerical_gradient(loss, arrays[i]), rtol=0, atol=1e-8)


def test_weighted_sum_gradients_by_hand():
    de, dv = weighted_sum_gradients([[0.25, 0.75]], [[4.0, 0.0], [0.0, 0.0]], [[1.0, 5.0]])
    np.testing.assert_array_equal(de, [[0.25 * (4 - 1), 0.75 * (0 - 1)]])
    np.testing.assert_array_equal(dv, [[0.25, 1.25], [0.75, 3.75]])


def test_gradients_are_zero_where_nothing_may_be_read():
    q, k, v = drawn(SHAPES["plain"])
    mask = np.array([[False] * 4, [True, True, False, True]])
    g = np.ones((2, 5))
    of = read_gradients(q, k, v, g, mask=mask)
    assert not of.scores[0].any()
    assert not of.q[0].any()
    assert not of.k[2].any()
    assert not of.v[2].any()
    none = read_gradients(q, k, v, g, mask=False)
    for name in ("scores", "q", "k", "v"):
        assert np.isfinite(getattr(none, name)).all()
        assert not getattr(none, name).any()


def test_masked_values_do_not_matter():
    q, k, v = drawn(SHAPES["plain"])
    mask, g = np.array([True, False, True, True]), np.ones((2, 5))
    before = read_gradients(q, k, v, g, mask=mask)
    k[1], v[1] = 100.0, -7.0
    after = read_gradients(q, k, v, g, mask=mask)
    np.testing.assert_array_equal(before.q, after.q)
    np.testing.assert_array_equal(before.scores, after.scores)


@given(st.integers(0, 10**6), st.floats(0.1, 30))
def test_score_gradients_sum_to_zero_and_have_the_sign_of_the_advantage(seed, sharp):
    q, k, v = drawn(SHAPES["plain"], seed)
    g = np.random.default_rng([seed, 1]).normal(size=(2, 5))
    r = read(q, k, v, scale=sharp)
    of = read_gradients(q, k, v, g, scale=sharp)
    np.testing.assert_allclose(of.scores.sum(axis=-1), 0, atol=1e-12)
    advantage = np.array([[g[i] @ (v[j] - r.context[i]) for j in range(4)] for i in range(2)])
    clear = (np.abs(advantage) > 1e-6) & (r.weights > 1e-200)
    np.testing.assert_array_equal(np.sign(of.scores)[clear], np.sign(advantage)[clear])


def test_weighted_sum_gradients_serve_another_scorer():
    rng = np.random.default_rng(5)
    W, U, b, v_a = (rng.normal(size=shape) for shape in ((5, 3), (5, 3), (5,), (5,)))
    q, k, v = drawn(SHAPES["plain"])
    g = rng.normal(size=(2, 5))
    scorer = Additive(W=W, U=U, b=b, v=v_a)
    de, _ = weighted_sum_gradients(softmax(scorer.scores(q, k)), v, g)

    def loss(x):
        return float((softmax(scorer.scores(x, k)) @ v * g).sum())

    np.testing.assert_allclose(scorer.backward(q, k, de).q, numerical_gradient(loss, q), rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros(3)}, r"q must have shape \(..., T, D\), got \(3,\)"),
        ({"g": np.zeros((5, 2))}, r"g must have the shape of the context, \(2, 5\), got \(5, 2\)"),
        ({"g": np.full((2, 5), np.nan)}, "g must be finite"),
        ({"k": np.zeros((4, 2))}, r"k must have shape"),
    ],
)
def test_read_gradients_refuse(change, message):
    q, k, v = drawn(SHAPES["plain"])
    with pytest.raises(ValueError, match=message):
        read_gradients(**{"q": q, "k": k, "v": v, "g": np.zeros((2, 5)), **change})


@pytest.mark.parametrize(
    ("weights", "v", "error", "message"),
    [
        (np.zeros(4), np.zeros((4, 5)), ValueError, r"weights must have shape \(..., T, S\), got \(4,\)"),
        (np.zeros((2, 4)), np.zeros((3, 5)), ValueError, r"v must have shape \(..., 4, Dv\), got \(3, 5\)"),
        (np.zeros((2, 2, 4)), np.zeros((3, 4, 5)), ValueError, "leading axes must broadcast, got weights"),
        ([["a"]], np.zeros((1, 5)), TypeError, "weights must hold real numbers"),
    ],
)
def test_weighted_sum_gradients_refuse(weights, v, error, message):
    with pytest.raises(error, match=message):
        weighted_sum_gradients(weights, v, np.zeros((2, 5)))
