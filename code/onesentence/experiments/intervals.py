"""What a few runs say of the mean of all runs: Student's interval.

    mean +- t_{n-1} s / sqrt(n)        s^2 = sum (x - mean)^2 / (n - 1)

The interval is about the mean over seeds of one experiment on one data set, if the runs are independent and nearly
normal. It says nothing of other data, and single runs lie outside it as a matter of course.

Student 1908 (Biometrika 6).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval.

    Args:
        values: one per run, at least two.

    Raises:
        ValueError: for fewer values, or one that is not finite.

    Example:
        >>> [round(value, 3) for value in mean_interval([1.0, 2.0, 3.0])]
        [2.0, -0.484, 4.484]
    """
    runs = np.asarray(values, dtype=float)
    if runs.ndim != 1 or runs.size < 2:
        raise ValueError(f"values: expected at least 2, one per run, got shape {runs.shape}")
    if not np.isfinite(runs).all():
        raise ValueError(f"values must be finite, got {runs.tolist()}")
    mean = float(runs.mean())
    reach = float(stats.t.ppf(0.975, runs.size - 1) * runs.std(ddof=1) / np.sqrt(runs.size))
    return mean, mean - reach, mean + reach
