"""Distances under source reversal: by hand, by walking the steps, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.seq2seq.source_order import links, recurrent_distances, reversed_source
from onesentence.text.parallel import ParallelPair


def pair_of(S: int, T: int, alignment) -> ParallelPair:
    return ParallelPair(
        tuple(f"s{j}" for j in range(S)), tuple(f"t{i}" for i in range(T)), frozenset(alignment)
    )


@st.composite
def pairs(draw) -> ParallelPair:
    S, T = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    cells = st.tuples(st.integers(0, S - 1), st.integers(0, T - 1))
    return pair_of(S, T, draw(st.sets(cells, min_size=1)))


def walked(pair: ParallelPair) -> list[int]:
    """Lay the steps out in a list and count between reading a source word and the step that predicts a target word."""
    steps = [("read", word) for word in pair.source]
    steps += [("predict", word) for word in pair.target]  # each after reading BOS or the word before
    place = {step: number for number, step in enumerate(steps)}
    rows = sorted(pair.alignment, key=lambda link: (link[1], link[0]))
    return [place["predict", pair.target[i]] - place["read", pair.source[j]] for j, i in rows]


@given(pairs())
def test_recurrent_distances_equal_the_steps_counted(pair):
    assert recurrent_distances(pair).tolist() == walked(pair)


@given(pairs())
def test_recurrent_distances_reversed_equal_those_of_the_reversed_source(pair):
    there = dict(zip(map(tuple, links(pair.alignment)), recurrent_distances(pair, reverse=True), strict=True))
    turned = reversed_source(pair)
    last = len(pair.source) + 1
    back = dict(zip(map(tuple, links(turned.alignment)), recurrent_distances(turned), strict=True))
    assert there == {(last - j, i): d for (j, i), d in back.items()}


@given(pairs())
def test_recurrent_distances_change_by_the_source_position_alone(pair):
    change = recurrent_distances(pair, reverse=True) - recurrent_distances(pair)
    assert change.tolist() == (2 * links(pair.alignment)[:, 0] - (len(pair.source) + 1)).tolist()


@given(st.permutations(range(7)))
def test_recurrent_distances_keep_their_mean_for_one_to_one_alignments(order):
    pair = pair_of(7, 7, enumerate(order))
    assert recurrent_distances(pair).sum() == recurrent_distances(pair, reverse=True).sum()


def test_recurrent_distances_of_a_monotone_pair():
    pair = pair_of(5, 5, [(k, k) for k in range(5)])
    assert recurrent_distances(pair).tolist() == [5] * 5
    assert recurrent_distances(pair, reverse=True).tolist() == [1, 3, 5, 7, 9]


@given(pairs())
def test_reversed_source_twice_is_the_pair(pair):
    assert reversed_source(reversed_source(pair)) == pair


def test_links_refuses():
    with pytest.raises(ValueError, match="alignment: expected at least one pair"):
        links([])
    with pytest.raises(ValueError, match="alignment: expected positions from 0 up, got -1"):
        links([(-1, 0)])
    np.testing.assert_array_equal(links([(3, 1), (0, 1)]), [[1, 2], [4, 2]])


@pytest.mark.parametrize(
    ("alignment", "error", "message"),
    [
        ([(0.5, 1.5)], TypeError, "alignment must hold integers"),
        ([(True, False)], TypeError, "alignment must hold integers"),
        ([(1, 2, 3)], ValueError, r"alignment: expected pairs of positions, got shape \(1, 3\)"),
        ([(0, 1), (1,)], ValueError, "alignment must be a regular array"),
    ],
)
def test_links_refuses_what_is_no_pair_of_positions(alignment, error, message):
    with pytest.raises(error, match=message):
        links(alignment)
