"""What a collection of failures can show, and a random sample can: existence, and a rate.

A collector keeps failures and passes over the rest, so that the collection looks the same however rare failures
are. A random sample keeps the rate, with an interval (Wilson, 1927). Section 1.17 of the course.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def outcomes(count: int, failure_rate: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw whether each of several outputs is a failure.

    Args:
        count: how many outputs, at least 1.
        failure_rate: probability of a failure, from 0 to 1.
        rng: source of all randomness.

    Raises:
        ValueError: if an argument is outside its range.

    Example:
        >>> outcomes(4, 1.0, np.random.default_rng(0)).tolist()
        [True, True, True, True]
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not 0 <= failure_rate <= 1:
        raise ValueError(f"failure_rate must lie in [0, 1], got {failure_rate}")
    drawn: NDArray[np.bool_] = rng.random(count) < failure_rate
    return drawn


def collect_failures(failed: NDArray[np.bool_], size: int) -> NDArray[np.intp]:
    """Return the positions of the first failures, as a collector keeps them.

    Args:
        failed: whether each output is a failure, shape (N,).
        size: how many to keep, at least 1.

    Raises:
        ValueError: if there are fewer failures than that.

    Example:
        >>> collect_failures(np.array([False, True, True, False, True]), 2).tolist()
        [1, 2]
    """
    found: NDArray[np.intp] = np.flatnonzero(failed)
    if size < 1 or len(found) < size:
        raise ValueError(f"size must lie in [1, {len(found)}], the number of failures, got {size}")
    return found[:size]


def wilson_interval(failures: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's interval for a rate, 95 % by default.

    Args:
        failures: failures in the sample, from 0 to `count`.
        count: size of the sample, at least 1.
        z: quantile of the normal distribution.

    Raises:
        ValueError: if the numbers do not fit.

    Example:
        >>> [round(end, 3) for end in wilson_interval(0, 10)]
        [0.0, 0.278]
    """
    if count < 1 or not 0 <= failures <= count:
        raise ValueError(
            f"failures must lie in [0, count] and count be at least 1, got {failures} of {count}"
        )
    if not (math.isfinite(z) and z >= 0):
        raise ValueError(f"z must be a finite number of at least 0, got {z}")
    rate = failures / count
    middle = rate + z * z / (2 * count)
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
