"""Measure attention on the CPU beside the naive version and PyTorch's, a part of `make bench`.

Forwards, 1 sequence, 8 heads of 64, float32, one thread, no mask: the tiled version (`kernels.tiled`) beside product,
softmax, product, and beside `scaled_dot_product_attention` pinned to its FLASH_ATTENTION; the tiled version with a causal
mask beside itself without one. All take turns within a repetition, RUNS times; what counts is the median of the ratios.
Each is held against the reference before (`kernels.bench.correctness`). Memory is how far the peak of a fresh process
rises above the inputs (`kernels.bench.memory`). `python -m onesentence.kernels.bench` has more lengths, and the GPU.

Decoding: a decoder-only model of two layers of width 128 with a contiguous cache, beside the same without one
(`experiments.cached_decoding`, which checks that both give the same logits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bench_rows import Row, ratio_row

if TYPE_CHECKING:
    from onesentence.kernels.bench.timing import Call

    Times = Sequence[float]

LENGTHS = (4096, 8192)
RUNS = 3
OVER_NAIVE = {4096: 1.5, 8192: 2.0}
"""How many times faster than the naive version the tiled one is to be, by length."""
OVER_SDPA = 1.8
"""The most that the tiled version may take of PyTorch's time."""
CAUSAL = 0.6
"""The most that it may take with a causal mask, of its time without one."""
MEMORY = 40.0
"""How many times less memory than the naive version it is to take, at the last length."""
DECODED = {512: 5.0, 1024: 10.0}
"""How many times faster decoding is to be with a cache than without one, by number of tokens."""
_SIDES = {"naive": "naive", "sdpa": "sdpa flash", "tiled": "tiled"}


def calls(T: int, seed: int = 0) -> dict[str, Call]:
    """Return what is timed at one length: `naive`, `sdpa`, `tiled` and `tiled causal`.

    Args:
        T: length.
        seed: of the inputs.

    Raises:
        RuntimeError: one does not compute what the reference does.
    """
    import torch

    from onesentence.kernels.bench.backends import COMMON
    from onesentence.kernels.bench.correctness import bounds, computed, verdict
    from onesentence.kernels.bench.inputs import inputs_of
    from onesentence.kernels.bench.memory import memory_case

    prepare = {backend.name: backend.prepare for backend in COMMON}
    found: dict[str, Call] = {}
    for causal, names in ((False, tuple(_SIDES)), (True, ("tiled",))):
        case = replace(memory_case(T), causal=causal)
        inputs = inputs_of(case, torch.device("cpu"), seed)
        limits = bounds(case, inputs)
        for name in names:
            call = prepare[_SIDES[name]](case, inputs)
            if reason := verdict(case, computed(call, inputs), limits).reason:
                raise RuntimeError(f"{name}, T={T}: {reason}, so there is nothing to time")
            found[f"{name} causal" if causal else name] = call
    return found


def time_rows(T: int, seconds: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return the lines for the times at one length.

    Args:
        T: length.
        seconds: by what was timed, one a repetition, taken in turn.
    """

    def row(what: str, above: str, below: str, goal: float | None, least: bool = False) -> Row:
        pairs = list(zip(seconds[above], seconds[below], strict=True))
        return replace(ratio_row(f"attention, N={T}, {what}", pairs), goal=goal, least=least)

    return [
        row("naive over tiled", "naive", "tiled", OVER_NAIVE.get(T), least=True),
        row("tiled over torch", "tiled", "sdpa", OVER_SDPA),
        row("causal over full", "tiled causal", "tiled", CAUSAL),
    ]


def memory_row(T: int, naive: int, tiled: int) -> Row:
    """Return the line for the memory that both take beyond their inputs.

    Args:
        T: length.
        naive: bytes of the naive version.
        tiled: bytes of the tiled one.
    """
    note = f"{naive / 1e6:.0f} MB beside {tiled / 1e6:.1f} MB"
    return Row(f"attention, N={T}, memory, naive over tiled", naive / tiled, "", note, MEMORY, least=True)


def decoding_rows(lengths: Sequence[int], cached: Sequence[Times], again: Sequence[Times]) -> list[Row]:
    """Return the lines for decoding with and without a cache.

    Args:
        lengths: tokens that were decoded.
        cached: by length the seconds with a cache, one a repetition.
        again: the same without one, taken in turn.
    """
    rows = []
    for n, fast, slow in zip(lengths, cached, again, strict=True):
        row = ratio_row(f"decoding {n} tokens, without cache over with", list(zip(slow, fast, strict=True)))
        rows.append(replace(row, goal=DECODED.get(n), least=True))
    return rows


def measure_decoding(lengths: Sequence[int] = tuple(DECODED), runs: int = RUNS) -> list[Row]:
    """Decode with a contiguous cache and without one, in turn; return the lines of the table.

    Args:
        lengths: tokens.
        runs: repetitions.
    """
    from onesentence.experiments.cached_decoding import CachedDecoding, run

    metrics = run(CachedDecoding(lengths=tuple(lengths), repeats=runs, device="cpu")).metrics
    return decoding_rows(lengths, metrics["contiguous"][0], metrics["again"][0])


def measure(lengths: Sequence[int] = LENGTHS, runs: int = RUNS) -> list[Row]:
    """Time all in turn with one thread, and memory in processes of their own; return the lines of the table.

    Args:
        lengths: N; memory is measured at the last of them.
        runs: repetitions.

    Raises:
        RuntimeError: something computes the wrong numbers, or a process fails.
    """
    import torch

    from onesentence.kernels.bench.memory import measured, memory_case
    from onesentence.kernels.bench.timing import WallClock

    before, rows = torch.get_num_threads(), []
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            for T in lengths:
                times = WallClock().times(calls(T), runs)
                rows += time_rows(T, {name: found.seconds for name, found in times.items()})
    finally:
        torch.set_num_threads(before)
    peaks = {name: measured(name, memory_case(lengths[-1])) for name in ("naive", "tiled")}
    for name, found in peaks.items():
        if found["bytes"] is None:
            raise RuntimeError(f"memory of {name}: {found['reason']}")
    return [*rows, memory_row(lengths[-1], peaks["naive"]["bytes"], peaks["tiled"]["bytes"])]
