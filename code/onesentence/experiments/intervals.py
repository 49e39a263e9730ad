"""What a few runs say of the mean of all runs: Student's interval.

    mean +- t_{n-1} s / sqrt(n)        s^2 = sum (x - mean)^2 / (n - 1)

The interval is about the mean over seeds of one experiment on one data set, if the runs are independent and nearly
normal. It says nothing of other data, and single runs lie outside it as a matter of course.

Student 1908 (Biometrika 6).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

T_95 = {
    2: 12.7062,
    3: 4.30265,
    4: 3.18245,
    5: 2.77645,
    6: 2.57058,
    7: 2.44691,
    8: 2.36462,
    9: 2.306,
    10: 2.26216,
}
"""The two-sided 95 % quantile by number of runs."""


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95 % interval.

    Args:
        values: one per run, 2 to 10 of them.

    Raises:
        ValueError: for another number of values, or one that is not finite.

    Example:
        >>> [round(value, 3) for value in mean_interval([1.0, 2.0, 3.0])]
        [2.0, -0.484, 4.484]
    """
    runs = np.asarray(values, dtype=float)
    if runs.ndim != 1 or runs.size not in T_95:
        raise ValueError(f"values: expected 2 to 10, one per run, got shape {runs.shape}")
    if not np.isfinite(runs).all():
        raise ValueError(f"values must be finite, got {runs.tolist()}")
    mean = float(runs.mean())
    reach = float(T_95[runs.size] * runs.std(ddof=1) / np.sqrt(runs.size))
    return mean, mean - reach, mean + reach
