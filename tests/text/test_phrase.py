"""Scores of derivations by hand, options, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from onesentence.sentence.example import UNITS
from onesentence.text.giving import Grammar
from onesentence.text.parallel import ParallelPair, sample_pairs
from onesentence.text.phrase import COPY_LOG_PROB, Features, Option, PhraseModel, Weights, train
from onesentence.text.phrase_table import PhraseTable

TABLE = PhraseTable(
    {
        (("他",), ("him",)): 3,
        (("他",), ("He",)): 1,
        (("书",), ("book",)): 2,
        (("他", "书"), ("his", "book")): 1,
    },
    2,
)


class Constant:
    """Every word has probability 1/2, so that language scores can be counted on fingers."""

    order = 2

    def log_prob(self, word, context):
        return math.log(0.5)


MODEL = PhraseModel(TABLE, Constant(), Weights(1, 1, 1, 0))


def test_derive_by_hand():
    he, book = Option(0, 1, ("He",), math.log(0.25)), Option(1, 2, ("book",), 0.0)
    found = replace(MODEL, weights=Weights(2, 3, 0.5, 10)).derive(("他", "书"), (book, he))
    # 书 first: a jump of 1 from the start, then one of 2 back to 他; two words and EOS
    assert found.features == pytest.approx((math.log(0.25), 3 * math.log(0.5), -3, 2))
    assert found.score == pytest.approx(2 * math.log(0.25) + 3 * 3 * math.log(0.5) - 0.5 * 3 + 10 * 2)
    assert found.text == "book He"
    assert [step.features.distortion for step in found.steps] == [-1, -2, 0]


def test_derive_without_a_jump_costs_nothing_and_score_is_the_weighted_sum():
    found = MODEL.derive(("他", "书"), (Option(0, 2, ("his", "book"), -1.0),))
    assert found.features.distortion == 0
    assert found.score == pytest.approx(found.features.weighted(MODEL.weights))


def test_derive_refuses_options_that_do_not_tile_the_source():
    with pytest.raises(
        ValueError, match=r"options: expected each of 2 source words once, got positions \[0\]"
    ):
        MODEL.derive(("他", "书"), (Option(0, 1, ("He",), 0.0),))
    with pytest.raises(ValueError, match=r"got positions \[0, 1, 1\]"):
        MODEL.derive(("他", "书"), (Option(0, 2, ("x",), 0.0), Option(1, 2, ("y",), 0.0)))


def test_options_hold_every_span_with_both_frequencies():
    found = {(o.start, o.end, o.target): o.log_prob for o in MODEL.options(("他", "书"))}
    assert found[0, 1, ("him",)] == pytest.approx(math.log(3 / 4) + math.log(1))
    assert set(found) == {(0, 1, ("him",)), (0, 1, ("He",)), (0, 2, ("his", "book")), (1, 2, ("book",))}


def test_options_refuse_an_unknown_word_unless_it_may_be_copied():
    with pytest.raises(ValueError, match="source: no phrase of the table covers 它; copy_unknown would pass"):
        MODEL.options(("它", "书"))
    copied = replace(MODEL, copy_unknown=True).options(("它", "书"))
    assert Option(0, 1, ("它",), COPY_LOG_PROB, copied=True) in copied


def test_options_refuse_no_words():
    with pytest.raises(ValueError, match="source: expected at least one word, got none"):
        MODEL.options(())


def test_jump_allowed_only_within_the_limit():
    limited = replace(MODEL, distortion_limit=1)
    assert [limited.jump_allowed(2, start) for start in range(5)] == [False, True, True, True, False]
    assert MODEL.jump_allowed(0, 99)


def test_weights_of_names_what_is_missing_or_unknown():
    full = {"translation": 1.0, "language": 2.0, "distortion": 3.0, "words": 4.0}
    assert Weights.of(full) == Weights(1, 2, 3, 4)
    with pytest.raises(ValueError, match="weights: language, words is missing"):
        Weights.of({"translation": 1.0, "distortion": 3.0})
    with pytest.raises(ValueError, match="weights: length is not one of translation, language"):
        Weights.of(full | {"length": 1.0})
    with pytest.raises(ValueError, match="language: expected a finite weight, got nan"):
        Weights.of(full | {"language": float("nan")})


def test_features_weighted_by_hand():
    assert Features(-1, -2, -3, 4).weighted(Weights(1, 0.5, 0.1, 2)) == pytest.approx(-1 - 1 - 0.3 + 8)


def test_train_refuses_an_empty_corpus_and_a_length_below_one():
    with pytest.raises(ValueError, match="pairs: expected at least one aligned pair, got an empty corpus"):
        train([], Weights(1, 1, 1, 0))
    pair = ParallelPair(("书",), ("book",), frozenset({(0, 0)}))
    with pytest.raises(ValueError, match="max_length: expected at least 1 word, got 0"):
        train([pair], Weights(1, 1, 1, 0), max_length=0)


def test_phrase_model_refuses_a_negative_limit_and_an_empty_window():
    with pytest.raises(ValueError, match="distortion_limit: expected 0 or more words, got -1"):
        replace(MODEL, distortion_limit=-1)
    empty = Constant()
    empty.order = 0
    with pytest.raises(ValueError, match="language: expected an order of at least 1, got 0"):
        replace(MODEL, language=empty)


def test_language_score_does_not_read_the_source():
    pairs = sample_pairs(Grammar(), 48, np.random.default_rng(0))
    model = train(pairs, Weights(1, 1, 0.1, 0), copy_unknown=True)
    whole = Option(0, 9, ("I", "gave", "him", "a", "book", "yesterday", "."), -1.0)
    swapped = tuple({"我": "他", "他": "我"}.get(unit, unit) for unit in UNITS)
    one, other = (model.derive(source, (whole,)).features for source in (UNITS, swapped))
    assert one == other
