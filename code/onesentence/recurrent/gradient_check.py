"""Is a gradient written by hand the derivative of the loss as written? Central differences say so.

    n_i = (L(theta_i + eps) - L(theta_i - eps)) / (2 eps)

one number theta_i at a time, all others held. With `a` the analytic gradient two figures are reported: the largest
|a_i - n_i|, and the relative error of all numbers together,

    |a - n| / (|a| + |n| + 1e-12)

where |.| is the Euclidean norm. One number at a time a relative error says nothing where the gradient is nearly 0.

Too large an eps leaves the truncation error of order eps^2, too small a one cancels the digits that the two losses
share: `sweep` shows both. What a check can show is that `a` is the derivative of the loss that was evaluated, not that
this loss is the one that was meant. Section 2.10 of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats, numerical_gradient

SMALLEST = 1e-12
"""Added to the denominator of the relative error, so that two zero gradients agree."""


def relative_error(analytic: ArrayLike, numeric: ArrayLike) -> float:
    """Return |a - n| / (|a| + |n| + 1e-12) over all numbers of two arrays.

    Args:
        analytic: a, any shape.
        numeric: n, the same shape.

    Returns:
        Between 0 and 1.

    Raises:
        TypeError: if one does not hold real numbers.
        ValueError: if the shapes differ.

    Example:
        >>> round(relative_error([3.0, 4.0], [3.0, 4.1]), 6)
        0.00992
    """
    a, n = as_floats("analytic", analytic), as_floats("numeric", numeric)
    if a.shape != n.shape:
        raise ValueError(f"analytic must have shape {n.shape}, got {a.shape}")
    return float(np.linalg.norm(a - n) / (np.linalg.norm(a) + np.linalg.norm(n) + SMALLEST))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Analytic and numeric gradients of the same loss, by name.

    Attributes:
        eps: step of the central differences.
        analytic: gradients written by hand.
        numeric: central differences.
    """

    eps: float
    analytic: Mapping[str, FloatArray]
    numeric: Mapping[str, FloatArray]

    def flat(self) -> tuple[FloatArray, FloatArray]:
        """Return both as one long vector each, in the same order."""
        names = list(self.numeric)
        return tuple(  # type: ignore[return-value]
            np.concatenate([np.ravel(side[name]) for name in names]) for side in (self.analytic, self.numeric)
        )

    @property
    def absolute(self) -> float:
        """Largest |a_i - n_i| over all numbers."""
        a, n = self.flat()
        return float(np.abs(a - n).max())

    @property
    def relative(self) -> float:
        """Relative error of all numbers together."""
        return relative_error(*self.flat())

    def by_name(self) -> dict[str, tuple[float, float]]:
        """Return largest absolute and relative error of each array."""
        return {
            name: (float(np.abs(self.analytic[name] - n).max()), relative_error(self.analytic[name], n))
            for name, n in self.numeric.items()
        }


def compare(
    loss: Callable[[], float],
    parameters: Mapping[str, FloatArray],
    analytic: Mapping[str, FloatArray],
    *,
    eps: float = 1e-5,
) -> Comparison:
    """Compare gradients with central differences of a loss, over every number of every parameter.

    Args:
        loss: returns the loss for what the arrays hold when it is called; the same number each time.
        parameters: the arrays that `loss` reads, float64; they are changed on the way and restored.
        analytic: the gradient of each, by the same names.
        eps: the step.

    Raises:
        TypeError: if an array is not float64.
        ValueError: if there is no parameter, names or shapes differ, two calls of `loss` differ (dropout, a shared
            generator), or `loss` or `eps` is unusable.

    Example:
        >>> theta = {"w": np.array([1.0, -3.0])}
        >>> done = compare(lambda: float((theta["w"] ** 2).sum()), theta, {"w": 2 * theta["w"]})
        >>> done.absolute < 1e-9, done.relative < 1e-9
        (True, True)
    """
    return sweep(loss, parameters, analytic, [eps])[0]


def sweep(
    loss: Callable[[], float],
    parameters: Mapping[str, FloatArray],
    analytic: Mapping[str, FloatArray],
    steps: Iterable[float],
) -> list[Comparison]:
    """Compare at several steps; arguments and errors as for `compare`.

    Example:
        >>> theta = {"w": np.array([1.0])}
        >>> runs = sweep(lambda: float(np.exp(theta["w"][0])), theta, {"w": np.exp(theta["w"])}, [1e-1, 1e-5, 1e-12])
        >>> [run.relative < 1e-8 for run in runs]  # truncation, neither, cancellation
        [False, True, False]
    """
    if not parameters or set(parameters) != set(analytic):
        raise ValueError(f"analytic must have the names {sorted(parameters)}, got {sorted(analytic)}")
    for name, array in parameters.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError(f"parameters: {name!r} must be a float64 array, got {_kind(array)}")
        if np.shape(analytic[name]) != array.shape:
            raise ValueError(
                f"analytic: {name!r} must have shape {array.shape}, got {np.shape(analytic[name])}"
            )
    once, again = loss(), loss()
    if once != again:
        raise ValueError(f"loss must give the same number at every call, got {once} and {again}")
    return [
        Comparison(
            eps, dict(analytic), {name: _numeric(loss, array, eps) for name, array in parameters.items()}
        )
        for eps in steps
    ]


def _numeric(loss: Callable[[], float], array: FloatArray, eps: float) -> FloatArray:
    """Central differences of a loss that reads `array`, which is restored."""
    kept = array.copy()

    def at(values: FloatArray) -> float:
        array[...] = values
        return loss()

    try:
        return numerical_gradient(at, kept, eps)
    finally:
        array[...] = kept


def _kind(value: object) -> str:
    return f"dtype {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
