"""Clocks and what they give: repeats, warm-up, median and quartiles.

On a CPU the clock is wall time, and backends take turns within a repetition, so that a slow moment of the machine falls on
all of them. On CUDA it is the device's own: an event before and one after each call. Between calls a buffer of twice the L2
is written, so that no call finds its inputs there, and so often that the host, which needs time of its own to launch a
call, is ahead of the device: what lies between two events is then the device's time alone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

import torch

from onesentence.checks import checked_integer

Call = Callable[[], Any]
LEAST_REPEATS, MOST_REPEATS = 5, 50
SECONDS_EACH = 0.3
"""What repeating one call on CUDA may take, roughly."""
MOST_FLUSHES = 400


@dataclass(frozen=True)
class Times:
    """Seconds of one call's repetitions, in the order in which they were taken.

    Attributes:
        seconds: one a repetition.

    Example:
        >>> Times((4.0, 1.0, 2.0, 3.0, 5.0)).summary()
        {'median': 3.0, 'quartiles': [2.0, 4.0], 'min': 1.0}
    """

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds:
            raise ValueError("seconds: expected at least one repetition, got none")
        if min(self.seconds) <= 0:
            raise ValueError(f"seconds must be positive, got {min(self.seconds)}")

    @property
    def median(self) -> float:
        """Seconds of the repetition in the middle."""
        return statistics.median(self.seconds)

    def summary(self) -> dict[str, Any]:
        """Return median, first and third quartile (both ends counted in) and the smallest."""
        low, high = self.median, self.median
        if len(self.seconds) > 1:
            low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return {"median": self.median, "quartiles": [low, high], "min": min(self.seconds)}


class Clock(Protocol):
    """How calls are timed on one kind of device."""

    def times(self, calls: Mapping[str, Call], repeats: int | None) -> dict[str, Times]:
        """Return the times of each call, by name; `repeats` of None leaves their number to the clock."""


@dataclass(frozen=True)
class WallClock:
    """Wall time, the calls taking turns; for a CPU.

    Attributes:
        warmup: calls of each before the first that counts.
    """

    warmup: int = 1

    def times(self, calls: Mapping[str, Call], repeats: int | None = None) -> dict[str, Times]:
        """Return the times of each call; five repetitions unless told otherwise."""
        count = checked_integer("repeats", LEAST_REPEATS if repeats is None else repeats, 1)
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for turn in range(self.warmup + count):
            for name, call in calls.items():
                start = time.perf_counter()
                call()
                seconds = time.perf_counter() - start
                if turn >= self.warmup:
                    taken[name].append(seconds)
        return {name: Times(tuple(seconds)) for name, seconds in taken.items()}


def flush_bytes(properties: Any) -> int:
    """Return how large a buffer is written between two calls: twice the device's L2, at least 64 MiB.

    Args:
        properties: what `torch.cuda.get_device_properties` gives; its `L2_cache_size` is in bytes.
    """
    return max(2 * int(getattr(properties, "L2_cache_size", 0)), 64 * 2**20)


def flushes_ahead(host: float, flush: float) -> int:
    """Return how often the buffer is written before a call, so that the host can launch it in the meantime.

    Args:
        host: seconds that the host needs for the call.
        flush: seconds that the device needs to write the buffer once.

    Example:
        >>> flushes_ahead(host=100e-6, flush=50e-6), flushes_ahead(host=0, flush=50e-6)
        (4, 1)
    """
    return min(max(ceil(2 * host / flush), 1), MOST_FLUSHES)


def repeats_for(seconds: float) -> int:
    """Return how often a call is repeated on CUDA, given what one takes.

    Example:
        >>> repeats_for(1e-4), repeats_for(0.03), repeats_for(2.0)
        (50, 10, 5)
    """
    return min(max(round(SECONDS_EACH / max(seconds, 1e-6)), LEAST_REPEATS), MOST_REPEATS)


class CudaClock:
    """Time of the device between two events, the L2 flushed before each call; one call after the other."""

    def __init__(self, device: torch.device) -> None:
        size = flush_bytes(torch.cuda.get_device_properties(device))
        self.buffer = torch.empty(size, dtype=torch.uint8, device=device)
        self._events(self.buffer.zero_, 3, 0)
        self.flush = statistics.median(self._events(self.buffer.zero_, 10, 0))

    def _events(self, call: Call, repeats: int, flushes: int) -> list[float]:
        """Return the seconds that the device took for each of some calls."""
        pairs = []
        for _ in range(repeats):
            for _ in range(flushes):
                self.buffer.zero_()
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]
            pair[0].record()
            call()
            pair[1].record()
            pairs.append(pair)
        torch.cuda.synchronize()
        return [start.elapsed_time(end) / 1000 for start, end in pairs]  # elapsed_time is in milliseconds

    def times(self, calls: Mapping[str, Call], repeats: int | None = None) -> dict[str, Times]:
        """Return the times of each call; their number follows from what one takes unless told otherwise."""
        return {name: self._times(call, repeats) for name, call in calls.items()}

    def _times(self, call: Call, repeats: int | None) -> Times:
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        host = time.perf_counter() - start
        torch.cuda.synchronize()
        one = statistics.median(self._events(call, 3, 1))
        count = repeats_for(one) if repeats is None else checked_integer("repeats", repeats, 1)
        return Times(tuple(self._events(call, count, flushes_ahead(host, self.flush))))


def clock_of(device: torch.device) -> Clock:
    """Return the clock of a device."""
    return CudaClock(device) if device.type == "cuda" else WallClock()


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return ratios of times taken in turn, repetition by repetition.

    Raises:
        ValueError: if there are not as many of one as of the other.

    Example:
        >>> ratios([3.0, 4.0], [1.5, 1.0])
        [2.0, 4.0]
    """
    return [one / other for one, other in zip(above, below, strict=True)]
