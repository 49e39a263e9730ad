"""The sigmoid and its logarithm's other half, without overflow. NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats


def sigmoid(x: ArrayLike) -> FloatArray:
    """1 / (1 + exp(-x)), without overflow for any finite x.

    Args:
        x: real numbers, any shape.

    Returns:
        Values in [0, 1] of the same shape.

    Raises:
        TypeError: `x` does not hold real numbers.

    Example:
        >>> sigmoid([0.0, -1000.0]).tolist()
        [0.5, 0.0]
    """
    half: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * as_floats("x", x)))
    return half


def softplus(x: ArrayLike) -> FloatArray:
    """log(1 + exp(x)) = -log sigma(-x) in nats, without overflow.

    Args:
        x: real numbers, any shape.

    Returns:
        Values >= 0 of the same shape.

    Raises:
        TypeError: `x` does not hold real numbers.

    Example:
        >>> softplus([0.0, 1000.0]).round(6).tolist()
        [0.693147, 1000.0]
    """
    result: FloatArray = np.logaddexp(0.0, as_floats("x", x))
    return result
