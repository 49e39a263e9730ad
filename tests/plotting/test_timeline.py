"""The timeline."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import pytest

from onesentence.plotting import draw_timeline, use_style
from onesentence.plotting.timeline import year_of

EVENTS = [("2006", "甲"), ("2020", "乙"), ("2021", "丙"), ("2025-12-12", "丁"), ("2026-02-26", "戊")]


def test_dots_are_true_to_scale_and_names_do_not_touch() -> None:
    use_style()
    figure = draw_timeline(EVENTS)
    axes = figure.axes[0]
    dots = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "o"]
    span = year_of("2026-02-26") - year_of("2006")
    assert dots == pytest.approx([(year_of(when) - 2006) / span for when, _ in EVENTS])
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in "甲乙丙丁戊"]
    assert len(boxes) == len(EVENTS)
    for one, other in pairwise(boxes):
        assert not one.overlaps(other)
    plt.close(figure)


@pytest.mark.parametrize("when", ["2016-13-01", "today", "", "16"])
def test_other_dates_are_refused(when: str) -> None:
    with pytest.raises(ValueError, match="date: expected YYYY or YYYY-MM-DD"):
        year_of(when)


def test_events_out_of_order_and_none_are_refused() -> None:
    with pytest.raises(ValueError, match="in the order of time"):
        draw_timeline(EVENTS[::-1])
    with pytest.raises(ValueError, match="at least one"):
        draw_timeline([])
