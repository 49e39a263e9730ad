"""The parts of `tools/bench_transformer.py` that compute: that both sides give the same, and its lines."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bench_transformer
from onesentence.transformer.block import EncoderBlock

SMALL = (2, 3, 4, 2, 6)


def test_steps_give_the_same_gradient_and_output() -> None:
    for ours, theirs in bench_transformer.steps(*SMALL).values():
        np.testing.assert_allclose(np.asarray(ours()), np.asarray(theirs()), rtol=0, atol=1e-5)


def test_steps_refuse_to_time_two_different_computations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EncoderBlock, "forward", lambda self, x, mask=None: 2 * x)
    with pytest.raises(RuntimeError, match=r"encoder block forwards and back, .*: the two differ"):
        bench_transformer.steps(*SMALL)


def test_measure_gives_both_lines_with_their_goal() -> None:
    before = torch.get_num_threads()
    rows = bench_transformer.measure(*SMALL, runs=2)
    assert [row.what for row in rows] == [bench_transformer.TRAINING, bench_transformer.EVALUATION]
    assert all(row.value > 0 and row.goal == bench_transformer.GOAL for row in rows)
    assert torch.get_num_threads() == before
