"""The parts of `tools/bench_recurrent.py` that compute: that both sides give one gradient, and its lines."""

from __future__ import annotations

import numpy as np

import bench_recurrent


def test_steps_give_the_same_gradient() -> None:
    ours, theirs, products = bench_recurrent.steps(5, 2, 3)
    np.testing.assert_allclose(np.asarray(ours()), np.asarray(theirs()), rtol=0, atol=1e-12)
    assert products() is not None


def test_measure_gives_both_lines() -> None:
    rows = bench_recurrent.measure(4, 2, 3, runs=2)
    assert [row.what for row in rows] == [bench_recurrent.WHAT, bench_recurrent.SHARE]
    assert min(row.value for row in rows) > 0
