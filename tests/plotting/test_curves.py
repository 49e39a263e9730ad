"""Lines over one axis: all drawn, told apart, refused where they do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from onesentence.plotting import curves


def test_curves_draws_each_line_with_its_own_look() -> None:
    figure, axes = plt.subplots()
    curves(axes, [1, 2], {name: [i, i + 1] for i, name in enumerate("abcdef")})
    drawn = axes.get_lines()
    assert [line.get_label() for line in drawn] == list("abcdef")
    np.testing.assert_array_equal(drawn[2].get_ydata(), [2, 3])
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in drawn}) == 6
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn}) == 6  # without colour too
    plt.close(figure)


def test_curves_without_markers() -> None:
    figure, axes = plt.subplots()
    curves(axes, [1, 2], {"a": [1, 2]}, markers=False)
    assert axes.get_lines()[0].get_marker() in ("None", None, "")
    plt.close(figure)


def test_curves_refuses_what_does_not_fit() -> None:
    figure, axes = plt.subplots()
    with pytest.raises(ValueError, match=r"'a' has shape \(3,\), x has \(2,\)"):
        curves(axes, [1, 2], {"a": [1, 2, 3]})
    with pytest.raises(ValueError, match="expected 1 to 6, got 0"):
        curves(axes, [1, 2], {})
    plt.close(figure)
