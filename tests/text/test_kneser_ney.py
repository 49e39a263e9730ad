"""Kneser-Ney: values by hand, a slow version in fractions, nltk, the Francisco effect."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import KneserNeyInterpolated
from nltk.lm import Vocabulary as NltkVocabulary

from onesentence.text.interpolation import Interpolated
from onesentence.text.kneser_ney import KneserNey, continuation_table, estimate_discount
from onesentence.text.ngram_counts import CountTable, NgramCounts
from onesentence.text.vocabulary import BOS, EOS, Vocabulary

V = Vocabulary.from_words(list("abcd"), specials=[BOS, EOS])
corpora = st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=6)
contexts = st.lists(st.sampled_from("abcd"), max_size=2)
SAN = [["San", "Francisco"]] * 6 + [[word, "glasses"] for word in ("my", "his", "two", "new")]


def slow(corpus, order, discount, word, context):
    """The definition, from the text itself, in exact fractions; `context` has order - 1 words."""
    grams = Counter()
    for sentence in corpus:
        filled = [BOS] * (order - 1) + sentence + [EOS]
        grams.update(tuple(filled[i : i + order]) for i in range(len(sentence) + 1))

    def p(h, k):
        if k == 0:
            return Fraction(1, len("abcd") + 1)
        longer = {g[-k - 1 :] for g in grams}  # the different (k + 1)-grams
        seen = grams if k == order else Counter(g[1:] for g in longer)
        row = {g[-1]: c for g, c in seen.items() if g[:-1] == h}
        lower = p(h[1:], k - 1)
        if not row:
            return lower
        total = sum(row.values())
        kept = max(Fraction(row.get(word, 0)) - discount, 0)
        return kept / total + discount * len(row) / total * lower

    return p(tuple(context), order)


def test_kneser_ney_bigram_by_hand():
    counts = NgramCounts.of([["San", "Francisco"], ["San", "Francisco"], ["my", "glasses"]], order=2)
    model = KneserNey(counts, discount=0.5)
    # continuation counts: San 1, Francisco 1, my 1, glasses 1, EOS 2; together 6, five kinds, V = 5
    lower = 0.5 / 6 + 0.5 * 5 / 6 / 5
    assert model.prob("Francisco", ["San"]) == pytest.approx(1.5 / 2 + 0.5 / 2 * lower)
    assert model.prob("glasses", ["my"]) == pytest.approx(0.5 + 0.5 * lower)
    assert model.prob("San", ["my"]) == pytest.approx(0.5 * lower)
    assert model.prob(EOS, ["San"]) == pytest.approx(0.25 * (1.5 / 6 + 0.5 * 5 / 6 / 5))


def test_kneser_ney_order_1_is_absolute_discounting_towards_uniform():
    model = KneserNey(NgramCounts.of([["a", "a", "b"]], 1, V), discount=0.5)
    # a 2, b 1, EOS 1; three kinds, V = 5
    assert model.prob("a", []) == pytest.approx(1.5 / 4 + 0.5 * 3 / 4 / 5)
    assert model.prob("d", []) == pytest.approx(0.5 * 3 / 4 / 5)


@given(corpora, st.integers(1, 4), contexts, st.sampled_from(["a", "b", "d", EOS]))
def test_kneser_ney_equals_the_definition_in_fractions(corpus, order, context, word):
    discount = Fraction(3, 4)
    filled = ([BOS] * order + context)[len(context) + 1 :]
    model = KneserNey(NgramCounts.of(corpus, order, V), discount=0.75)
    expected = slow(corpus, order, discount, word, filled)
    assert model.prob(word, filled) == pytest.approx(float(expected), abs=1e-12)


@given(corpora, st.integers(2, 4), contexts)
def test_kneser_ney_equals_nltk_above_the_unigrams(corpus, order, context):
    counts = NgramCounts.of(corpus, order, V)
    model = KneserNey(counts, discount=0.6)
    other = KneserNeyInterpolated(order, discount=0.6, vocabulary=NltkVocabulary())
    grams = []
    for gram, times in counts.ngrams.items():
        words = V.decode(gram)
        grams += [words[start:] for start in range(order)] * times
    other.fit([grams], [*"abcd", EOS])
    # nltk's unigrams are continuation frequencies without discount: put ours in their place
    unigrams = KneserNey(counts, discount=0.6).levels[0]
    row, total = unigrams.rows[()], unigrams.totals[()]
    for number, count in row.items():
        assert other.estimator.unigram_score(V.symbols[number]) == pytest.approx(count / total)
    floor = 0.6 * len(row) / total / 5
    other.estimator.unigram_score = lambda word: max(row.get(V.id(word), 0) - 0.6, 0) / total + floor
    filled = ([BOS] * order + context)[len(context) + 1 :]
    for word in ("a", "c", "d", EOS):
        assert model.prob(word, filled) == pytest.approx(other.score(word, tuple(filled)), abs=1e-12)


def test_continuation_count_of_francisco_is_one_however_often_it_is_used():
    counts = NgramCounts.of(SAN, order=2)
    model = KneserNey(counts, discount=0.5)
    assert [counts.count(word, []) for word in ("Francisco", "glasses")] == [6, 4]
    assert [model.continuation_count(word) for word in ("Francisco", "glasses")] == [1, 4]
    assert counts.predecessors("glasses") == ("my", "his", "two", "new")
    # after a word that neither followed, frequency and continuation disagree
    frequency = Interpolated(counts, (0, 0.5, 0.5))
    assert frequency.prob("Francisco", ["Francisco"]) > frequency.prob("glasses", ["Francisco"])
    assert model.prob("Francisco", ["Francisco"]) < model.prob("glasses", ["Francisco"])


@given(corpora)
def test_continuation_counts_are_the_numbers_of_predecessors(corpus):
    counts = NgramCounts.of(corpus, 2, V)
    model = KneserNey(counts)
    for word in (*"abc", EOS):
        assert model.continuation_count(word) == len(counts.predecessors(word))
    assert model.levels[0].totals[()] == len(counts.ngrams)


def test_estimate_discount_by_hand():
    assert estimate_discount(NgramCounts.of([["a"], ["b"], ["c"], ["c"]], 2, V)) == 4 / (4 + 2 * 2)
    with pytest.raises(ValueError, match="expected n-grams that were seen once, got none"):
        estimate_discount(NgramCounts.of([["a"], ["a"]], 2, V))


@pytest.mark.parametrize("discount", [0, -0.5, 1.01, math.nan])
def test_kneser_ney_refuses_discounts(discount):
    with pytest.raises(ValueError, match="discount: expected a number above 0 and at most 1"):
        KneserNey(NgramCounts.of([["a"]], 2, V), discount)


def test_continuation_counts_need_a_context():
    with pytest.raises(ValueError, match="table: expected contexts of at least one word"):
        continuation_table(CountTable({(): {1: 1}}))
    with pytest.raises(ValueError, match="continuation_count: expected a model of order 2 or more"):
        KneserNey(NgramCounts.of([["a"]], 1, V)).continuation_count("a")
