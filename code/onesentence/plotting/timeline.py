"""A timeline: dated events on a line that is true to scale, their names beside it, apart enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from onesentence.plotting.style import PALETTE


def year_of(text: str) -> float:
    """Return a date as a year with its fraction.

    Args:
        text: `2016` or `2016-10-16`; a year alone counts as its beginning.

    Raises:
        ValueError: if it is neither.

    Example:
        >>> year_of("2016"), round(year_of("2016-07-01"), 1)
        (2016.0, 2016.5)
    """
    try:
        day = date.fromisoformat(text if "-" in text else f"{text}-01-01")
    except ValueError:
        raise ValueError(f"date: expected YYYY or YYYY-MM-DD, got {text!r}") from None
    return day.year + (day - date(day.year, 1, 1)).days / 366


def draw_timeline(events: Sequence[tuple[str, str]]) -> Figure:
    """Draw dated events from the top down.

    Args:
        events: (date, name), in the order of time; dates as `year_of` reads them.

    Returns:
        The figure, to be shown with `show`.

    Raises:
        ValueError: if there is no event, a date cannot be read, or they are out of order.
    """
    years = [year_of(when) for when, _ in events]
    if not years or years != sorted(years):
        raise ValueError(f"events: expected at least one, in the order of time, got {[d for d, _ in events]}")
    span = max(years[-1] - years[0], 1.0)
    gap = 1.15 / max(len(events), 2)
    spots = [(year - years[0]) / span for year in years]
    places = list(spots)
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + gap)
    figure, axes = plt.subplots(figsize=(4.8, 0.42 * len(events) + 0.9))
    axes.plot([0, 0], [0, 1], color=PALETTE["grey"], linewidth=1.4, zorder=1)
    for (when, name), spot, place in zip(events, spots, places, strict=True):
        axes.plot([0.02, 0.16], [spot, place], color=PALETTE["grey"], linewidth=0.8, zorder=1)
        axes.plot(0, spot, "o", color=PALETTE["vermilion"], markersize=6, zorder=2)
        axes.text(0.19, place, when, va="center", fontsize=11, color=PALETTE["teal"])
        axes.text(0.52, place, name, va="center", fontsize=11, color=PALETTE["ink"])
    axes.set_xlim(-0.06, 1.2)
    axes.set_ylim(max(places[-1], 1) + 0.06, -0.06)
    axes.axis("off")
    return figure
