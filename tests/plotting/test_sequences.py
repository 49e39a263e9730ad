"""Rows of token tiles."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from onesentence.plotting import PALETTE, draw_sequences

ROWS = [("钥匙", "放进", "红", "盒子"), ("钥匙", "放进", "蓝", "盒子")]


def test_exactly_the_places_that_differ_are_filled() -> None:
    axes = draw_sequences(ROWS, ["红", "蓝"]).axes[0]
    filled = [to_hex(patch.get_facecolor()) == PALETTE["vermilion"] for patch in axes.patches]
    assert filled == [False, False, True, False] * 2
    assert [text.get_text() for text in axes.texts] == [*ROWS[0], "→ 红", *ROWS[1], "→ 蓝"]


def test_tokens_stand_inside_their_tiles_and_tiles_apart() -> None:
    figure = draw_sequences([("a", "长一些", "b"), ("长一点的", "x", "b")])
    figure.canvas.draw()
    axes = figure.axes[0]
    boxes = [patch.get_window_extent() for patch in axes.patches]
    for box, text in zip(boxes, axes.texts, strict=True):
        inner = text.get_window_extent()
        assert box.x0 <= inner.x0
        assert inner.x1 <= box.x1
    assert all(boxes[i].x1 < boxes[i + 1].x0 for i in (0, 1, 3, 4))


@pytest.mark.parametrize(
    ("rows", "ends", "message"),
    [
        ([], (), "rows: expected sequences of one length"),
        ([()], (), "at least 1"),
        ([("a",), ("a", "b")], (), r"got \[1, 2\]"),
        ([("a",)], ("x", "y"), "ends: expected 1, one for each row, got 2"),
    ],
)
def test_draw_sequences_refuses(rows, ends, message) -> None:
    with pytest.raises(ValueError, match=message):
        draw_sequences(rows, ends)
