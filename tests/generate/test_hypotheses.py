"""Length penalties, bounds, sorting, following one text through a search, and who is to blame."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.generate.beam import beam_search
from onesentence.generate.exhaustive import exhaustive, score_text
from onesentence.generate.hypotheses import (
    Hypothesis,
    LengthPenalty,
    SearchSettings,
    blame,
    follow,
    found_of,
)
from onesentence.generate.tree import Tree

TREE = Tree(
    {
        "": {"A": 0.6, "B": 0.4},
        "A": {"a": 0.5, "b": 0.5},
        "A a": {"EOS": 1},
        "A b": {"EOS": 1},
        "B": {"EOS": 1},
    }
)


def test_divisor_by_hand():
    assert LengthPenalty(2.0).divisor(7) == pytest.approx(4.0)
    assert LengthPenalty(0.5, "power").divisor(9) == pytest.approx(3.0)
    assert LengthPenalty().divisor(100) == 1.0
    assert LengthPenalty(1.0, "power").divisor(0) == 1.0


def test_score_counts_eos_only_where_it_is_asked_to():
    without, with_it = (LengthPenalty(1.0, "power", count) for count in (False, True))
    assert without.score(-6.0, 3, ended=True) == -3.0
    assert with_it.score(-6.0, 3, ended=True) == -2.0
    assert without.score(-6.0, 3, ended=False) == with_it.score(-6.0, 3, ended=False) == -2.0


@given(
    log_prob=st.floats(-50, 0),
    more=st.floats(-50, 0),
    alpha=st.floats(0, 4),
    kind=st.sampled_from(["gnmt", "power"]),
    limit=st.integers(1, 30),
    data=st.data(),
)
def test_bound_is_above_every_continuation(log_prob, more, alpha, kind, limit, data):
    penalty = LengthPenalty(alpha, kind, data.draw(st.booleans()))
    tokens = data.draw(st.integers(1, limit))
    score = penalty.score(log_prob + more, tokens, ended=data.draw(st.booleans()))
    assert score <= penalty.bound(log_prob, limit) + 1e-12


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"alpha": -0.5}, ValueError, "alpha must be finite and at least 0, got -0.5"),
        ({"alpha": math.nan}, ValueError, "alpha must be finite and at least 0, got nan"),
        ({"alpha": "1"}, TypeError, "alpha must be a number, got '1'"),
        ({"alpha": True}, TypeError, "alpha must be a number, got True"),
        ({"alpha": math.inf}, ValueError, "alpha must be finite and at least 0, got inf"),
        ({"count_eos": "no"}, TypeError, "count_eos must be True or False, got 'no'"),
        ({"kind": "mean"}, ValueError, "kind: expected gnmt or power, got 'mean'"),
    ],
)
def test_length_penalty_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        LengthPenalty(**arguments)


def test_ended_texts_stand_before_open_ones_whatever_their_scores():
    cut, low, high = (
        Hypothesis((i,), score, score, ended)
        for i, score, ended in ((1, 0.0, False), (2, -9.0, True), (3, -8.0, True))
    )
    assert found_of([cut, low, high], "limit").texts == (high, low, cut)


def test_follow_says_where_a_text_was_lost():
    (found,) = beam_search(**TREE.model(), width=1, record=True)
    assert [(c.rank, c.fate) for c in follow(found, TREE.ids("B EOS"))] == [(1, "pruned")]
    assert [c.fate for c in follow(found, TREE.ids("A a EOS"))] == ["open", "open", "ended"]
    assert [c.fate for c in follow(found, TREE.ids("A b EOS"))] == ["open", "pruned"]
    assert follow(found, TREE.ids("EOS")) == ()
    (found,) = beam_search(**TREE.model(), width=2, finished="apart", stop="all", record=True)
    assert [c.fate for c in follow(found, TREE.ids("B EOS"))] == ["open", "aside"]


def test_follow_refuses_a_search_without_records_and_an_empty_text():
    (silent,) = beam_search(**TREE.model(), width=1)
    (spoken,) = beam_search(**TREE.model(), width=1, record=True)
    for found, ids in ((silent, (2,)), (spoken, ())):
        with pytest.raises(ValueError, match="expected a search with record=True and a text"):
            follow(found, ids)


def test_blame_compares_the_scores_of_a_search_and_its_target():
    model = TREE.model()
    rest = {name: model[name] for name in ("step", "state", "bos", "eos")}
    narrow, wide = (beam_search(**model, width=width)[0].best.score for width in (1, 3))
    b_eos, a_a = (score_text(**rest, ids=TREE.ids(text)).score for text in ("B EOS", "A a EOS"))
    assert blame(b_eos, narrow) == "search"
    assert blame(a_a, wide) == "model"
    assert blame(b_eos, wide) == "tie"
    assert exhaustive(**model)[0].score == wide


@pytest.mark.parametrize(
    ("target", "returned", "tie", "expected"),
    [
        (-1.0, -1.0 - 2e-6, 1e-6, "search"),
        (-1.0 - 2e-6, -1.0, 1e-6, "model"),
        (-1.0, -1.0 - 5e-7, 1e-6, "tie"),
        (-1.0, -1.0 - 5e-7, 0.0, "search"),
        (-1.0, -1.5, 0.5, "tie"),
        (-math.inf, -math.inf, 0.0, "tie"),
        (-math.inf, -9.0, 1e-6, "model"),
        (-9.0, -math.inf, 1e-6, "search"),
    ],
)
def test_blame_of_near_and_infinite_scores(target, returned, tie, expected):
    assert blame(target, returned, tie=tie) == expected


def test_blame_refuses():
    for scores in ((math.nan, -1.0), (-1.0, math.nan)):
        with pytest.raises(ValueError, match="target, returned: expected two scores, got"):
            blame(*scores)
    for tie in (-1e-9, math.nan):
        with pytest.raises(ValueError, match="tie must be at least 0, got"):
            blame(-1.0, -2.0, tie=tie)


def test_a_penalty_beyond_a_float_is_refused_before_the_search():
    for alpha in (5000.0, np.float64(5000)):
        with pytest.raises(ValueError, match=r"alpha: lp\(100\) is beyond a float, got 5000"):
            LengthPenalty(alpha).divisor(100)
    with pytest.raises(ValueError, match=r"alpha: lp\(3\) is beyond a float"):
        SearchSettings(1, 3, 2, LengthPenalty(5000.0), "in_beam", "bound")


def test_bound_is_what_an_open_hypothesis_scores_at_the_limit():
    penalty = LengthPenalty(1.0, "power")
    assert penalty.bound(-6.0, 4) == penalty.score(-6.0, 4, ended=False) == -1.5
