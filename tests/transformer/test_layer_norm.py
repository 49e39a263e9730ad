"""LayerNorm in NumPy and the one that trains: by hand, against PyTorch and autograd, by differences, by its laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from onesentence.numerics import numerical_gradient
from onesentence.transformer.layer_norm import layer_norm, layer_norm_gradients
from onesentence.transformer.norms import LayerNorm

RNG = np.random.default_rng(7)
GAMMA, BETA = RNG.normal(size=(2, 5))
X, UPSTREAM = RNG.normal(size=(2, 3, 4, 5))
rows = arrays(np.float64, (2, 4), elements=st.floats(-10, 10))


def close(actual: Any, expected: Any, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=atol)


def test_layer_norm_by_hand() -> None:
    # mean 2, deviations -2, 0, 2, variance 8/3: dividing by n - 1 would give 4, eps outside the root another number
    divisor = math.sqrt(8 / 3 + 0.1)
    close(layer_norm([0.0, 2.0, 4.0], eps=0.1), [-2 / divisor, 0, 2 / divisor])
    close(layer_norm([0, 2, 4], [1, 2, 3], [5, 6, 7], eps=0.1), [5 - 2 / divisor, 6, 7 + 6 / divisor])


@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm_equals_torch(eps: float) -> None:
    expected = torch.nn.functional.layer_norm(
        torch.from_numpy(X), (5,), torch.from_numpy(GAMMA), torch.from_numpy(BETA), eps
    )
    close(layer_norm(X, GAMMA, BETA, eps=eps), expected)


@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm_gradients_equal_autograd(eps: float) -> None:
    x, gamma, beta = (torch.tensor(a, requires_grad=True) for a in (X, GAMMA, BETA))
    torch.nn.functional.layer_norm(x, (5,), gamma, beta, eps).backward(torch.from_numpy(UPSTREAM))
    for mine, leaf in zip(layer_norm_gradients(X, UPSTREAM, GAMMA, eps=eps), (x, gamma, beta), strict=True):
        close(mine, leaf.grad, 1e-10)


def test_layer_norm_gradients_equal_finite_differences() -> None:
    x, up = X[0, :2], UPSTREAM[0, :2]
    dx, dgamma, dbeta = layer_norm_gradients(x, up, GAMMA, eps=0.1)
    close(dx, numerical_gradient(lambda a: float((layer_norm(a, GAMMA, BETA, eps=0.1) * up).sum()), x), 1e-7)
    close(
        dgamma, numerical_gradient(lambda g: float((layer_norm(x, g, BETA, eps=0.1) * up).sum()), GAMMA), 1e-7
    )
    close(
        dbeta, numerical_gradient(lambda b: float((layer_norm(x, GAMMA, b, eps=0.1) * up).sum()), BETA), 1e-7
    )


@given(rows, st.floats(-5, 5))
def test_layer_norm_does_not_see_a_shift_and_centres(x: np.ndarray, shift: float) -> None:
    close(layer_norm(x + shift, eps=1.0), layer_norm(x, eps=1.0))
    close(layer_norm(x).mean(axis=-1), 0)
    assert ((layer_norm(x) ** 2).mean(axis=-1) <= 1 + 1e-12).all()


@given(rows, st.floats(0.1, 10))
def test_layer_norm_scale_goes_into_eps(x: np.ndarray, factor: float) -> None:
    close(layer_norm(factor * x, eps=factor**2 * 0.1), layer_norm(x, eps=0.1))


@given(rows)
def test_layer_norm_gradient_has_no_part_along_ones(x: np.ndarray) -> None:
    close(layer_norm_gradients(x, UPSTREAM[0, :2, :4], GAMMA[:4], eps=0.1)[0].sum(axis=-1), 0)


def test_layer_norm_looks_at_one_position_at_a_time() -> None:
    changed = X.copy()
    changed[0, 0] *= 100
    np.testing.assert_array_equal(layer_norm(changed)[1:], layer_norm(X)[1:])
    np.testing.assert_array_equal(layer_norm(changed)[0, 1:], layer_norm(X)[0, 1:])


def test_layer_norm_of_equal_features_is_its_shift() -> None:
    close(layer_norm(np.full((2, 5), 3.0), GAMMA, BETA), np.tile(BETA, (2, 1)))
    close(layer_norm([[4.0], [-4.0]], [2.0], [1.0]), [[1.0], [1.0]])


def test_layer_norm_keeps_float32() -> None:
    assert layer_norm(X.astype(np.float32)).dtype == np.float32
    assert all(g.dtype == np.float32 for g in layer_norm_gradients(X.astype("f4"), UPSTREAM.astype("f4")))


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: layer_norm(1.0), ValueError, r"x must have shape \(\.\.\., C\) with C >= 1, got \(\)"),
    (lambda: layer_norm(np.ones((2, 0))), ValueError, r"x must have shape .* got \(2, 0\)"),
    (lambda: layer_norm([1.0, math.nan]), ValueError, "x must be finite"),
    (lambda: layer_norm([True]), TypeError, "x must hold real numbers, got dtype bool"),
    (lambda: layer_norm(X, GAMMA[:4]), ValueError, r"gamma must have shape \(5,\), got \(4,\)"),
    (lambda: layer_norm(X, GAMMA, BETA[None]), ValueError, r"beta must have shape \(5,\), got \(1, 5\)"),
    (lambda: layer_norm(X, eps=0.0), ValueError, r"eps must be positive, got 0\.0"),
    (lambda: layer_norm(X, eps=math.inf), ValueError, "eps must be finite, got inf"),
    (lambda: layer_norm(X, eps="1"), TypeError, "eps must be a number, got '1'"),  # type: ignore[arg-type]
    (
        lambda: layer_norm_gradients(X, UPSTREAM[0]),
        ValueError,
        r"upstream must have the shape of x, \(3, 4, 5\), got \(4, 5\)",
    ),
    (lambda: layer_norm_gradients(X, UPSTREAM * np.nan), ValueError, "upstream must be finite"),
    (lambda: LayerNorm(0), ValueError, "C must be at least 1, got 0"),
    (lambda: LayerNorm(2.0), TypeError, r"C must be an integer, got 2\.0"),  # type: ignore[arg-type]
    (lambda: LayerNorm(2, eps=-1.0), ValueError, r"eps must be positive, got -1\.0"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_layer_norm_refuses(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
