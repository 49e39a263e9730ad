"""Boxes and arrows: where they stand and what lies on top."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

from onesentence.plotting.shapes import arrow, box
from onesentence.plotting.style import PALETTE


def test_box_stands_in_the_middle_and_over_arrows() -> None:
    _, axes = plt.subplots()
    arrow(axes, (0.0, 0.0), (1.0, 1.0), "teal", width=2.0)
    text = box(axes, 1.0, 1.0, "他", edge="vermilion", dash="--")
    (drawn,) = (child for child in axes.texts if child is not text)
    assert text.get_position() == (1.0, 1.0)
    assert (text.get_ha(), text.get_va()) == ("center", "center")
    assert drawn.arrow_patch.get_linewidth() == 2.0
    assert text.get_zorder() > drawn.get_zorder()


def test_a_colour_that_the_palette_lacks_is_refused() -> None:
    _, axes = plt.subplots()
    assert "pink" not in PALETTE
    with pytest.raises(KeyError, match="pink"):
        box(axes, 0.0, 0.0, "他", edge="pink")
    with pytest.raises(KeyError, match="pink"):
        arrow(axes, (0.0, 0.0), (1.0, 1.0), "pink")
