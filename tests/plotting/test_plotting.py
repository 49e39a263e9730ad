"""Figures and tables: the same bytes every time, no glyph missing, wrong input named."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from onesentence import plotting
from onesentence.plotting.figure import MissingGlyphError, to_svg
from onesentence.plotting.style import FONTS, PALETTE
from onesentence.sentence.structure import giving_roles, giving_tree


def figure_with(text: str):
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.set_title(text)
    axes.plot([-1, 1], [-2, 2])
    return figure


def test_chinese_and_minus_signs_are_drawn() -> None:
    svg = to_svg(figure_with("我昨天给了他一本书。αβ −1 ≤ √2 → ₁"))
    assert svg.startswith("<svg")
    assert "<text" not in svg


@pytest.mark.parametrize("char", ["𓀀", "\U0002a6d6"])
def test_missing_glyph_is_named(char: str) -> None:
    with pytest.raises(MissingGlyphError, match=f"no glyph for .* \\(U\\+{ord(char):04X}\\)"):
        to_svg(figure_with(char))


def test_same_figure_gives_the_same_bytes() -> None:
    assert to_svg(figure_with("书")) == to_svg(figure_with("书"))


def test_font_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr("onesentence.plotting.style.FONTS", tmp_path)
    with pytest.raises(FileNotFoundError, match="run `make vendor`"):
        plotting.use_style()
    assert FONTS.is_dir()


def test_importing_changes_no_setting() -> None:
    import subprocess
    import sys

    code = (
        "import matplotlib; before = dict(matplotlib.rcParams); import onesentence.plotting;"
        "print(before == dict(matplotlib.rcParams))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "True\n"
    )


def test_heatmap_prints_values_and_keeps_its_limits() -> None:
    _, axes = plt.subplots()
    image = plotting.heatmap(axes, [[0.25, 0.75]], ["q"], ["他", "书"])
    assert image.get_clim() == (0.0, 1.0)
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.75"]
    with pytest.raises(ValueError, match=r"shape \(1, 2\) does not fit 1 rows and 3 columns"):
        plotting.heatmap(axes, [[0.25, 0.75]], ["q"], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"values reach from 0\.25 to 1\.5, outside 0 to 1"):
        plotting.heatmap(axes, [[0.25, 1.5]], ["q"], ["a", "b"])


def test_bars_start_at_zero_and_refuse_negatives() -> None:
    _, axes = plt.subplots()
    plotting.bars(axes, {"甲": [0.2, 0.8], "乙": [0.5, 0.5]}, ["x", "y"])
    assert axes.get_xlim()[0] == 0
    assert len(axes.patches) == 4
    with pytest.raises(ValueError, match=r"'甲' has a negative value -0\.2"):
        plotting.bars(axes, {"甲": [-0.2]}, ["x"])
    with pytest.raises(ValueError, match=r"'甲' has shape \(1,\), expected \(2,\)"):
        plotting.bars(axes, {"甲": [0.2]}, ["x", "y"])


def test_plane_draws_values_points_and_names() -> None:
    figure, axes = plt.subplots(layout="constrained")
    plotting.plane(axes, np.eye(2), {"基线": (0.5, 0.5)}, names=["甲", "乙"], after=2 * np.eye(2))
    assert [t.get_text() for t in axes.texts] == ["甲", "乙"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["基线"]
    with pytest.raises(ValueError, match="at most 4, got 5"):
        plotting.plane(axes, np.eye(2), {str(i): (0, 0) for i in range(5)}, names=["甲", "乙"])


def test_tree_and_roles_show_every_word() -> None:
    tree = plotting.draw_tree(giving_tree(), lit=["名词短语"])
    words = [text.get_text() for text in tree.axes[0].texts]
    assert [w for w in words if w in "我昨天给了他一本书。"] == list(giving_tree().leaves())
    lit = [t.get_text() for t in tree.axes[0].texts if t.get_color() == PALETTE["vermilion"]]
    assert lit == ["名词短语"]
    roles = giving_roles()
    drawn = {text.get_text() for text in plotting.draw_roles(roles.event, roles.edges).axes[0].texts}
    assert {"给", "我", "他", "一本书", "昨天", "给出者", "接收者", "交付物", "时间"} <= drawn


def test_table_rounds_escapes_and_marks_numbers() -> None:
    table = plotting.table(["名", "值"], [["<b>", np.float64(-0.5)], ["乙", 2.0]], caption="例", digits=2)
    html = table._repr_html_()
    assert "&lt;b&gt;" in html
    assert '<td class="num">−0.50</td>' in html
    assert "<caption>例</caption>" in html
    assert '<th scope="col" class=num>值</th>' in html
    plain = plotting.table(["a", "b", "c"], [[True, None, -0.0]], caption="例", row_heads=False)
    assert repr(plain).splitlines()[-1] == "是 | — | 0.000000"


def test_table_refuses_ragged_rows_and_an_empty_caption() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells, expected 2"):
        plotting.table(["a", "b"], [[1, 2], [3]], caption="例")
    with pytest.raises(ValueError, match="caption: expected text"):
        plotting.table(["a"], [[1]], caption=" ")


def drawn_dots(axes):
    return np.concatenate([part.get_offsets() for part in axes.collections if len(part.get_offsets()) > 1])


def test_dots_draw_every_value_on_the_line_of_its_name() -> None:
    _, axes = plt.subplots()
    plotting.dots(axes, {"前": [[0.1, 0.2], [0.3, 0.4]], "后": [[0.5, 0.6], [0.7, 0.8]]}, ["甲", "乙"])
    drawn = drawn_dots(axes)
    np.testing.assert_allclose(sorted(drawn[:, 0]), np.arange(1, 9) / 10)
    assert sorted(np.round(drawn[:, 1]).tolist()) == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["甲", "乙"]


def test_dots_keep_equal_values_apart_and_mark_the_median_of_lines_of_any_length() -> None:
    _, axes = plt.subplots()
    plotting.dots(axes, {"比例": [[0.2, 0.4, 0.4], [0.9]]}, ["甲", "乙"], median=True)
    drawn = drawn_dots(axes)
    assert drawn[:, 0].tolist() == [0.2, 0.4, 0.4, 0.9]
    assert len({tuple(spot) for spot in drawn.tolist()}) == 4
    assert drawn[3, 1] == 1
    (bars,) = (part for part in axes.collections if hasattr(part, "get_segments"))
    assert [segment[0, 0] for segment in bars.get_segments()] == [0.4, 0.9]


def test_dots_refuse_values_that_do_not_fit() -> None:
    _, axes = plt.subplots()
    for rows in ([0.1, 0.2], [[0.1], [0.2]], [[]]):
        with pytest.raises(ValueError, match="'前' must hold 1 vectors of at least one value, got shapes"):
            plotting.dots(axes, {"前": rows}, ["甲"])
    for count in (0, 5):
        with pytest.raises(ValueError, match=f"groups: expected 1 to 4, got {count}"):
            plotting.dots(axes, {str(i): [[0.0]] for i in range(count)}, ["甲"])
