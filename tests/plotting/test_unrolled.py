"""The unrolled chain."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from onesentence.plotting import draw_unrolled, use_style


def test_boxes_stand_where_they_are_read_and_do_not_touch() -> None:
    use_style()
    figure, axes = plt.subplots(figsize=(4.8, 1.8), layout="constrained")
    states = [f"h{t}" for t in range(1, 10)]
    draw_unrolled(
        axes,
        list("我昨给了他一本书。"),
        states,
        outputs=["", *"甲乙丙丁戊己庚辛"],
        start="h0",
        dashed=[8, -1],
    )
    places = {text.get_text(): text.get_position() for text in axes.texts if text.get_text()}
    assert places["h0"] == (-1, 1)
    assert places["书"] == (7, 0)
    assert places["h8"] == (7, 1)
    assert places["庚"] == (7, 2)
    assert len(places) == 1 + 9 + 9 + 8
    dashes = [
        t.get_text()
        for t in axes.texts
        if t.get_text() and t.get_bbox_patch().get_linestyle() not in ("-", "solid")
    ]
    assert dashes == ["h0", "h9"]
    figure.canvas.draw()
    boxes = [t.get_bbox_patch().get_window_extent() for t in axes.texts if t.get_text()]
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])
    plt.close(figure)


def test_arrows_are_as_many_as_there_are_dependencies() -> None:
    _, axes = plt.subplots()
    draw_unrolled(axes, ["a", ""], ["h1", "h2"], outputs=["", "y"])
    arrows = [text for text in axes.texts if not text.get_text()]
    assert len(arrows) == 1 + 1 + 1  # one input, one step, one output; nothing before the first state
    begun = plt.figure().subplots()
    draw_unrolled(begun, ["a", ""], ["h1", "h2"], start="h0")
    assert len([text for text in begun.texts if not text.get_text()]) == 1 + 2  # one input, two steps
    plt.close("all")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": [], "inputs": []}, "states: expected at least one"),
        ({"inputs": ["a"]}, "got 2 states, 1 inputs, 0 outputs"),
        ({"outputs": ["y"]}, "got 2 states, 2 inputs, 1 outputs"),
        ({"dashed": [2]}, r"dashed: positions must lie in \[0, 2\), got \[2\]"),
    ],
)
def test_refuses(change, message) -> None:
    figure, axes = plt.subplots()
    with pytest.raises(ValueError, match=message):
        draw_unrolled(axes, **{"inputs": ["a", "b"], "states": ["h1", "h2"], **change})
    plt.close(figure)
