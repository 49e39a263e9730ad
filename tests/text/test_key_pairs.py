"""Pairs of stories that differ in the colour alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.key_pairs import (
    FACT_AT,
    PLACES,
    THINGS,
    key_pairs,
    pairs_right,
    suffix_answers,
    words,
)


@given(pairs=st.integers(1, 5), events=st.integers(0, 6), seed=st.integers(0, 99))
def test_key_pairs_differ_in_the_colour_alone(pairs: int, events: int, seed: int) -> None:
    ids = key_pairs(pairs, events, np.random.default_rng(seed))
    assert ids.shape == (pairs, 2, 8 + 5 * events)
    differ = (ids[:, 0] != ids[:, 1]).nonzero()
    assert set(differ[1]) == {FACT_AT}
    for red, blue in ids:
        assert (words(red)[FACT_AT], words(blue)[FACT_AT]) == ("红", "蓝")
        assert words(red)[-3:] == ("钥匙", "在", "哪里")


def test_key_pairs_events_move_other_things() -> None:
    ids = key_pairs(200, 2, np.random.default_rng(0))
    middles = {words(story)[5 + 5 * n : 10 + 5 * n] for story in ids[:, 0] for n in range(2)}
    assert middles == {(thing, "移", "到", place, "。") for thing in THINGS for place in PLACES}


@pytest.mark.parametrize("width", [1, 3, 15])
def test_suffix_answers_never_gets_a_pair(width: int) -> None:
    rng = np.random.default_rng(1)
    seen, asked = key_pairs(50, 3, rng), key_pairs(50, 3, rng)
    answers = suffix_answers(seen, asked, width)
    assert pairs_right(answers) == 0
    assert (answers == (0, 1)).mean() == 0.5


def test_suffix_answers_with_the_colour_in_reach() -> None:
    stories = key_pairs(20, 3, np.random.default_rng(2))
    assert pairs_right(suffix_answers(stories, stories, 21)) == 1


def test_suffix_answers_unseen_ending_is_red() -> None:
    rng = np.random.default_rng(3)
    assert suffix_answers(key_pairs(1, 6, rng), key_pairs(1, 6, rng), 30).tolist() == [[0, 0]]


def test_pairs_right_by_hand() -> None:
    assert pairs_right([[0, 1], [0, 1], [1, 0], [0, 0]]) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: key_pairs(0, 1, rng), "pairs must be at least 1, got 0"),
        (lambda rng: key_pairs(1, -1, rng), "events must be at least 0, got -1"),
        (lambda rng: suffix_answers(*[key_pairs(1, 1, rng)] * 2, 0), "width must be at least 1, got 0"),
        (lambda rng: words([-1]), r"ids must lie in \[0, \d+\), got -1"),
        (lambda rng: pairs_right([0, 1]), r"answers must have shape \(pairs, 2\), got \(2,\)"),
    ],
)
def test_refusals(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
