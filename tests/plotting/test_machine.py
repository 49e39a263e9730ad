"""The whole translator drawn once."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyBboxPatch

from onesentence import plotting


def test_draw_translator_has_two_and_three_sublayers_each_with_its_norm() -> None:
    figure = plotting.draw_translator(
        "我", "BOS", "I", layers=(3, 4), shapes=("（1, C）", "（1, D）", "（1, V）")
    )
    axes = figure.axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("前馈层") == 2
    assert [texts.count(name) for name in ("自注意力", "因果自注意力", "交叉注意力")] == [1, 1, 1]
    assert texts.count("相加，归一化") == 5
    assert {"我", "BOS", "I", "×3", "×4", "记忆（1, C）", "（1, D）", "输出矩阵（1, V）", "K、V", "Q"} <= set(
        texts
    )
    assert len([patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]) == 2
    assert figure.get_size_inches()[0] <= 4.8


def test_draw_translator_no_tiles_touch() -> None:
    figure = plotting.draw_translator(
        "我/昨天/给/了/他\n/一/本/书/。", "BOS I gave\nhim a", "book", layers=(2, 2)
    )
    figure.canvas.draw()
    tiles = [text.get_window_extent() for text in figure.axes[0].texts if text.get_bbox_patch()]
    assert not any(a.overlaps(b) for i, a in enumerate(tiles) for b in tiles[:i])


def test_draw_translator_refuses() -> None:
    with pytest.raises(ValueError, match="source, target, predicted must not be empty, got '', 'BOS', 'I'"):
        plotting.draw_translator("", "BOS", "I", layers=(1, 1))
    with pytest.raises(ValueError, match=r"layers: expected at least 1 block on each side, got \(1, 0\)"):
        plotting.draw_translator("我", "BOS", "I", layers=(1, 0))
