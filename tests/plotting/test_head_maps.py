"""Heat maps of several heads in one figure."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from onesentence.plotting import draw_heads


def test_draw_heads_puts_each_table_where_its_title_says():
    tables = np.arange(2 * 3 * 2 * 4).reshape(2, 3, 2, 4) / 48
    figure = draw_heads(tables, ["I", "gave"], ["我", "给", "了", "。"], height=4)
    panels = {panel.get_title("left"): panel for panel in figure.axes if panel.get_title("left")}
    assert len(panels) == 6
    for layer in range(2):
        for head in range(3):
            image = panels[f"第{layer + 1}块，第{head + 1}头"].images[0]
            np.testing.assert_array_equal(image.get_array(), tables[layer, head])
            assert image.get_clim() == (0, 1)
    last = panels["第1块，第3头"]
    assert [label.get_text() for label in last.get_xticklabels()] == ["我", "给", "了", "。"]
    plt.close(figure)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (np.zeros((1, 1, 2, 3)), r"tables must have shape \(L, H, 2, 2\), got \(1, 1, 2, 3\)"),
        (np.full((1, 1, 2, 2), 1.5), r"tables must lie in \[0, 1\], got 1.5 to 1.5"),
        (np.full((1, 1, 2, 2), -0.5), r"tables must lie in \[0, 1\], got -0.5 to -0.5"),
    ],
)
def test_draw_heads_refuses(tables, message):
    with pytest.raises(ValueError, match=message):
        draw_heads(tables, ["a", "b"], ["c", "d"], height=2)
