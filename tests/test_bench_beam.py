"""The parts of `tools/bench_beam.py` that compute: that both searches find the same texts, and its lines."""

from __future__ import annotations

import bench_beam


def test_searches_find_the_same_texts() -> None:
    batched, plain = bench_beam.searches(2, 2, 3)
    assert [f.best.ids for f in batched()] == [f.best.ids for f in plain()]


def test_measure_gives_both_lines() -> None:
    rows = bench_beam.measure(2, 2, 3, runs=2)
    assert [row.what for row in rows] == [bench_beam.WHAT, bench_beam.SPEED]
    assert min(row.value for row in rows) > 0
