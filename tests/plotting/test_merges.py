"""The picture of merges: which pieces are inked, where they stand, and input that is no merging."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch

from onesentence import plotting
from onesentence.plotting.figure import to_svg
from onesentence.plotting.style import PALETTE

STATES = [
    [("l", "o", "w", "</w>"), ("n", "e", "w", "</w>")],
    [("lo", "w", "</w>"), ("n", "e", "w", "</w>")],
    [("low", "</w>"), ("n", "e", "w", "</w>")],
]
LABELS = ["0", "1", "2"]


def tiles(figure):
    """Return (row, left, right, inked) of each tile."""
    found = []
    for patch in figure.axes[0].patches:
        assert isinstance(patch, FancyBboxPatch)
        inked = to_hex(patch.get_facecolor()) == PALETTE["vermilion"]
        left, right = patch.get_x(), patch.get_x() + patch.get_width()
        found.append((round(-patch.get_y() - patch.get_height() / 2), left, right, inked))
    return found


def test_draw_merges_inks_what_is_new_in_its_row_and_nothing_else():
    found = tiles(plotting.draw_merges(STATES, LABELS))
    assert [
        (row, number)
        for row in range(3)
        for number, tile in enumerate(t for t in found if t[0] == row)
        if tile[3]
    ] == [
        (1, 0),
        (2, 0),
    ]
    assert [sum(tile[0] == row for tile in found) for row in range(3)] == [8, 7, 6]


def test_draw_merges_keeps_a_piece_where_its_symbols_stood():
    found = tiles(plotting.draw_merges(STATES, LABELS))
    symbols, joined = found[:8], found[8:15]
    assert joined[0][1:3] == (symbols[0][1], pytest.approx(symbols[1][2]))
    assert joined[1:] == [(1, *tile[1:]) for tile in symbols[2:]]


def test_draw_merges_writes_pieces_labels_and_heads():
    figure = plotting.draw_merges(STATES[:2], LABELS[:2], ["low ×3", "new ×1"])
    texts = sorted(text.get_text() for text in figure.axes[0].texts)
    pieces = [piece for state in STATES[:2] for word in state for piece in word]
    assert texts == sorted([*pieces, *LABELS[:2], "low ×3", "new ×1"])
    assert to_svg(figure).startswith("<svg")


def test_draw_merges_fits_the_text_into_the_page():
    figure = plotting.draw_merges(STATES, LABELS)
    assert figure.get_size_inches()[0] <= 4.8


def test_draw_merges_takes_symbols_of_any_length_and_empty_words():
    assert tiles(plotting.draw_merges([[(), ("ab", "c")], [(), ("abc",)]], ["", ""]))[-1][3]


@pytest.mark.parametrize(
    ("states", "labels", "heads", "message"),
    [
        ([], [], [], "states: expected at least one step, got none"),
        (STATES, ["0"], [], "labels: expected 3, one for each step, got 1"),
        (STATES, LABELS, ["low"], "heads: expected 2, one for each word, got 1"),
        ([STATES[0], STATES[0][:1]], ["0", "1"], [], "states: expected 2 words in each step, got 1"),
        (
            [[("ab", "c")], [("a", "bc")]],
            ["0", "1"],
            [],
            r"\['a', 'bc'\] is not made by joining \['ab', 'c'\]",
        ),
        ([[("a", "b")], [("ac",)]], ["0", "1"], [], r"\['ac'\] is not made by joining"),
        ([[("a", "b")], [("a",)]], ["0", "1"], [], r"\['a'\] is not made by joining"),
    ],
)
def test_draw_merges_refuses_what_is_no_merging(states, labels, heads, message):
    with pytest.raises(ValueError, match=message):
        plotting.draw_merges(states, labels, heads)
