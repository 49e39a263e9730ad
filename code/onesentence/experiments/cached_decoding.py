"""How long a decoder-only model takes for n tokens, one after the other: with each kind of cache, and without one.

    <cache>     n calls of `extend` with one token each, the cache made anew each time
    again       n passes over 1, 2, ..., n tokens, of each of which only the last logits are wanted

The tokens are given, so all ways compute the same logits; that is checked before the clock starts. A pass of `again` is
`CausalLM.forward` without gradients: the same layers, and PyTorch's fused attention in causal order, which leaves out what
no query reads. It computes the logits of all positions; with the 128 symbols of `MODEL` these are a twenty-fifth of all
products with weights, so at most that much of its time is for nothing.

All n passes of `again` would take longer than everything else together, so some are timed and stand for those around them:
n is cut into `sampled` equal stretches, and the pass in the middle of each, its length in the metric `again_lengths`, counts
as often as the stretch is long. Times are of this machine and this run, one thread on a CPU, so the record is not kept. The
ways take turns within each repetition, so that a slow moment falls on all of them.

The window cache belongs to a model that reads no further back; its weights are the same, and its logits are checked against
that model's own pass. It is held against `again` of the model that reads all. Sections 7.1 to 7.4 of the course.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

import torch
from torch import Tensor

from onesentence.cache.base import KVCache
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache
from onesentence.cache.window import WindowCache
from onesentence.checks import checked_integer
from onesentence.evidence.records import Record, versions_of
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM

CACHES = ("contiguous", "growing", "paged", "window")

MODEL = CausalConfig(128, d_model=128, n_head=4, d_ff=512)
"""Two layers of width 128."""

TOLERANCE = 1e-4
"""Largest difference of float32 logits, which are around 1, that summing in another order is believed to make."""


@dataclass(frozen=True)
class CachedDecoding:
    """What is timed.

    Attributes:
        model: sizes and design, without a window.
        lengths: tokens that are decoded.
        repeats: how often each way is timed at each length.
        sampled: passes of `again` that are timed at each length; a length of no more tokens has all of them timed.
        page_size: of the paged cache, tokens.
        window: of the window cache, tokens.
        seed: of parameters and tokens.
        device: as PyTorch names it; None means CUDA where there is some.
    """

    model: CausalConfig = MODEL
    lengths: tuple[int, ...] = (128, 256, 512, 1024)
    repeats: int = 3
    sampled: int = 32
    page_size: int = 16
    window: int = 128
    seed: int = 0
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("repeats", "sampled", "page_size", "window"):
            checked_integer(name, getattr(self, name), 1)
        for length in self.lengths:
            checked_integer("lengths", length, 1)
        if not self.lengths:
            raise ValueError("lengths: expected at least one, got none")
        if not isinstance(self.model, CausalConfig):
            raise TypeError(f"model must be a CausalConfig, got {type(self.model).__name__}")
        if self.model.window is not None:
            raise ValueError(f"model must have no window of its own, got {self.model.window}")


def stretches(n: int, sampled: int) -> list[tuple[int, int]]:
    """Return which passes of 1 to n tokens are timed, and how many each stands for.

    Args:
        n: tokens.
        sampled: number of stretches.

    Returns:
        Pairs (length of the pass, passes in its stretch), by length.

    Example:
        >>> stretches(8, 2), stretches(2, 5)
        ([(3, 4), (7, 4)], [(1, 1), (2, 1)])
    """
    ends = [n * i // min(sampled, n) for i in range(min(sampled, n) + 1)]
    return [((a + b) // 2 + 1, b - a) for a, b in itertools.pairwise(ends)]


def cached(model: CausalLM, cache: KVCache, ids: Tensor) -> Tensor:
    """Return the logits (1, T, V) of tokens that are read one by one."""
    return torch.cat([model.extend(ids[:, t : t + 1], cache) for t in range(ids.shape[1])], dim=1)


def made(name: str, model: CausalLM, n: int, config: CachedDecoding) -> KVCache:
    """Return an empty cache of a kind for n tokens of one row."""
    sizes = model.cache_sizes(rows=1)
    if name == "contiguous":
        return ContiguousCache(sizes, capacity=n)
    if name == "growing":
        return GrowingCache(sizes)
    if name == "paged":
        return PagedCache(sizes, page_count=-(-n // config.page_size), page_size=config.page_size)
    return WindowCache(sizes, config.window)


@torch.no_grad()
def run(config: CachedDecoding) -> Record:
    """Time every way.

    Args:
        config: what is timed.

    Returns:
        One list for the one seed, with an entry per length. `again` and each cache's name: seconds for all n tokens, one per
        repetition. `again_lengths`: passes that were timed. Per cache `<name>_payload_bytes`, `<name>_allocated_bytes` after
        n tokens and `<name>_difference`, the largest one of its logits to those of one pass over all tokens.

    Raises:
        RuntimeError: if a cache gives other logits.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        metrics, device = _timed(config)
    finally:
        torch.set_num_threads(threads)
    return Record(
        name="cached_decoding",
        identity="measured",
        config=dataclasses.asdict(config),
        seeds=(config.seed,),
        metrics={name: [values] for name, values in metrics.items()},
        device=device,
        versions=versions_of("torch"),
    )


