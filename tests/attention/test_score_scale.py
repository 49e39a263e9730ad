"""Components made to order against their moments; entropy against SciPy; sensitivity against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onesentence.attention.read import dot_scores
from onesentence.attention.score_scale import components, entropy, sensitivity
from onesentence.numerics import numerical_gradient, softmax


@pytest.mark.parametrize(("mean", "rho"), [(0.0, 0.0), (2.0, 0.0), (0.0, 0.5), (-1.0, 0.25)])
def test_components_have_the_moments_asked_for(mean: float, rho: float) -> None:
    x = components((40_000, 3), np.random.default_rng(0), mean=mean, correlation=rho)
    assert x.dtype == np.float32
    np.testing.assert_allclose(x.mean(axis=0), [mean] * 3, rtol=0, atol=0.03)
    expected = np.full((3, 3), rho) + (1 - rho) * np.eye(3)
    np.testing.assert_allclose(np.cov(x.T), expected, rtol=0, atol=0.03)


@pytest.mark.parametrize(
    ("mean", "rho", "variance"), [(0.0, 0.0, 8.0), (1.0, 0.0, 24.0), (0.0, 0.5, 8 * (1 + 7 / 4))]
)
def test_components_give_the_variance_of_the_docstring(mean: float, rho: float, variance: float) -> None:
    rng = np.random.default_rng(1)
    q, k = (components((60_000, 1, 8), rng, mean=mean, correlation=rho) for _ in range(2))
    assert dot_scores(q, k).var(dtype=float) == pytest.approx(variance, rel=0.05)


def test_entropy_equals_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    alpha = softmax(np.random.default_rng(2).normal(size=(4, 9)) * 5)
    np.testing.assert_allclose(entropy(alpha), stats.entropy(alpha, axis=-1), rtol=1e-12)
    assert entropy(np.full(9, 1 / 9)) == pytest.approx(np.log(9))
    assert entropy([0.0, 1.0]) == 0


def test_sensitivity_equals_finite_differences() -> None:
    e = np.array([0.3, -1.0, 2.0, 0.0])
    by_hand = sum(
        numerical_gradient(lambda x, j=j: float(softmax(x)[j]), e)[j]  # type: ignore[misc]
        for j in range(4)
    )
    assert sensitivity(softmax(e)) == pytest.approx(by_hand, abs=1e-8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: components((), r), ValueError, "shape must have at least one axis"),
        (lambda r: components((2, 0), r), ValueError, "shape must be at least 1, got 0"),
        (
            lambda r: components((2,), r, correlation=1.5),
            ValueError,
            r"correlation must lie in \[0, 1\], got 1.5",
        ),
        (lambda r: components((2,), r, mean="1"), TypeError, "mean must be a number"),
        (lambda r: components((2,), 0), TypeError, "rng must be a numpy Generator, got int"),
        (lambda r: entropy([0.5, -0.5]), ValueError, "weights must be non-negative"),
        (lambda r: entropy([2.0]), ValueError, "weights must have rows with sum 1, got 2"),
        (lambda r: entropy([float("inf"), 0]), ValueError, "weights must have rows with sum 1, got inf"),
        (lambda r: sensitivity([[1.0, 0.0], [0.5, 0.4]]), ValueError, "rows with sum 1, got 0.9"),
        (lambda r: sensitivity(0.5), ValueError, "at least one axis"),
    ],
)
def test_bad_input_is_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(np.random.default_rng(0))
