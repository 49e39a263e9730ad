"""The unrolled network."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Annotation

from onesentence.plotting import draw_ways_back, use_style


def test_every_step_has_its_texts_and_arrows_and_no_tiles_touch() -> None:
    use_style()
    figure = draw_ways_back(["BOS", "甲", "乙"], ["甲", "乙", "丙"], own="己", later="后")
    axes = figure.axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("$W_h$") == 3
    assert {"$h_0$", "$h_{3}$", "$\\ell_{1}$", "BOS", "丙"} <= set(texts)
    arrows = [text for text in axes.texts if isinstance(text, Annotation)]
    dashed = [text for text in arrows if text.arrow_patch.get_linestyle() not in ("-", "solid")]
    assert (len(arrows), len(dashed)) == (5 * 3, 3)
    assert all(text.xy[0] < text.xyann[0] for text in dashed)  # back in time
    figure.canvas.draw()
    tiles = [text.get_window_extent() for text in axes.texts if text.get_bbox_patch()]
    assert not any(a.overlaps(b) for i, a in enumerate(tiles) for b in tiles[:i])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["己", "后"]
    plt.close(figure)


def test_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="predicted must have one text per step, got 1 and 2"):
        draw_ways_back(["a"], ["a", "b"], own="", later="")
    with pytest.raises(ValueError, match="predicted must have one text per step, got 0 and 0"):
        draw_ways_back([], [], own="", later="")
