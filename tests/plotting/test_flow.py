"""Matrices computed one from another."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from onesentence.plotting import draw_flow, flow_height
from onesentence.plotting.style import SEQUENTIAL

ONE, TWO = [[1.0], [-0.25]], [[0.125, 0.875], [0.5, -0.001]]
LEVELS = {"甲": ONE, "乙": [TWO, TWO], "丙": [ONE, ONE], "丁": TWO}
NAMES, PARTS = ["我", "书"], ["头1", "头2"]


def drawn(levels, **more):
    figure, axes = plt.subplots()
    draw_flow(axes, NAMES, levels, **more)
    plt.close(figure)
    return axes


def test_draw_flow_writes_every_number_with_its_row_and_label():
    texts = [t.get_text() for t in drawn(LEVELS, parts=PARTS, skips={"甲": "丁"}).texts]
    assert texts.count("我") == texts.count("书") == 6
    assert {"甲", "头1　乙", "头2　乙", "头1　丙", "丁", "+"} <= set(texts)
    assert texts.count("−0.25") == 3
    assert texts.count("0.00") == 3, "a rounded zero has no sign"
    assert texts.count("0.88") == 3


def test_draw_flow_joins_every_level_to_the_next_and_pairs_straight_down():
    arrows = [t for t in drawn(LEVELS, parts=PARTS).texts if not t.get_text()]
    assert len(arrows) == 2 + 2 + 2
    assert sorted(a.xy[0] == a.xyann[0] for a in arrows) == [False] * 4 + [True] * 2


def test_draw_flow_shades_weights_only():
    axes = drawn({"乙": TWO, "丁": TWO}, shaded=["乙"])
    grounds = [patch.get_facecolor() for patch in axes.patches]
    assert len(set(grounds[:4])) == 4
    assert grounds[:4] == [SEQUENTIAL(value) for row in TWO for value in row]
    assert len(set(grounds[4:])) == 1


def test_flow_height_grows_with_rows_and_levels():
    assert flow_height(LEVELS) == 4 * flow_height({"甲": ONE})
    one, two, three = (flow_height({"甲": ONE * n}) for n in (1, 2, 3))
    assert one < two
    assert three - two == two - one


BAD = [
    ({"甲": [[1.0]]}, {}, r"'甲' must have shape \(2, 2, columns\) or \(2, columns\), got \(1, 1\)"),
    ({"甲": [TWO] * 3}, {"parts": PARTS}, r"'甲' must have shape .*, got \(3, 2, 2\)"),
    (LEVELS, {"parts": ["头"]}, "parts: '乙' is a pair, so two names are needed, got 1"),
    (LEVELS, {"parts": PARTS, "shaded": ["戊"]}, "no level is called '戊'; there are 甲, 乙, 丙, 丁"),
    (LEVELS, {"parts": PARTS, "skips": {"丁": "甲"}}, "skips: '丁' to '甲' must go down"),
    (LEVELS, {"parts": PARTS, "skips": {"甲": "乙"}}, "'甲' to '乙' must go down from one single matrix"),
]


@pytest.mark.parametrize(("levels", "more", "message"), BAD)
def test_draw_flow_refuses(levels, more, message):
    with pytest.raises(ValueError, match=message):
        drawn(levels, **more)
