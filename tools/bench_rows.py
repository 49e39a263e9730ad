"""A line of the benchmarks' table, and what several of them are made with."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        what: what was measured.
        value: the figure.
        unit: its unit, empty for a ratio or a score.
        note: what else belongs to it.
        goal: the most that it should be (the least, where `least` holds); None where there is no goal.
        least: the goal is a lower bound.
    """

    what: str
    value: float
    unit: str = ""
    note: str = ""
    goal: float | None = None
    least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the goal is met, None where there is none."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.least else self.value <= self.goal


def seconds(step: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def ratio_row(what: str, pairs: Sequence[tuple[float, float]]) -> Row:
    """Return the line for several runs.

    Args:
        what: what was measured.
        pairs: seconds of ours and of theirs, run by run.

    Raises:
        ValueError: there is no run.
    """
    if not pairs:
        raise ValueError("pairs: expected at least one run, got none")
    ratios = [mine / other for mine, other in pairs]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    note = f"{medians[0]:.2f} s beside {medians[1]:.2f} s; median of {len(pairs)}"
    return Row(what, statistics.median(ratios), "", f"{note}, {min(ratios):.1f} to {max(ratios):.1f}")
