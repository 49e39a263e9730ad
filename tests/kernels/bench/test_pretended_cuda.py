"""The order of things on CUDA, walked on a CPU that passes for a GPU: events, flushes, peaks and memory given back."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from onesentence.kernels.bench import ceilings, machine, run, timing
from onesentence.kernels.bench.archive import about, read, rows
from onesentence.kernels.bench.backends import COMMON, Backend, Forward
from onesentence.kernels.bench.cases import Case, cases_of, square
from onesentence.kernels.bench.cuda import BACKENDS
from onesentence.kernels.bench.inputs import Inputs
from onesentence.kernels.bench.report import text
from onesentence.kernels.bench.run import Bench
from onesentence.kernels.bench.timing import CudaClock

PROPERTIES = SimpleNamespace(
    name="Pretended GPU", multi_processor_count=132, total_memory=141 * 2**30, L2_cache_size=50 * 2**20
)
SMALL = (
    Case("decode", 2, 4, 2, 1, 8, 4, "bfloat16", causal=False),
    square("forward", 1, 2, 8, 4, "bfloat16", causal=True),
    square("backward", 1, 2, 8, 4, "float16", causal=False),
)


class OnTheCpu(TorchFunctionMode):
    """Put tensors that are wanted on CUDA on the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        return function(*args, **kwargs)


class FakeEvent:
    """An event of a device that takes a quarter of a second between any two."""

    clock = 0.0

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        FakeEvent.clock += 0.25
        self.at = FakeEvent.clock

    def elapsed_time(self, end: FakeEvent) -> float:
        return 1000 * (end.at - self.at)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the CPU pass for a GPU; give the list of what was asked of it."""
    # the compiler, first imported in here, would stay half imported for the tests that follow
    importlib.import_module("torch._inductor.decomposition")
    asked: list[str] = []

    def answers(name: str, value: Any) -> None:
        monkeypatch.setattr(torch.cuda, name, lambda *args: asked.append(name) or value)

    for name, value in {
        "is_available": True,
        "get_device_properties": PROPERTIES,
        "synchronize": None,
        "empty_cache": None,
        "reset_peak_memory_stats": None,
        "memory_allocated": 100,
        "max_memory_allocated": 164,
    }.items():
        answers(name, value)
    generator = torch.Generator
    monkeypatch.setattr(torch, "Generator", lambda device="cpu": generator("cpu"))
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(timing, "flush_bytes", lambda properties: 1024)
    monkeypatch.setattr(ceilings, "SIDES", {"cuda": 16})
    monkeypatch.setattr(ceilings, "copy_bytes", lambda device: 4096)
    monkeypatch.setattr(machine, "_said", lambda *command: "580.1" if command[0] == "nvidia-smi" else "abc")
    with OnTheCpu():
        yield asked


def raising(case: Case, inputs: Inputs) -> Forward:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 TiB")


def test_a_run_on_cuda_gives_rows_ceilings_and_peaks(cuda: list[str]) -> None:
    record = run.run(Bench("cuda", repeats=2), (*COMMON, Backend("greedy", "", raising)), SMALL)
    found = [(row["case"]["kind"], row["backend"], row["status"]) for row in rows(record)]
    expected = {"naive": "timed", "sdpa flash": "timed", "greedy": "failed"}
    assert found == [(case.kind, *pair) for case in SMALL for pair in expected.items()]
    for row in rows(record):
        if row["status"] == "timed":
            assert (row["seconds"], row["peak_bytes"]) == ([0.25, 0.25], 64)
    assert rows(record)[2]["reason"].startswith("OutOfMemoryError: CUDA out of memory.")
    assert cuda.count("empty_cache") == len(found)  # memory goes back before the next backend
    products = [(one["what"], one["dtype"]) for one in record.metrics["ceilings"][0]]
    assert products == [("product", "bfloat16"), ("product", "float16"), ("copy", "")]
    assert {"backend": "tiled", "reason": "is for cpu only"} in record.metrics["absent"][0]
    assert record.metrics["memory"] == [[]]
    assert about(record)["device"] == "Pretended GPU, 132 multiprocessors, 141 GiB, L2 50 MiB"
    assert about(record)["suite"] == "attention-cuda"
    assert record.device == "cuda"
    assert record.versions["driver"] == "580.1"
    assert read(record.to_json()).metrics == record.metrics
    assert "Pretended GPU" in text(record)


def test_a_device_that_answers_no_more_ends_the_run_and_what_was_measured_stays(
    cuda: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "empty_cache", gone)
    record = run.run(Bench("cuda", repeats=1), COMMON, SMALL)
    assert [row["backend"] for row in rows(record)] == ["naive"]
    assert about(record)["complete"] is False
    assert about(record)["stopped"] == "RuntimeError: CUDA error: an illegal memory access was encountered"
    monkeypatch.setattr(ceilings, "measured", lambda *args: gone())
    with pytest.raises(RuntimeError, match="illegal memory access"):  # nothing to keep
        run.run(Bench("cuda", repeats=1), COMMON, SMALL)


def test_every_backend_of_cuda_is_tried_and_none_stops_the_run(
    cuda: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "compile", None)
    backends = tuple(
        Backend(one.name, one.note, one.prepare, ("cuda",), one.kinds, passes=one.passes) for one in BACKENDS
    )
    monkeypatch.setattr("onesentence.kernels.bench.cuda.FLEX_LENGTHS", (8,))
    case = square("forward", 1, 2, 8, 16, "float32", causal=False)
    record = run.run(Bench("cuda", repeats=1), backends, (case,))
    found = {row["backend"]: row["status"] for row in rows(record)}
    assert found["naive"] == found["sdpa flash"] == found["tiled"] == "timed"
    assert found["sdpa cudnn"] == found["flex"] == "failed"
    assert record.metrics["faulty"][0]


def test_naive_and_flex_know_which_of_the_full_cases_are_theirs(cuda: list[str]) -> None:
    device = torch.device("cuda")
    counts = {}
    for backend in BACKENDS:
        asked = [case for case in cases_of("cuda", quick=False) if case.kind in backend.kinds]
        counts[backend.name] = (len(asked), sum(not backend.passes(case, device) for case in asked))
    assert counts["naive"] == (53, 53)
    assert counts["flex"] == (44, 20)
    assert counts["triton"] == (44, 44)
    assert counts["triton split"] == counts["triton paged"] == (9, 9)


def test_the_clock_flushes_before_every_call_and_reads_milliseconds(cuda: list[str]) -> None:
    clock = CudaClock(torch.device("cuda"))
    assert clock.flush == pytest.approx(0.25)
    assert clock.buffer.numel() == 1024
    touched = []

    def call() -> None:
        touched.append(int(clock.buffer[0]))
        clock.buffer[0] = 1

    assert clock.times({"x": call}, 4)["x"].seconds == (0.25,) * 4
    assert touched == [0, 1, 1, 1, *[0] * 7]  # warm-up is not flushed: three and one for the host's time
