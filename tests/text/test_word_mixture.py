"""A translation model of words without order."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.parallel import ParallelPair
from onesentence.text.translation_corpus import TranslationConfig, translation_corpus
from onesentence.text.vocabulary import EOS
from onesentence.text.word_mixture import WordMixture

PAIRS = (
    ParallelPair(("书", "。"), ("book", "."), frozenset({(0, 0), (1, 1)})),
    ParallelPair(("书", "。"), ("books", "."), frozenset({(0, 0), (1, 1)})),
    ParallelPair(("本", "书", "。"), ("book", "."), frozenset({(1, 0), (2, 1)})),
)
MODEL = WordMixture.from_pairs(PAIRS, floor=0.04)
CORPUS = translation_corpus(TranslationConfig(train=300, dev=20, test=20, probe=5))
TRAINED = WordMixture.from_pairs([e.pair for e in CORPUS.train])


def test_prob_by_hand():
    # candidates book, books, ., EOS; 书 gives book 2/3 and books 1/3, 。 gives . and EOS half each
    assert MODEL.prob("book", ["书", "。"]) == pytest.approx(0.96 * (2 / 3) / 2 + 0.01)
    assert MODEL.prob(EOS, ["书", "。"]) == pytest.approx(0.96 / 4 + 0.01)
    assert MODEL.prob("books", ["书"]) == pytest.approx(0.96 / 3 + 0.01)


def test_prob_passes_over_units_that_were_never_aligned():
    assert MODEL.prob("book", ["本", "书"]) == MODEL.prob("book", ["书"])


@given(st.sampled_from(CORPUS.test + CORPUS.three_things))
def test_prob_sums_to_one(example):
    assert sum(TRAINED.prob(word, example.source) for word in TRAINED.words) == pytest.approx(1)


@given(st.sampled_from(CORPUS.test), st.randoms(use_true_random=False))
def test_log_prob_knows_no_order(example, random):
    shuffled = list(example.target)
    random.shuffle(shuffled)
    assert TRAINED.log_prob(shuffled, example.source) == pytest.approx(
        TRAINED.log_prob(example.target, example.source)
    )


def test_log_prob_counts_eos():
    both = MODEL.log_prob(["book"], ["书", "。"])
    assert both == pytest.approx(log(MODEL.prob("book", ["书", "。"])) + log(MODEL.prob(EOS, ["书", "。"])))


def test_word_mixture_refuses():
    with pytest.raises(ValueError, match="word: expected one of 4 candidates, got 'pen'"):
        MODEL.prob("pen", ["书"])
    with pytest.raises(ValueError, match="source: no unit of 本 was ever aligned"):
        MODEL.prob("book", ["本"])
    with pytest.raises(ValueError, match="pairs: expected at least one, got none"):
        WordMixture.from_pairs([])
    with pytest.raises(ValueError, match=r"floor: expected a share between 0 and 1, got 1\.0"):
        WordMixture.from_pairs(PAIRS, floor=1.0)
