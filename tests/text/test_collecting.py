"""Failures that are collected, and a rate that is sampled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from onesentence.text.collecting import collect_failures, outcomes, wilson_interval


def test_outcomes_have_their_rate_and_their_seed() -> None:
    drawn = outcomes(20_000, 0.3, np.random.default_rng(0))
    assert abs(drawn.mean() - 0.3) < 0.02
    assert (drawn == outcomes(20_000, 0.3, np.random.default_rng(0))).all()
    assert not outcomes(5, 0.0, np.random.default_rng(0)).any()


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_collection_holds_failures_only_whatever_the_rate(rate: float) -> None:
    failed = outcomes(2000, rate, np.random.default_rng(1))
    kept = collect_failures(failed, 20)
    assert failed[kept].all()
    assert len(kept) == 20


@pytest.mark.parametrize(("failures", "count"), [(0, 10), (3, 40), (40, 40), (500, 1000)])
def test_wilson_interval_equals_scipy(failures: int, count: int) -> None:
    interval = binomtest(failures, count).proportion_ci(method="wilson")
    assert wilson_interval(failures, count) == pytest.approx((interval.low, interval.high), abs=1e-6)


def test_arguments_outside_their_range_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        outcomes(0, 0.5, rng)
    with pytest.raises(ValueError, match=r"failure_rate must lie in \[0, 1\], got 1.5"):
        outcomes(3, 1.5, rng)
    with pytest.raises(ValueError, match=r"size must lie in \[1, 1\], the number of failures, got 2"):
        collect_failures(np.array([True, False]), 2)
    with pytest.raises(ValueError, match="got 4 of 3"):
        wilson_interval(4, 3)
    for z in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="z must be a finite number of at least 0"):
            wilson_interval(1, 3, z)
