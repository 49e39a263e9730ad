"""Stack search against trying everything, and against nltk's decoder."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate import PhraseTable as NltkTable
from nltk.translate import StackDecoder

from onesentence.sentence.example import TRANSLATION, UNITS
from onesentence.text.giving import Grammar
from onesentence.text.parallel import sample_pairs
from onesentence.text.phrase import Derivation, Option, PhraseModel, Weights, train
from onesentence.text.phrase_table import PhraseTable
from onesentence.text.stack_search import future_estimates, search
from onesentence.text.target_model import count_words

PAIRS = sample_pairs(Grammar(), 48, np.random.default_rng(0))
MODEL = train(PAIRS, Weights(1, 0.3, 0.1, 0), copy_unknown=True)


def every_derivation(model: PhraseModel, source: Sequence[str]) -> list[Derivation]:
    """Try every order of every cut with every option, and score each by the definition; best first."""
    options = model.options(source)

    def orders(chosen: tuple[Option, ...], free: frozenset[int], end: int) -> Iterator[tuple[Option, ...]]:
        if not free:
            yield chosen
        for option in options:
            span = frozenset(range(option.start, option.end))
            if span <= free and model.jump_allowed(end, option.start):
                yield from orders((*chosen, option), free - span, option.end)

    found = [model.derive(source, chosen) for chosen in orders((), frozenset(range(len(source))), 0)]
    return sorted(found, key=lambda derivation: -derivation.score)


@st.composite
def small_models(draw) -> tuple[PhraseModel, tuple[str, ...]]:
    source = tuple(draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)))
    phrases = st.lists(st.sampled_from("abc"), min_size=1, max_size=2).map(tuple)
    spans = [source[i:j] for i in range(len(source)) for j in range(i + 1, min(i + 2, len(source)) + 1)]
    entries = st.tuples(st.sampled_from(spans), phrases)
    counts = dict.fromkeys(draw(st.lists(entries, min_size=1, max_size=5)), 1)
    counts |= {((word,), (word.upper(),)): 2 for word in source}
    texts = draw(st.lists(st.lists(st.sampled_from("abcXYZ"), min_size=1), min_size=1, max_size=3))
    language = count_words(texts, order=draw(st.integers(1, 3)), alpha=0.5)
    numbers = st.floats(-2, 3, allow_subnormal=False)
    weights = Weights(*draw(st.tuples(numbers, numbers, numbers, numbers)))
    limit = draw(st.sampled_from([None, 0, 2]))
    return PhraseModel(PhraseTable(counts, 2), language, weights, distortion_limit=limit), source


@settings(max_examples=30, deadline=None)
@given(small_models(), st.integers(1, 6))
def test_search_with_room_finds_the_best_derivations_of_all(case, n_best):
    model, source = case
    every = every_derivation(model, source)
    found = search(model, source, stack_size=10**6, n_best=n_best).derivations
    assert [d.score for d in found] == pytest.approx([d.score for d in every[:n_best]], abs=1e-9)
    assert len({d.steps for d in found}) == len(found)


@settings(max_examples=30, deadline=None)
@given(small_models(), st.integers(1, 3))
def test_search_with_a_small_stack_never_beats_the_best_and_adds_up(case, stack_size):
    model, source = case
    if model.distortion_limit:
        model = replace(model, distortion_limit=None)  # a limit and a small stack may leave nothing
    best = search(model, source, stack_size=stack_size).best
    assert best.score <= every_derivation(model, source)[0].score + 1e-9
    assert best == model.derive(source, [step.option for step in best.steps[:-1]])


@pytest.mark.parametrize("sentence", [UNITS[:5], UNITS[4:]])
def test_search_agrees_with_trying_everything_on_half_of_the_sentence(sentence):
    every = every_derivation(MODEL, sentence)
    result = search(MODEL, sentence, n_best=5)
    assert [d.score for d in result.derivations] == pytest.approx([d.score for d in every[:5]])
    assert result.best.text == every[0].text


def test_search_default_stack_loses_nothing_on_the_sentence_of_the_book():
    small, large = search(MODEL, UNITS), search(MODEL, UNITS, stack_size=10**6)
    assert small.best == large.best
    assert small.best.text == TRANSLATION
    assert small.pruned > large.pruned == 0
    assert small.extended < large.extended


def test_search_monotone_translates_from_left_to_right():
    steps = search(replace(MODEL, distortion_limit=0), UNITS).best.steps
    assert [step.option.start for step in steps] == sorted(step.option.start for step in steps)
    assert all(step.features.distortion == 0 for step in steps)


def test_search_distinct_keeps_the_best_derivation_of_each_text():
    result = search(MODEL, UNITS, n_best=20)
    texts = [d.text for d in result.derivations]
    assert [d.text for d in result.distinct()] == list(dict.fromkeys(texts))
    assert len(set(texts)) < len(texts)


@pytest.mark.parametrize("sentence", [UNITS[:4], UNITS[4:8], ("他", "给", "了", "我")])
def test_search_agrees_with_nltk_when_jumps_are_free(sentence):
    model = replace(MODEL, weights=Weights(1, 1, 0, 0), language=NoEnd())
    theirs = NltkTable()
    for option in model.options(sentence):
        theirs.add(sentence[option.start : option.end], option.target, option.log_prob)
    decoder = StackDecoder(theirs, NltkModel(model.language))
    decoder.distortion_factor, decoder.beam_threshold, decoder.stack_size = 1.0, 0.0, 3000
    theirs_best = decoder.translate(list(sentence))
    every = every_derivation(model, sentence)
    score = max(d.score for d in every if list(d.target) == theirs_best)
    assert score == pytest.approx(search(model, sentence, stack_size=3000).best.score)


class NoEnd:
    """A bigram model that says nothing of EOS, which nltk's decoder leaves out."""

    order = 2
    taste: ClassVar = defaultdict(lambda: 0.1, {("BOS", "I"): 0.9, ("gave", "him"): 0.7, ("a", "book"): 0.5})

    def log_prob(self, word, context):
        return 0.0 if word == "EOS" else math.log(self.taste[context[-1] if context else "", word])


