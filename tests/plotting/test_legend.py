"""A legend whose marks lie where no value can lie."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

from onesentence import plotting


def test_legend_lies_outside_every_axes() -> None:
    figure, panels = plt.subplots(2, figsize=(4.8, 3), layout="constrained")
    for panel in panels:
        plotting.dots(panel, {"正序": [[0.1, 0.2]], "倒序": [[0.5, 1.0]]}, ["甲"])
        panel.set_xlabel("比例")
    plotting.legend(panels[0])
    figure.canvas.draw()
    (box,) = (each.get_window_extent() for each in figure.legends)
    assert all(panel.get_legend() is None for panel in panels)
    assert not any(box.overlaps(panel.get_tightbbox()) for panel in panels)
    assert figure.bbox.y0 <= box.y0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["正序", "倒序"]


def test_plane_keeps_its_legend_off_the_values() -> None:
    figure, axes = plt.subplots(layout="constrained")
    plotting.plane(axes, [[0, 0], [1, 1]], {"基线": (0.5, 0.5), "改值": (1, 1)}, names=["甲", "乙"])
    figure.canvas.draw()
    assert not figure.legends[0].get_window_extent().overlaps(axes.get_tightbbox())


@pytest.mark.parametrize(
    ("layout", "label", "columns", "message"),
    [
        ("constrained", None, 3, "axes: expected labelled marks"),
        ("constrained", "甲", 0, "columns: expected at least 1, got 0"),
        (None, "甲", 3, 'axes: expected a figure with layout="constrained"'),
    ],
)
def test_legend_refuses(layout, label, columns, message) -> None:
    _, axes = plt.subplots(layout=layout)
    axes.plot([0, 1], [0, 1], "o", label=label)
    with pytest.raises(ValueError, match=message):
        plotting.legend(axes, columns=columns)
