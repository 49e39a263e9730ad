"""Student's interval beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from onesentence.experiments.intervals import T_95, mean_interval


@pytest.mark.parametrize("n", sorted(T_95))
def test_mean_interval_equals_scipys(n):
    values = np.random.default_rng(n).normal(3, 2, n)
    mean, low, high = mean_interval(values)
    expected = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx(expected, abs=1e-4)


def test_mean_interval_refuses():
    with pytest.raises(ValueError, match=r"values: expected 2 to 10, one per run, got shape \(1,\)"):
        mean_interval([1.0])
    with pytest.raises(ValueError, match="values must be finite"):
        mean_interval([1.0, np.nan])