class NltkModel:
    def __init__(self, language):
        self.language = language

    def probability(self, phrase):
        return sum(self.language.log_prob(w, phrase[:i][-1:]) for i, w in enumerate(phrase))

    def probability_change(self, hypothesis, phrase):
        words = ("BOS", *hypothesis.translation_so_far())
        return sum(self.language.log_prob(w, (*words, *phrase[:i])[-1:]) for i, w in enumerate(phrase))


def test_future_estimates_by_hand():
    table = PhraseTable({(("x",), ("a",)): 1, (("y",), ("b",)): 1, (("x", "y"), ("c",)): 1}, 2)
    model = PhraseModel(table, NoEnd(), Weights(1, 1, 9, 0.25))
    cut = 2 * (math.log(0.1) + 0.25)
    whole = math.log(0.1) + 0.25
    assert future_estimates(model, ("x", "y"))[0, 2] == pytest.approx(max(cut, whole))


def test_search_refuses_sizes_below_one():
    with pytest.raises(ValueError, match="stack_size: expected at least 1, got 0"):
        search(MODEL, UNITS, stack_size=0)
    with pytest.raises(ValueError, match="n_best: expected at least 1, got 0"):
        search(MODEL, UNITS, n_best=0)


def test_search_refuses_an_unknown_word_or_copies_it():
    unknown = tuple("它" if unit == "他" else unit for unit in UNITS)
    with pytest.raises(ValueError, match="source: no phrase of the table covers 它"):
        search(replace(MODEL, copy_unknown=False), unknown)
    assert "它" in search(MODEL, unknown).best.target


def test_search_refuses_a_sentence_that_phrases_overlap_but_cannot_tile():
    table = PhraseTable({(("x", "y"), ("a",)): 1, (("y", "z"), ("b",)): 1}, 2)
    model = PhraseModel(table, NoEnd(), Weights(1, 1, 1, 0))
    with pytest.raises(ValueError, match="source: phrases cannot cover x/y/z with distortion_limit None"):
        search(model, ("x", "y", "z"))
