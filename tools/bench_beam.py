"""Measure the batched beam search beside the plain loop, a part of `make bench`.

B sources, width W, the fixed-summary translator with random weights (LSTM of width H, V target words), float64 so that
both find the same texts, one thread each, in this process and in turn, RUNS times; what counts is the median of the
ratios of tokens per second. A token is one that stands in a returned text; both return the same. The plain loop calls
the model for each hypothesis of each source, the batched one once a round for all. Reading the sources is left out.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bench_rows import Row

if TYPE_CHECKING:
    from onesentence.generate.hypotheses import Found

B, WIDTH, LIMIT = 32, 4, 16
V, H = 200, 64
RUNS = 3
WHAT = f"beam search, B={B}, width {WIDTH}, tokens per second, ratio to the plain loop"
SPEED = "beam search, batched"
PLAIN = "beam search, plain loop"

Search = Callable[[], "tuple[Found, ...]"]


def searches(batch: int, width: int, limit: int, seed: int = 0) -> tuple[Search, Search]:
    """Return two functions without arguments, the batched search and the plain one.

    Args:
        batch: number of sources.
        width: of the beam.
        limit: largest number of tokens of a text.
        seed: of parameters and sources.

    Raises:
        RuntimeError: the two do not find the same texts.
    """
    from onesentence.generate.beam import beam_search, take_rows
    from onesentence.generate.beam_plain import beam_search_plain
    from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig

    config = FixedSummaryConfig(50, V, embedding=H, hidden=H, barred=(0, 1))
    model = FixedSummary.initial(config, seed=seed).double()
    start = model.start(np.random.default_rng(seed).integers(0, 50, (batch, 9)))
    alone = [take_rows(start, np.array([row])) for row in range(batch)]

    def batched() -> tuple[Found, ...]:
        bos = np.ones(batch, dtype=np.int64)
        return beam_search(model.step, start, bos=bos, eos=2, limit=limit, width=width)

    def plain() -> tuple[Found, ...]:
        settings = {"bos": 1, "eos": 2, "limit": limit, "width": width}
        return tuple(beam_search_plain(model.step, state, **settings) for state in alone)

    if [f.best.ids for f in batched()] != [f.best.ids for f in plain()]:
        raise RuntimeError("the searches find different texts: there is nothing to compare the times of")
    return batched, plain


def speed(search: Search) -> float:
    """Return tokens of the returned texts per second of one call."""
    start = time.perf_counter()
    found = search()
    seconds = time.perf_counter() - start
    return sum(len(one.best.ids) for one in found) / seconds


def measure(batch: int = B, width: int = WIDTH, limit: int = LIMIT, runs: int = RUNS) -> list[Row]:
    """Run both in turn, each with one thread; return the lines of the table."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            batched, plain = searches(batch, width, limit)
            speeds = [(speed(batched), speed(plain)) for _ in range(runs)]
    finally:
        torch.set_num_threads(before)
    ratios = [ours / other for ours, other in speeds]
    note = f"median of {runs}, {min(ratios):.1f} to {max(ratios):.1f}"
    return [
        Row(WHAT, statistics.median(ratios), "", note),
        Row(SPEED, statistics.median(ours for ours, _ in speeds), "tokens/s"),
        Row(PLAIN, statistics.median(other for _, other in speeds), "tokens/s"),
    ]
