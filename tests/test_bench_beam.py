"""The parts of `tools/bench_beam.py` that compute: that both searches find the same texts, and its lines."""

from __future__ import annotations

import bench_beam


def test_searches_find_the_same_texts() -> None:
    batched, plain = bench_beam.searches(2, 2, 3)
    assert [f.best.ids for f in batched()] == [f.best.ids for f in plain()]


def test_measure_gives_the_ratio_and_both_speeds() -> None:
    rows = bench_beam.measure(2, 2, 3, runs=2)
    assert [row.what for row in rows] == [bench_beam.WHAT, bench_beam.SPEED, bench_beam.PLAIN]
    assert min(row.value for row in rows) > 0


def test_measure_divides_the_speed_of_one_search_by_that_of_the_other(monkeypatch):
    speeds = iter([600.0, 200.0, 900.0, 100.0, 500.0, 250.0])
    monkeypatch.setattr(bench_beam, "speed", lambda search: next(speeds))
    rows = bench_beam.measure(1, 1, 1, runs=3)
    assert [(row.value, row.unit) for row in rows] == [(3.0, ""), (600.0, "tokens/s"), (200.0, "tokens/s")]
