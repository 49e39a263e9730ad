"""The parts of `tools/bench_text.py` that compute: its text, its line, and that both learners learn the same amount."""

from __future__ import annotations

import doctest

import pytest

import bench_text
from bench_rows import Row, ratio_row


def test_examples_in_docstrings() -> None:
    result = doctest.testmod(bench_text)
    assert result.attempted > 0
    assert result.failed == 0


def test_generate_gives_the_size_in_whole_lines_of_words() -> None:
    lines = bench_text.generate(3000)
    assert sum(map(len, lines)) == 3000
    assert all(len(line.split()) == 20 for line in lines[:-1])
    with pytest.raises(ValueError, match="size: expected at least 1, got 0"):
        bench_text.generate(0)


def test_generate_repeats_some_words_often() -> None:
    words = " ".join(bench_text.generate(20_000)).split()
    assert len(set(words)) < len(words) / 2


def test_ratio_row_takes_the_median_of_the_ratios() -> None:
    row = ratio_row(bench_text.WHAT, [(2.0, 1.0), (9.0, 3.0), (8.0, 1.0)])
    assert row == Row(bench_text.WHAT, 3.0, "", "8.00 s beside 1.00 s; median of 3, 2.0 to 8.0")
    with pytest.raises(ValueError, match="pairs: expected at least one run, got none"):
        ratio_row("x", [])


def test_seconds_refuses_a_learner_that_learned_less() -> None:
    with pytest.raises(RuntimeError, match="ours learned 1, expected 5"):
        bench_text.seconds(bench_text.ours, ["ab ab"], 5)


def test_measure_runs_each_pair() -> None:
    rows = bench_text.measure(size=4000, merges=20, runs=1)
    assert [row.what for row in rows] == [bench_text.WHAT, bench_text.COUNTS]
    assert min(row.value for row in rows) > 0
    row = rows[0]
    assert row.note.endswith("median of 1, " + f"{row.value:.1f} to {row.value:.1f}")