def speed_ups(record: Record) -> dict[str, list[float]]:
    """Return by cache how many times faster than `again` it is at each length, from medians of repetitions.

    Args:
        record: of `run`.
    """
    middle = {way: [median(times) for times in record.metrics[way][0]] for way in ("again", *CACHES)}
    return {
        way: [slow / fast for slow, fast in zip(middle["again"], middle[way], strict=True)] for way in CACHES
    }


def _timed(config: CachedDecoding) -> tuple[dict[str, list[object]], str]:
    device = torch.device(config.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    model = CausalLM.initial(config.model, seed=config.seed).eval().to(device)
    narrow = CausalLM(dataclasses.replace(config.model, window=config.window)).eval().to(device)
    narrow.load_state_dict(model.state_dict())
    models = {name: narrow if name == "window" else model for name in CACHES}
    generator = torch.Generator().manual_seed(config.seed)
    metrics: dict[str, list[object]] = {}
    for n in config.lengths:
        ids = torch.randint(config.model.vocabulary, (1, n), generator=generator).to(device)
        values: dict[str, object] = {"again_lengths": [length for length, _ in stretches(n, config.sampled)]}
        for name in CACHES:
            values |= {f"{name}_{key}": v for key, v in _checked(name, models[name], ids, config).items()}
        values |= _all_ways(models, ids, config)
        for key, value in values.items():
            metrics.setdefault(key, []).append(value)
    return metrics, device.type


def _all_ways(models: dict[str, CausalLM], ids: Tensor, config: CachedDecoding) -> dict[str, list[float]]:
    """Return the seconds of each way, one per repetition."""
    n, passes = ids.shape[1], stretches(ids.shape[1], config.sampled)

    def one_by_one(name: str) -> float:
        cache = made(name, models[name], n, config)
        return _seconds(ids.device, lambda: cached(models[name], cache, ids))

    def again() -> float:
        whole = models["contiguous"]
        return sum(count * _seconds(ids.device, partial(whole, ids[:, :length])) for length, count in passes)

    again()  # once before, for what PyTorch sets up at first
    seconds: dict[str, list[float]] = {way: [] for way in (*CACHES, "again")}
    for _ in range(config.repeats):
        for name in CACHES:
            seconds[name].append(one_by_one(name))
        seconds["again"].append(again())
    return seconds


def _seconds(device: torch.device, call: Callable[[], Tensor]) -> float:
    """Return how long a call takes, what it has asked of a device among it."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    before = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - before


def _checked(name: str, model: CausalLM, ids: Tensor, config: CachedDecoding) -> dict[str, float]:
    """Return sizes of a cache after all tokens, and how far its logits are from those of one pass."""
    cache = made(name, model, ids.shape[1], config)
    difference = float((cached(model, cache, ids) - model(ids)).abs().max())
    if not difference <= TOLERANCE:
        raise RuntimeError(f"{name}: logits differ from those of one pass by {difference}")
    return {
        "difference": difference,
        "payload_bytes": cache.payload_bytes,
        "allocated_bytes": cache.allocated_bytes,
    }
