"""Scorers: values by hand, torch, finite differences; what each does with the query, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.inputs import sum_to
from onesentence.attention.read import dot_scores
from onesentence.attention.scorers import Additive, Dot, General, Linear
from onesentence.numerics import numerical_gradient, softmax

RNG = np.random.default_rng(0)
W, U, b, v = (RNG.normal(size=shape) for shape in ((5, 3), (5, 4), (5,), (5,)))
SCORERS = {
    "dot": Dot(3),
    "scaled": Dot(3, scale=None),
    "general": General(RNG.normal(size=(3, 4))),
    "additive": Additive(W=W, U=U, b=b, v=v),
    "linear": Linear(w_q=RNG.normal(size=3), w_k=RNG.normal(size=4), b=0.3),
}
LEADING = [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((), (2,)), ((2, 3), ())]


def inputs(name: str, of_q=(), of_k=(), seed=1):
    rng = np.random.default_rng(seed)
    width = 3 if name in ("dot", "scaled") else 4
    return rng.normal(size=(*of_q, 2, 3)), rng.normal(size=(*of_k, 6, width))


def in_torch(name, theta, q, k):
    """Return scores with the operations of torch."""
    if name in ("dot", "scaled"):
        return torch.einsum("...td,...sd->...ts", q, k) / (3**0.5 if name == "scaled" else 1)
    if name == "general":
        return torch.einsum("...td,dm,...sm->...ts", q, theta["W"], k)
    q, k = q[..., :, None, :], k[..., None, :, :]
    if name == "linear":
        return (q * theta["w_q"]).sum(-1) + (k * theta["w_k"]).sum(-1) + theta["b"]
    hidden = torch.tanh(
        torch.nn.functional.linear(q, theta["W"], theta["b"]) + torch.nn.functional.linear(k, theta["U"])
    )
    return torch.nn.functional.linear(hidden, theta["v"][None])[..., 0]


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize(("of_q", "of_k"), LEADING)
def test_scores_and_backward_equal_torch(name, of_q, of_k):
    scorer = SCORERS[name]
    arrays = inputs(name, of_q, of_k)
    q, k = (torch.from_numpy(x).requires_grad_() for x in arrays)
    theta = {n: torch.from_numpy(np.array(x)).requires_grad_() for n, x in scorer.parameters().items()}
    theirs = in_torch(name, theta, q, k)
    ours = scorer.scores(*arrays)
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=1e-12)
    de = np.random.default_rng(2).normal(size=ours.shape)
    (theirs * torch.from_numpy(de)).sum().backward()
    gradients = scorer.backward(*arrays, de)
    np.testing.assert_allclose(gradients.q, q.grad.numpy(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients.k, k.grad.numpy(), rtol=0, atol=1e-12)
    assert set(gradients.parameters) == set(theta)
    for parameter, value in theta.items():
        assert gradients.parameters[parameter].shape == value.shape
        np.testing.assert_allclose(gradients.parameters[parameter], value.grad.numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SCORERS)
def test_backward_equals_finite_differences(name):
    scorer = SCORERS[name]
    q, k = inputs(name, (2,), ())
    de = np.random.default_rng(3).normal(size=(2, 2, 6))

    def loss(scorer, q, k):
        return float((scorer.scores(q, k) * de).sum())

    gradients = scorer.backward(q, k, de)
    of_q = numerical_gradient(lambda x: loss(scorer, x, k), q)
    of_k = numerical_gradient(lambda x: loss(scorer, q, x), k)
    np.testing.assert_allclose(gradients.q, of_q, rtol=0, atol=1e-7)
    np.testing.assert_allclose(gradients.k, of_k, rtol=0, atol=1e-7)
    for parameter, value in scorer.parameters().items():

        def moved(x, parameter=parameter):
            return loss(type(scorer)(**{**scorer.parameters(), parameter: x}), q, k)

        numeric = numerical_gradient(moved, value)
        np.testing.assert_allclose(gradients.parameters[parameter], numeric, rtol=0, atol=1e-7)


def test_additive_scores_by_hand():
    scorer = Additive(W=[[1.0], [0.0]], U=[[0.0], [1.0]], b=[0.5, 0.0], v=[2.0, -1.0])
    e = scorer.scores([[1.0]], [[0.0], [3.0]])
    first = 2 * np.tanh(1.5)
    np.testing.assert_allclose(e, [[first, first - np.tanh(3.0)]], rtol=0, atol=1e-15)


def test_additive_is_concatenation_with_one_matrix():
    q, k = inputs("additive")
    pairs = np.concatenate(
        [*np.broadcast_arrays(q[:, None], k[None, :, :3]), k[None, :, 3:].repeat(2, 0)], -1
    )
    expected = np.tanh(pairs @ np.hstack([W, U]).T + b) @ v
    np.testing.assert_allclose(SCORERS["additive"].scores(q, k), expected, rtol=0, atol=1e-12)


def test_general_with_the_identity_is_the_dot_product():
    q, k = inputs("dot")
    np.testing.assert_array_equal(General(np.eye(3)).scores(q, k), Dot(3).scores(q, k))
    np.testing.assert_array_equal(Dot(3, None).scores(q, k), dot_scores(q, k, scale=None))


@given(st.integers(0, 10**6), st.floats(-50, 50))
def test_linear_weights_know_no_query_and_no_offset(seed, offset):
    rng = np.random.default_rng(seed)
    q, k = 10 * rng.normal(size=(5, 3)), rng.normal(size=(6, 4))
    w_q, w_k = rng.normal(size=3), rng.normal(size=4)
    weights = softmax(Linear(w_q, w_k, offset).scores(q, k))
    np.testing.assert_allclose(weights, np.tile(softmax(k @ w_k), (5, 1)), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", ["dot", "scaled", "general", "additive"])
def test_other_weights_know_the_query(name):
    q, k = inputs(name)
    one, other = softmax(SCORERS[name].scores(q, k))
    assert np.abs(one - other).max() > 0.05


def test_linear_gradient_of_the_query_vanishes_behind_a_softmax():
    q, k = inputs("linear")
    alpha = softmax(SCORERS["linear"].scores(q, k))
    up = np.random.default_rng(4).normal(size=alpha.shape)
    de = alpha * (up - (alpha * up).sum(-1, keepdims=True))
    gradients = SCORERS["linear"].backward(q, k, de)
    np.testing.assert_allclose(gradients.q, 0, atol=1e-15)
    np.testing.assert_allclose(gradients.parameters["w_q"], 0, atol=1e-15)
    assert np.abs(gradients.parameters["w_k"]).max() > 0.01


def test_additive_without_tanh_is_linear(monkeypatch):
    q, k = inputs("additive")
    linear = Linear(w_q=v @ W, w_k=v @ U, b=v @ b)
    monkeypatch.setattr(np, "tanh", lambda x: x)
    np.testing.assert_allclose(SCORERS["additive"].scores(q, k), linear.scores(q, k), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dot", 2 * 6 * 3), ("general", 2 * 12 + 48), ("additive", 2 * 15 + 6 * 20 + 60), ("linear", 6 + 24)],
)
def test_multiplications_by_hand(name, expected):
    assert SCORERS[name].multiplications(2, 6) == expected


def test_sum_to_is_the_transpose_of_broadcasting():
    rng = np.random.default_rng(5)
    for shape in ((3, 4), (1, 4), (3, 1), (4,), ()):
        x, g = rng.normal(size=shape), rng.normal(size=(2, 3, 4))
        assert sum_to(g, shape).shape == shape
        np.testing.assert_allclose((np.broadcast_to(x, g.shape) * g).sum(), (x * sum_to(g, shape)).sum())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Dot(0), ValueError, "width must be at least 1, got 0"),
        (lambda: Dot(2.0), TypeError, "width must be an integer, got 2.0"),
        (lambda: Dot(2, scale="x"), TypeError, "scale must be a number or None, got 'x'"),
        (lambda: Dot(2, scale=np.inf), ValueError, "scale must be finite"),
        (
            lambda: General(np.zeros(3)),
            ValueError,
            r"W must have 2 axes, none of them empty, got shape \(3,\)",
        ),
        (lambda: General([[np.nan]]), ValueError, "W must be finite"),
        (lambda: General([["a"]]), TypeError, "W must hold real numbers"),
        (lambda: Additive(W, U, b[:2], v), ValueError, "b must have 5 rows like W, got 2"),
        (lambda: Linear([1.0], [1.0], [0.0]), ValueError, "b must have 0 axes"),
    ],
)
def test_constructors_refuse(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("q", "k", "message"),
    [
        (np.zeros(3), np.zeros((6, 4)), r"q must have shape \(..., T, 3\), got \(3,\)"),
        (np.zeros((2, 4)), np.zeros((6, 4)), r"q must have shape \(..., T, 3\), got \(2, 4\)"),
        (np.zeros((2, 3)), np.zeros((6, 3)), r"k must have shape \(..., S, 4\), got \(6, 3\)"),
        (np.full((2, 3), np.nan), np.zeros((6, 4)), "q must be finite"),
        (np.zeros((2, 2, 3)), np.zeros((3, 6, 4)), r"leading axes must broadcast, got q \(2, 2, 3\), k"),
    ],
)
@pytest.mark.parametrize("name", ["general", "additive", "linear"])
def test_scores_refuse(name, q, k, message):
    with pytest.raises(ValueError, match=message):
        SCORERS[name].scores(q, k)


def test_scores_refuse_what_is_no_number():
    with pytest.raises(TypeError, match="k must hold real numbers"):
        SCORERS["general"].scores(np.zeros((2, 3)), [["a"] * 4])


@pytest.mark.parametrize("name", SCORERS)
def test_backward_refuses(name):
    q, k = inputs(name)
    with pytest.raises(ValueError, match=r"de must have the shape of the scores, \(2, 6\), got \(6, 2\)"):
        SCORERS[name].backward(q, k, np.zeros((6, 2)))
    with pytest.raises(ValueError, match="de must be finite"):
        SCORERS[name].backward(q, k, np.full((2, 6), np.inf))
