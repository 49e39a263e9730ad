"""Exact search: equal to all texts walked, never below a beam, honest about what it did not prove."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.generate.beam import beam_search
from onesentence.generate.exact_search import exact_search
from onesentence.generate.exhaustive import exhaustive, score_text
from onesentence.generate.hypotheses import LengthPenalty
from onesentence.generate.tree import Tree

V, EOS, STATES = 4, 1, 97


def model(seed: int, holes: float = 0.3, scale: float = 2.0):
    """Return a step whose answer depends on everything read; some tokens may not come, token 2 always may."""
    rng = np.random.default_rng(seed)
    table = rng.normal(scale=scale, size=(STATES, V))
    table[rng.random(table.shape) < holes] = -np.inf
    table[:, 2] = np.where(np.isfinite(table[:, 2]), table[:, 2], 0.0)

    def step(ids, state):
        state = (state * 7 + ids * 5 + 1) % STATES
        return table[state], state

    return step


rules = st.builds(
    LengthPenalty,
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    st.sampled_from(["gnmt", "power"]),
    st.booleans(),
)


@given(
    seed=st.integers(0, 10**6), limit=st.integers(1, 5), holes=st.sampled_from([0.0, 0.4, 0.8]), penalty=rules
)
@settings(max_examples=150, deadline=None)
def test_exact_search_returns_the_best_of_all_texts(seed, limit, holes, penalty):
    same = {"bos": 0, "eos": EOS, "limit": limit, "penalty": penalty}
    found = exact_search(model(seed, holes), np.array([seed % STATES]), **same)
    best = exhaustive(model(seed, holes), np.array([seed % STATES]), **same)[0]
    assert found.proved
    assert (found.best.ids, found.best.ended) == (best.ids, best.ended)
    assert (found.best.log_prob, found.best.score) == (best.log_prob, best.score)


@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 9),
    finished=st.sampled_from(["in_beam", "apart"]),
    penalty=rules,
)
@settings(max_examples=80, deadline=None)
def test_no_beam_finds_more_than_the_exact_search(seed, width, finished, penalty):
    same = {"bos": 0, "eos": EOS, "limit": 5, "penalty": penalty}
    start = np.array([seed % STATES])
    best = exact_search(model(seed), start, **same).best
    (beam,) = beam_search(model(seed), start, width=width, finished=finished, **same)
    assert (best.ended, best.score) >= (beam.best.ended, beam.best.score)


@given(seed=st.integers(0, 10**6), most=st.integers(1, 30), penalty=rules)
@settings(max_examples=80, deadline=None)
def test_what_is_not_proved_is_bounded(seed, most, penalty):
    same = {"bos": 0, "eos": EOS, "limit": 5, "penalty": penalty}
    start = np.array([seed % STATES])
    found = exact_search(model(seed, scale=0.3), start, most=most, **same)
    best = exhaustive(model(seed, scale=0.3), start, **same)[0]
    assert found.calls <= most
    met = found.best is not None and found.best.ended
    if found.proved:
        assert found.best.score == best.score
    else:
        assert found.calls == most
        assert not met or found.bound > found.best.score
    assert best.score <= max(found.bound, found.best.score if met else -np.inf)


def test_exact_search_by_hand():
    tree = Tree.closed({"": {"A": 0.6, "B": 0.4}, "A": {"a": 0.5, "b": 0.5}})
    found = exact_search(**tree.model())
    assert tree.named([found.best]) == [["B EOS", pytest.approx(0.4)]]
    assert (found.proved, found.calls) == (True, 3)  # the empty prefix, A at 0.6, B at 0.4; A a stands at 0.3
    assert found.bound == pytest.approx(np.log(0.3))


def test_exact_search_stops_and_says_so():
    tree = Tree.closed({"": {"A": 0.6, "B": 0.4}, "A": {"a": 0.5, "b": 0.5}})
    none = exact_search(**tree.model(), most=2)
    assert (none.best, none.proved, none.calls) == (None, False, 2)
    assert none.bound == pytest.approx(np.log(0.4))
    flat = lambda ids, state: (np.zeros((1, 3)), state)  # noqa: E731
    found = exact_search(flat, None, bos=0, eos=2, limit=1000, penalty=LengthPenalty(9.0), most=50)
    assert (found.proved, found.calls) == (False, 50)
    assert found.best.ended
    assert found.bound > found.best.score


def test_a_cut_text_is_best_only_where_nothing_ends():
    never = lambda ids, state: (np.array([[0.0, -1.0, -np.inf]]), state)  # noqa: E731
    found = exact_search(never, None, bos=0, eos=2, limit=3)
    assert (found.best.ids, found.best.ended, found.proved) == ((0, 0, 0), False, True)
    seldom = lambda ids, state: (np.log(np.array([[0.98, 0.01, 0.01]])), state)  # noqa: E731
    found = exact_search(seldom, None, bos=0, eos=2, limit=3)
    assert (found.best.ids, found.best.ended, found.proved) == ((2,), True, True)


def test_the_best_text_scores_what_it_scores_alone():
    for seed in range(10):
        found = exact_search(model(seed), np.array([5]), bos=0, eos=EOS, limit=8)
        again = score_text(model(seed), np.array([5]), found.best.ids, bos=0, eos=EOS)
        assert found.best == again


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"most": 0}, ValueError, "most must be at least 1, got 0"),
        ({"most": 2.0}, TypeError, "most must be an integer, got 2.0"),
        ({"limit": 0}, ValueError, "limit must be at least 1, got 0"),
        ({"bos": -1}, ValueError, "bos must be at least 0, got -1"),
        ({"eos": 4}, ValueError, r"shape \(1, V\) with V > eos = 4, got \(1, 4\)"),
        ({"penalty": 1.0}, TypeError, "penalty must be a LengthPenalty, got 1.0"),
        ({"step": lambda ids, s: (np.full((1, 4), np.nan), s)}, ValueError, "logits must be free of NaN"),
    ],
)
def test_exact_search_refuses(changes, error, message):
    settings_ = {"step": model(0), "state": np.array([0]), "bos": 0, "eos": EOS, "limit": 4, **changes}
    with pytest.raises(error, match=message):
        exact_search(**settings_)
