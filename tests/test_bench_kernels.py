"""The parts of `tools/bench_kernels.py` that compute: that all sides give the same, its lines and their goals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import bench_kernels
from onesentence.kernels import tiled
from onesentence.kernels.bench import memory


def test_calls_give_the_same_output_and_the_causal_one_another() -> None:
    with torch.no_grad():
        found = {name: call() for name, call in bench_kernels.calls(65).items()}
    assert list(found) == ["naive", "sdpa", "tiled", "tiled causal"]
    torch.testing.assert_close(found["tiled"], found["naive"], rtol=0, atol=1e-5)
    torch.testing.assert_close(found["sdpa"], found["naive"], rtol=0, atol=1e-5)
    assert not torch.allclose(found["tiled causal"][:, :, 0], found["tiled"][:, :, 0])
    torch.testing.assert_close(found["tiled causal"][:, :, -1], found["tiled"][:, :, -1])


def test_calls_refuse_to_time_a_wrong_version(monkeypatch: pytest.MonkeyPatch) -> None:
    right = tiled.attention
    monkeypatch.setattr(tiled, "attention", lambda *parts, causal: right(*parts, causal=False))
    with pytest.raises(RuntimeError, match=r"tiled, T=65: o is off by .*, so there is nothing to time"):
        bench_kernels.calls(65)


def test_time_rows_by_hand() -> None:
    seconds = {
        "naive": [4.0, 6.0, 9.0],
        "sdpa": [1.0, 2.0, 3.0],
        "tiled": [2.0, 2.0, 3.0],
        "tiled causal": [1.0, 1.2, 1.2],
    }
    rows = bench_kernels.time_rows(8192, seconds)
    assert [(row.value, row.goal, row.least, row.met) for row in rows] == [
        (3.0, 2.0, True, True),
        (1.0, 1.8, False, True),
        (0.5, 0.6, False, True),
    ]
    assert rows[0].what == "attention, N=8192, naive over tiled"
    assert bench_kernels.time_rows(4096, seconds)[0].goal == 1.5
    slow = seconds | {"tiled": [5.0, 5.0, 5.0], "tiled causal": [4.0, 4.0, 4.0]}
    assert [row.met for row in bench_kernels.time_rows(4096, slow)] == [False, False, False]


def test_memory_row_by_hand() -> None:
    row = bench_kernels.memory_row(8192, 4_000_000_000, 100_000_000)
    assert (row.value, row.met, row.note) == (40.0, True, "4000 MB beside 100.0 MB")
    assert bench_kernels.memory_row(8192, 4_000_000_000, 101_000_000).met is False


def test_measure_gives_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()

    def measured(name: str, case: Any) -> dict[str, Any]:
        return {"bytes": {"naive": 90, "tiled": 2}[name] if case.T == 33 else None, "reason": "killed"}

    monkeypatch.setattr(memory, "measured", measured)
    rows = bench_kernels.measure(lengths=(17, 33), runs=1)
    assert [row.what.split(", ")[1] for row in rows] == ["N=17"] * 3 + ["N=33"] * 4
    assert all(row.value > 0 for row in rows)
    assert rows[-1].value == 45.0
    assert torch.get_num_threads() == before
    with pytest.raises(RuntimeError, match="memory of naive: killed"):
        bench_kernels.measure(lengths=(17,), runs=1)


def test_decoding_rows_by_hand() -> None:
    rows = bench_kernels.decoding_rows(
        [512, 1024, 8], [[1.0, 2.0], [1.0, 1.0], [1.0]], [[6.0, 8.0], [9.0, 9.5], [3.0]]
    )
    assert [(row.value, row.goal, row.met) for row in rows] == [
        (5.0, 5.0, True),
        (9.25, 10.0, False),
        (3.0, None, None),
    ]
    assert rows[0].what == "decoding 512 tokens, without cache over with"


def test_measure_decoding_gives_a_line_for_each_length() -> None:
    rows = bench_kernels.measure_decoding(lengths=(3, 6), runs=2)
    assert [row.what.split()[1] for row in rows] == ["3", "6"]
    assert all(row.value > 0 for row in rows)
