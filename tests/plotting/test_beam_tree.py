"""The picture of a search: lines by fate, the returned path filled, input that is no tree."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from onesentence import plotting
from onesentence.plotting.beam_tree import BeamNode
from onesentence.plotting.figure import to_svg
from onesentence.plotting.style import PALETTE

NODES = [
    BeamNode(("A",), "0.6", "kept"),
    BeamNode(("A", "EOS"), "0.3", "ended"),
    BeamNode(("A", "a"), "0.3", "pruned"),
    BeamNode(("A", "a", "EOS"), "0.3", "unseen"),
    BeamNode(("B",), "0.4", "pruned"),
]


def drawn(nodes=NODES, **changes):
    figure, axes = plt.subplots(figsize=(4.8, 3))
    plotting.draw_beam_tree(axes, nodes, **changes)
    return figure, axes


def test_draw_beam_tree_tells_fates_apart_by_line_style():
    _, axes = drawn()
    styles = [line.get_linestyle() for line in axes.lines][: len(NODES)]
    assert styles == ["-", "-", "--", "--", "--"]  # matplotlib names all dash patterns so
    patterns = {node.fate: line._unscaled_dash_pattern for node, line in zip(NODES, axes.lines, strict=False)}
    assert len({str(patterns[fate]) for fate in ("kept", "pruned", "unseen")}) == 3


def test_draw_beam_tree_fills_the_returned_path_only():
    _, axes = drawn(best=("A", "EOS"))
    boxes = {
        text.get_text(): to_hex(text.get_bbox_patch().get_facecolor())
        for text in axes.texts
        if text.get_bbox_patch()
    }
    assert boxes.pop("EOS 0.3") in (PALETTE["teal"], "#ffffff")
    filled = [
        t
        for t in axes.texts
        if t.get_bbox_patch() and to_hex(t.get_bbox_patch().get_facecolor()) == PALETTE["teal"]
    ]
    assert [t.get_position() for t in filled] == [(2, 0.0)]


def test_draw_beam_tree_puts_rounds_in_columns_and_leaves_in_rows():
    figure, axes = drawn()
    spots = {t.get_text(): t.get_position() for t in axes.texts}
    assert spots["A 0.6"][0] == 1
    assert spots["a 0.3"][0] == 2
    assert spots["B 0.4"] == (1, -2.0)
    assert [t.get_text() for t in axes.texts if t.get_text().startswith("第")] == ["第1轮", "第2轮", "第3轮"]
    assert [t.get_text() for t in axes.get_legend().texts] == ["保留", "已结束", "被剪掉", "没有展开到"]
    assert to_svg(figure).startswith("<svg")


@pytest.mark.parametrize(
    ("nodes", "best", "message"),
    [
        ([], (), "nodes: expected at least one, got none"),
        (
            [BeamNode(("A",), "", "lost")],
            (),
            "nodes: fate must be one of kept, ended, pruned, unseen, got 'lost'",
        ),
        ([NODES[0], NODES[0]], (), r"nodes: paths must be different and not empty, got \('A',\)"),
        ([BeamNode((), "", "kept")], (), "nodes: paths must be different and not empty"),
        ([NODES[1]], (), r"nodes: \('A', 'EOS'\) stands before the path that it continues"),
        (NODES, ("C",), r"best: expected one of the paths, got \('C',\)"),
    ],
)
def test_draw_beam_tree_refuses(nodes, best, message):
    with pytest.raises(ValueError, match=message):
        drawn(nodes, best=best)
