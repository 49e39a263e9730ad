"""Boolean matrices as squares."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from onesentence.plotting import visible


def test_visible_draws_a_square_where_true_and_a_dot_elsewhere():
    figure, axes = plt.subplots()
    visible(axes, np.tri(3, dtype=bool), ["a", "b", "c"], ["1", "2", "3"])
    squares = {tuple(np.round(patch.get_center()).astype(int)) for patch in axes.patches}
    assert squares == {(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)}  # (column, row)
    dots = {(int(line.get_xdata()[0]), int(line.get_ydata()[0])) for line in axes.lines}
    assert dots == {(1, 0), (2, 0), (2, 1)}
    assert axes.yaxis_inverted()
    plt.close(figure)


def test_visible_refuses():
    figure, axes = plt.subplots()
    with pytest.raises(TypeError, match="matrix must be boolean, got dtype float64"):
        visible(axes, np.eye(2), ["a", "b"], ["1", "2"])
    with pytest.raises(ValueError, match=r"shape \(2, 2\) does not fit 2 rows and 1 columns"):
        visible(axes, np.eye(2, dtype=bool), ["a", "b"], ["1"])
    plt.close(figure)
