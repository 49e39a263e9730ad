"""The whole path on a CPU with tiny cases: rows, what is wrong and what raises, the record, interruption."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from onesentence.evidence.records import Record
from onesentence.kernels.bench import ceilings, machine, memory, run
from onesentence.kernels.bench.archive import about, read, rows
from onesentence.kernels.bench.backends import COMMON, Backend, Forward, naive
from onesentence.kernels.bench.cases import Case, square
from onesentence.kernels.bench.inputs import Inputs
from onesentence.kernels.bench.report import text
from onesentence.kernels.bench.run import Bench, Found
from onesentence.kernels.bench.timing import Times

SMALL = (
    square("forward", 1, 2, 8, 4, "float32", causal=True),
    square("backward", 1, 2, 8, 4, "float32", causal=False),
    Case("decode", 2, 4, 2, 1, 8, 4, "float32", causal=False),
)
ONCE = Bench("cpu", quick=True, only="x", repeats=1, seed=3)


@pytest.fixture(autouse=True)
def small_ceilings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "SIDES", {"cpu": 16})
    monkeypatch.setattr(ceilings, "copy_bytes", lambda device: 4096)


def wrong(case: Case, inputs: Inputs) -> Forward:
    right = naive(case, inputs)
    return lambda: right() * 1.001


def raising(case: Case, inputs: Inputs) -> Forward:
    raise RuntimeError("No available kernel.\nMore of it.")


class Late:
    """Right when it is checked, and raises when it is timed."""

    def __call__(self, case: Case, inputs: Inputs) -> Forward:
        right, calls = naive(case, inputs), iter(range(100))

        def forward() -> torch.Tensor:
            if next(calls) > 0:
                raise RuntimeError("gone")
            return right()

        return forward


def test_a_run_gives_a_row_for_every_case_and_backend_and_a_record_that_reads_back() -> None:
    threads, said = torch.get_num_threads(), []
    record = run.run(ONCE, cases=SMALL, say=said.append)
    assert torch.get_num_threads() == threads
    assert record.identity == "measured"
    assert record.seeds == (3,)
    found = [(row["name"], row["backend"]) for row in rows(record)]
    assert found == [(case.name, backend.name) for case in SMALL for backend in COMMON]
    for row in rows(record):
        assert row["status"] == "timed", row["reason"]
        assert len(row["seconds"]) == 1
        assert row["median"] == row["min"] == row["seconds"][0] > 0
        assert row["share"] > 0
        assert row["peak_bytes"] is None
        assert set(row["errors"]) == ({"o", "dq", "dk", "dv"} if row["case"]["kind"] == "backward" else {"o"})
    assert [one["what"] for one in record.metrics["ceilings"][0]] == ["product", "copy"]
    assert {one["backend"] for one in record.metrics["absent"][0]} >= {"sdpa cudnn", "flex", "triton"}
    assert record.metrics["faulty"] == [[]]
    facts = about(record)
    assert (facts["suite"], facts["complete"], facts["threads"]) == ("attention-cpu-quick", True, 1)
    assert set(facts["backends"]) > {"naive", "tiled", "triton paged"}
    assert set(record.versions) == {"python", "numpy", "torch", "triton", "cuda"}
    assert Record.from_json(record.to_json()).to_json() == record.to_json()
    assert read(record.to_json()).metrics == record.metrics
    assert said == [
        "ceilings: matrix product and copy",
        *(f"[{i}/3] {c.name}" for i, c in enumerate(SMALL, 1)),
    ]
    printed = text(record)
    assert "absent: flex is for cuda only" in printed
    assert SMALL[2].name in printed
    assert "NOT COMPLETE" not in printed


def test_the_commit_is_asked_of_the_checkout_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "commit", lambda: "asked+")
    for given, expected in (("", "asked+"), ("given", "given")):
        record = run.run(dataclasses.replace(ONCE, commit=given), COMMON[:1], SMALL[:1])
        assert about(record)["commit"] == expected


def test_rates_are_work_over_time_and_traffic_for_decode() -> None:
    record = run.run(ONCE, cases=(SMALL[0], SMALL[2]))
    forward, decode = rows(record)[0], rows(record)[-1]
    assert forward["rate"] * forward["median"] == pytest.approx(4 * 2 * (8 * 9 // 2) * 4)
    assert decode["rate"] * decode["median"] == pytest.approx(4 * (2 * 2 * 2 * 8 * 4 + 2 * 2 * 4 * 4))
    product, copy = record.metrics["ceilings"][0]
    assert forward["share"] == pytest.approx(forward["rate"] / product["rate"])
    assert decode["share"] == pytest.approx(decode["rate"] / copy["rate"])


@pytest.mark.parametrize(
    ("prepare", "status", "reason"),
    [
        (wrong, "wrong", "o is off by "),
        (raising, "failed", "RuntimeError: No available kernel."),
        (Late(), "failed", "while it was timed: RuntimeError: gone"),
    ],
)
def test_a_faulty_backend_is_recorded_and_not_timed(
    prepare: Callable[[Case, Inputs], Forward], status: str, reason: str
) -> None:
    bad = Backend("bad", "", prepare)
    record = run.run(ONCE, (bad,), SMALL[:1])
    (row,) = rows(record)
    assert row["status"] == status
    assert row["reason"].startswith(reason)
    assert "seconds" not in row
    assert record.metrics["faulty"][0] == [f"bad, {SMALL[0].name}: {row['reason']}"]
    assert f"FAULTY: bad, {SMALL[0].name}: {reason}" in text(record)
    assert read(record.to_json())


@pytest.mark.parametrize("prepare", [wrong, raising])
def test_the_others_are_timed_beside_a_faulty_one(prepare: Callable[[Case, Inputs], Forward]) -> None:
    record = run.run(ONCE, (Backend("bad", "", prepare), COMMON[0]), SMALL[1:2])
    assert {row["backend"]: row["status"] == "timed" for row in rows(record)} == {"bad": False, "naive": True}


def test_a_case_that_is_not_for_a_backend_is_recorded_with_the_reason() -> None:
    case = Case("forward", 1, 2, 2, 3, 5, 4, "float32", causal=True)
    record = run.run(ONCE, COMMON[:2], (case,))
    assert {row["backend"]: row["status"] for row in rows(record)} == {
        "naive": "timed",
        "sdpa flash": "absent",
    }
    assert record.metrics["faulty"] == [[]]


def test_an_interrupted_run_keeps_what_it_has_and_says_so() -> None:
    def interrupted(case: Case, inputs: Inputs) -> Forward:
        if case == SMALL[1]:
            raise KeyboardInterrupt
        return naive(case, inputs)

    record = run.run(ONCE, (Backend("one", "", interrupted),), SMALL)
    assert [row["name"] for row in rows(record)] == [SMALL[0].name]
    assert (about(record)["complete"], about(record)["stopped"]) == (False, "interrupted")
    assert text(record).endswith("NOT COMPLETE: interrupted")


def test_the_limit_of_time_ends_a_run_before_the_next_case() -> None:
    record = run.run(dataclasses.replace(ONCE, limit=1e-9), COMMON, SMALL)
    assert rows(record) == []
    assert about(record)["stopped"] == "the limit of 1e-09 s was reached before case 1 of 3"


def test_memory_is_measured_for_whoever_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(name: str, case: Case, seed: int) -> dict[str, Any]:
        found = {"backend": name, "name": case.name, "bytes": 5, "reason": ""}
        return found if name != "tiled" else found | {"bytes": None, "reason": "killed"}

    monkeypatch.setattr(memory, "measured", measured)
    record = run.run(dataclasses.replace(ONCE, only=""), cases=SMALL[:1])
    found = [(one["backend"], one["bytes"]) for one in record.metrics["memory"][0]]
    assert found == [("naive", 5), ("sdpa flash", 5), ("tiled", None)]
    assert record.metrics["faulty"] == [["tiled, memory: killed"]]


def test_the_ceiling_is_that_of_the_dtype_and_the_copy_for_decode() -> None:
    found = Found()
    assert found.ceiling(SMALL[0]) is None
    for what, dtype, rate in (("product", "float32", 2.0), ("product", "bfloat16", 3.0), ("copy", "", 5.0)):
        found.ceilings.append(ceilings.Ceiling(what, dtype, 1, rate, Times((1.0,))))
    assert [found.ceiling(case) for case in SMALL] == [2.0, 2.0, 5.0]
    assert found.ceiling(dataclasses.replace(SMALL[0], dtype="bfloat16")) == 3.0


def test_growth_of_the_naive_version_holds_its_table() -> None:
    case = memory.memory_case(1024)
    found = memory.measured("naive", case)
    assert found["reason"] == ""
    assert case.table_bytes < found["bytes"] < 4 * case.table_bytes


def test_memory_of_a_process_that_fails_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    found = memory.measured("nobody", memory.memory_case(8))
    assert found["bytes"] is None
    assert found["reason"].startswith(
        "ValueError: name: expected one of naive, sdpa flash, tiled, got 'nobody'"
    )
    monkeypatch.setattr(memory, "TIMEOUT", 0.001)
    assert memory.measured("naive", memory.memory_case(8))["reason"] == "did not end within 0.001 s"


def test_peak_is_read_where_the_system_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tx\nVmHWM:\t  2048 kB\n")
    monkeypatch.setattr(memory, "STATUS", tmp_path / "status")
    assert memory.peak_bytes() == 2 * 2**20
    monkeypatch.setattr(memory, "STATUS", tmp_path / "none")
    assert memory.peak_bytes() > 2**20


def test_bench_refuses_what_it_cannot_run() -> None:
    with pytest.raises(ValueError, match="device: expected one of cpu, cuda, got 'tpu'"):
        Bench("tpu")
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        Bench("cpu", repeats=0)
    with pytest.raises(ValueError, match="limit: expected seconds above 0, got 0"):
        Bench("cpu", limit=0)
    with pytest.raises(ValueError, match="only: no case's name holds 'D63'"):
        Bench("cpu", only="D63").cases()
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="device: no CUDA device is there; use --device cpu"):
            run.run(Bench("cuda"))


def test_repeats_of_a_cpu_fall_with_size_and_are_left_to_the_clock_on_cuda() -> None:
    short, long = (square("forward", 1, 8, T, 64, "float32", causal=False) for T in (4096, 8192))
    assert [Bench("cpu").repeats_of(case) for case in (short, long)] == [5, 3]
    assert Bench("cpu", quick=True).repeats_of(short) == 3
    assert Bench("cuda").repeats_of(short) is None
    assert Bench("cuda", repeats=2).repeats_of(long) == 2
