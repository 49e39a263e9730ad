"""Student's interval beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from onesentence.experiments.intervals import mean_interval


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30])
def test_mean_interval_equals_scipys(n):
    values = np.random.default_rng(n).normal(3, 2, n)
    mean, low, high = mean_interval(values)
    expected = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx(expected, abs=1e-12)


def test_mean_interval_is_where_students_test_turns():
    values = [0.3, 0.5, 0.1, 0.4]
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((0.325, low, high), abs=1e-12)


def test_mean_interval_against_the_table():
    # Student's two-sided 95 % quantiles of n - 1 degrees of freedom as tables print them
    for n, quantile in {2: 12.706, 3: 4.303, 5: 2.776, 10: 2.262}.items():
        values = np.arange(n)
        _, low, high = mean_interval(values)
        assert (high - low) / 2 / (values.std(ddof=1) / n**0.5) == pytest.approx(quantile, abs=5e-4)


def test_mean_interval_refuses():
    with pytest.raises(ValueError, match=r"values: expected at least 2, one per run, got shape \(1,\)"):
        mean_interval([1.0])
    with pytest.raises(ValueError, match="values must be finite"):
        mean_interval([1.0, np.nan])
