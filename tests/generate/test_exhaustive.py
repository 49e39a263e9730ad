"""All texts of a model: their probabilities sum to 1, cut ones included; a given text scored by hand."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.generate.exhaustive import exhaustive, score_text
from onesentence.generate.hypotheses import LengthPenalty

P = np.array([[0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.5, 0.25, 0.25], [0, 0.2, 0.8, 0]])
LOGITS = np.full(P.shape, -np.inf)
LOGITS[P > 0] = np.log(P[P > 0])


def step(ids, state):
    return LOGITS[ids] + 3.0, state  # logits, not log probabilities


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_probabilities_of_all_texts_sum_to_one(limit):
    texts = exhaustive(step, None, bos=0, eos=1, limit=limit)
    assert sum(np.exp(t.log_prob) for t in texts) == pytest.approx(1.0, abs=1e-12)
    assert len({t.ids for t in texts}) == len(texts)
    assert all(len(t.ids) == limit for t in texts if not t.ended)


def test_texts_stand_by_score_and_cut_ones_last():
    texts = exhaustive(step, None, bos=0, eos=1, limit=3, penalty=LengthPenalty(1.0, "power"))
    keys = [(not t.ended, -t.score) for t in texts]
    assert keys == sorted(keys)
    assert {t.ended for t in texts} == {True, False}


def test_score_text_by_hand():
    text = score_text(step, None, [2, 3, 1], bos=0, eos=1, penalty=LengthPenalty(1.0, "power"))
    assert np.exp(text.log_prob) == pytest.approx(0.6 * 0.25 * 0.2)
    assert text.score == pytest.approx(text.log_prob / 2)
    assert text.ended
    assert score_text(step, None, [0], bos=0, eos=1).log_prob == -np.inf
    assert not score_text(step, None, [2], bos=0, eos=1).ended


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([], ValueError, r"expected at least one token and EOS at the end only, got \[\]"),
        ([1, 2], ValueError, "EOS at the end only"),
        ([7], ValueError, r"ids must lie in \[0, 4\), got 7"),
        ([2.0], TypeError, "ids must be an integer, got 2.0"),
    ],
)
def test_score_text_refuses(ids, error, message):
    with pytest.raises(error, match=message):
        score_text(step, None, ids, bos=0, eos=1)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"eos": -1}, ValueError, "eos must be at least 0, got -1"),
        ({"eos": 1.0}, TypeError, "eos must be an integer, got 1.0"),
        ({"bos": -1}, ValueError, "bos must be at least 0, got -1"),
        ({"penalty": 1.0}, TypeError, "penalty must be a LengthPenalty, got 1.0"),
        ({"penalty": 0}, TypeError, "penalty must be a LengthPenalty, got 0"),
    ],
)
def test_both_refuse_settings_out_of_range(changes, error, message):
    settings = {"step": step, "state": None, "bos": 0, "eos": 1, **changes}
    with pytest.raises(error, match=message):
        score_text(ids=[2, 1], **settings)
    with pytest.raises(error, match=message):
        exhaustive(limit=2, **settings)


def test_exhaustive_stops_with_an_error_where_there_are_too_many_prefixes():
    flat = lambda ids, state: (np.zeros((1, 3)), state)  # noqa: E731
    prefixes = 1 + 2 + 4 + 8  # without EOS, up to three tokens
    assert len(exhaustive(flat, None, bos=0, eos=2, limit=4, most=prefixes)) == prefixes + 16
    with pytest.raises(ValueError, match="limit: more than most = 14 prefixes within 4 tokens"):
        exhaustive(flat, None, bos=0, eos=2, limit=4, most=prefixes - 1)
    with pytest.raises(ValueError, match="limit: more than most = 100000 prefixes within 1000 tokens"):
        exhaustive(flat, None, bos=0, eos=2, limit=1000)
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        exhaustive(flat, None, bos=0, eos=2, limit=1, most=0)


def test_exhaustive_walks_a_text_longer_than_the_stack():
    chain = lambda ids, state: (np.array([[0.0, -np.inf]]), state)  # noqa: E731
    (text,) = exhaustive(chain, None, bos=0, eos=1, limit=3000)
    assert (len(text.ids), text.ended, text.log_prob) == (3000, False, 0.0)


def test_equal_texts_stand_in_the_order_of_their_ids():
    flat = lambda ids, state: (np.zeros((1, 2)), state)  # noqa: E731
    texts = exhaustive(flat, None, bos=0, eos=1, limit=2, penalty=LengthPenalty())
    assert [t.ids for t in texts] == [(1,), (0, 1), (0, 0)]


def test_exhaustive_refuses():
    for changes, message in (
        ({"limit": 0}, "limit must be at least 1"),
        ({"eos": 4}, r"shape \(1, V\) with V > eos = 4, got \(1, 4\)"),
        ({"step": lambda ids, s: (np.zeros((2, 4)), s)}, r"shape \(1, V\) with V > eos = 1, got \(2, 4\)"),
    ):
        with pytest.raises(ValueError, match=message):
            exhaustive(**{"step": step, "state": None, "bos": 0, "eos": 1, "limit": 2, **changes})
