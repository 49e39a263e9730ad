"""Counts, maximum likelihood and add-alpha: values by hand, nltk, laws of every count model."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import MLE, Laplace, Lidstone
from nltk.lm import Vocabulary as NltkVocabulary

from onesentence.text.interpolation import Interpolated
from onesentence.text.kneser_ney import KneserNey
from onesentence.text.language_model import LanguageModel
from onesentence.text.ngram import AddAlpha, MaximumLikelihood, additive
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabulary

GAVE = [s.split() for s in ("I gave her a book", "I gave her a pen", "I gave her a key", "I gave him a book")]
WITH_YOU = Vocabulary.from_sentences([*GAVE, ["you"]], specials=[BOS, EOS])

corpora = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=6)
contexts = st.lists(st.sampled_from("abcde"), max_size=3)


def nltk_model(kind, counts, **options):
    """An nltk model with the same n-grams: those that end at a predicted position, and no other."""
    model = kind(order=counts.order, vocabulary=NltkVocabulary(), **options)
    symbols = counts.vocabulary.symbols
    grams = []
    for gram, times in counts.ngrams.items():
        words = tuple(symbols[i] for i in gram)
        grams += [words[start:] for start in range(counts.order)] * times
    words = [w for w in symbols if w not in (BOS, UNK)]
    model.fit([grams], words)
    return model


def test_count_side_corpus_of_the_course():
    counts = NgramCounts.of(GAVE, order=3, vocabulary=WITH_YOU)
    assert [counts.count(word, ["I", "gave"]) for word in ("her", "him", "you")] == [3, 1, 0]
    assert counts.followers(["I", "gave"]) == {"her": 3, "him": 1}
    assert counts.followers(["book"]) == {"EOS": 2}
    assert counts.followers([BOS, BOS]) == {"I": 4}
    assert counts.count("a", []) == 4
    assert sum(counts.followers([]).values()) == 24
    assert counts.predecessors("a") == ("her", "him")
    assert counts.predecessors("I") == (BOS,)


@given(corpora, st.integers(1, 4))
def test_count_equals_sliding_windows_of_every_order(corpus, order):
    v = Vocabulary.from_words(list("abcd"), specials=[BOS, EOS])
    counts = NgramCounts.of(corpus, order, v)
    for k in range(1, order + 1):
        slow = Counter()
        for sentence in corpus:
            filled = [BOS] * (k - 1) + sentence + [EOS]
            slow.update(tuple(filled[i : i + k]) for i in range(len(filled) - k + 1))
        table = counts.tables[k - 1]
        found = {v.decode((*h, w)): c for h, row in table.rows.items() for w, c in row.items()}
        assert found == slow
        assert all(table.totals[h] == sum(row.values()) for h, row in table.rows.items())


def test_additive_worked_by_hand():
    assert additive([3, 1, 0]).tolist() == [3 / 4, 1 / 4, 0]
    assert additive([3, 1, 0], 1) == pytest.approx([4 / 7, 2 / 7, 1 / 7], abs=1e-15)
    assert additive([3, 1, 0, 0], 1).tolist() == [4 / 8, 2 / 8, 1 / 8, 1 / 8]
    assert additive([0, 0], 0.5).tolist() == [0.5, 0.5]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.floats(0.01, 100))
def test_additive_lies_between_frequency_and_uniform(counts, alpha):
    p = additive(counts, alpha)
    assert p.sum() == pytest.approx(1)
    if sum(counts):
        frequency, uniform = additive(counts), 1 / len(counts)
        assert (np.abs(p - uniform) <= np.abs(frequency - uniform) + 1e-12).all()


def test_maximum_likelihood_chain_rule_with_eos_by_hand():
    model = MaximumLikelihood(NgramCounts.of(GAVE, order=3, vocabulary=WITH_YOU))
    assert [model.prob(word, ["I", "gave"]) for word in ("her", "him", "you")] == [0.75, 0.25, 0]
    # 1 * 1 * 3/4 * 1 * 1/3 * 1: the sentence itself is one of four
    assert model.log_prob_sentence(["I", "gave", "her", "a", "book"]) == pytest.approx(math.log(1 / 4))
    assert model.log_prob_sentence(["I", "gave", "you", "a", "book"]) == -math.inf
    assert model.perplexity([["I", "gave", "her", "a", "book"]]) == pytest.approx(4 ** (1 / 6))
    assert model.perplexity([GAVE[0], ["I", "gave", "you", "a", "book"]]) == math.inf


def test_maximum_likelihood_short_context_is_the_beginning_of_a_sentence():
    model = MaximumLikelihood(NgramCounts.of([["a", "b"], ["b", "a"]], order=3))
    assert model.prob("a", []) == model.prob("a", [BOS, BOS]) == 0.5
    assert model.prob("b", ["a"]) == model.prob("b", [BOS, "a"]) == 1.0  # not 1/2, the bigram after any a


def test_maximum_likelihood_refuses_a_context_never_seen():
    model = MaximumLikelihood(NgramCounts.of(GAVE, order=3, vocabulary=WITH_YOU))
    for ask in (model.distribution, lambda context: model.prob("a", context)):
        with pytest.raises(ValueError, match=r"context: \('gave', 'you'\) was never seen, so C\(h\) = 0"):
            ask(["gave", "you"])


@given(corpora, st.integers(1, 3))
def test_maximum_likelihood_equals_nltk_on_seen_contexts(corpus, order):
    counts = NgramCounts.of(corpus, order, Vocabulary.from_words(list("abcd"), specials=[BOS, EOS]))
    model, other = MaximumLikelihood(counts), nltk_model(MLE, counts)
    for h in counts.tables[-1].rows:
        context = counts.vocabulary.decode(h)
        for word in "abcd":
            assert model.prob(word, context) == pytest.approx(other.score(word, context), abs=1e-12)


@given(corpora, st.integers(1, 3), contexts)
def test_add_alpha_equals_nltk_where_the_vocabulary_has_unk(corpus, order, context):
    counts = NgramCounts.of(corpus, order, Vocabulary.from_words(list("abcde"), specials=[BOS, EOS, UNK]))
    context = ([BOS] * 3 + context)[len(context) + 4 - order :]  # exactly order - 1 words
    for alpha, other in ((1, nltk_model(Laplace, counts)), (0.3, nltk_model(Lidstone, counts, gamma=0.3))):
        for word in ("a", "e", EOS):
            ours = AddAlpha(counts, alpha).prob(word, context)
            assert ours == pytest.approx(other.score(word, context), abs=1e-12)


def models(counts):
    weights = np.arange(1.0, counts.order + 2)
    return [
        AddAlpha(counts, 0.5),
        Interpolated(counts, weights / weights.sum()),
        KneserNey(counts, discount=0.6),
        KneserNey(counts, discount=1),
    ]


@given(corpora, st.integers(1, 4), contexts, st.sets(st.sampled_from(SPECIALS[::3])))
def test_every_model_normalises_and_agrees_with_itself(corpus, order, context, extra):
    v = Vocabulary.from_words(list("abcde"), specials={BOS, EOS, *extra})
    counts = NgramCounts.of(corpus, order, v)
    for model in models(counts):
        shown = context[max(0, len(context) - order + 1) :]
        p = model.distribution(shown)
        assert p.shape == (len(v),)
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert (p[v.candidates] > 0).all()  # EOS and words never seen included
        assert p[v.id(BOS)] == 0
        assert p.tolist() == pytest.approx([model.prob(word, shown) for word in v], abs=1e-14)


@given(corpora, st.integers(1, 3))
def test_every_model_multiplies_its_factors_and_perplexity_counts_eos(corpus, order):
    counts = NgramCounts.of(corpus, order, Vocabulary.from_words(list("abcde"), specials=[BOS, EOS]))
    for model in models(counts):
        for sentence in corpus:
            factors = [
                model.prob(word, sentence[max(0, t - order + 1) : t])
                for t, word in enumerate([*sentence, EOS])
            ]
            assert model.log_prob_sentence(sentence) == pytest.approx(sum(map(math.log, factors)))
        total = sum(model.log_prob_sentence(s) for s in corpus)
        expected = math.exp(-total / sum(len(s) + 1 for s in corpus))
        assert model.perplexity(corpus) == pytest.approx(expected)


def test_every_model_is_a_language_model():
    counts = NgramCounts.of(GAVE, order=2)
    for model in [MaximumLikelihood(counts), *models(counts)]:
        checked: LanguageModel = model
        assert checked.order == 2
        assert checked.vocabulary is counts.vocabulary


def test_sentences_of_all_lengths_share_one_only_with_eos():
    model = MaximumLikelihood(NgramCounts.of([["a"], ["a", "a"]], order=2))  # p(a|a) = 1/3, p(EOS|a) = 2/3
    lengths = [math.exp(model.log_prob_sentence(["a"] * n)) for n in range(1, 60)]
    assert sum(lengths) == pytest.approx(1)
    assert lengths[:2] == pytest.approx([2 / 3, 2 / 9])


def test_sample_reaching_the_limit_is_not_an_end():
    model = MaximumLikelihood(NgramCounts.of(GAVE, order=3))
    cut, whole = (model.sample(np.random.default_rng(1), steps) for steps in (5, 6))
    assert cut.words == whole.words
    assert (cut.ended, whole.ended) == (False, True)
    assert model.sample(np.random.default_rng(0), 1).words == ("I",)


def test_sample_frequencies_approach_the_probabilities():
    model = MaximumLikelihood(NgramCounts.of(GAVE, order=3))
    rng = np.random.default_rng(0)
    drawn = Counter(model.sample(rng, 10).words for _ in range(2000))
    assert set(drawn) == set(map(tuple, GAVE))
    assert all(abs(times / 2000 - 0.25) < 0.05 for times in drawn.values())


def test_sample_repeats_with_the_seed_and_never_draws_bos_or_pad():
    counts = NgramCounts.of(GAVE, 2, Vocabulary.from_sentences(GAVE, specials=SPECIALS))
    model = AddAlpha(counts, alpha=5)
    draws = [model.sample(np.random.default_rng(seed), 30) for seed in (*range(20), *range(20))]
    assert draws[:20] == draws[20:]
    assert not {"BOS", "PAD", "EOS"} & {word for sample in draws for word in sample.words}


def test_counts_of_sentences_without_words():
    counts = NgramCounts.of([[], ["a"]], order=2)
    assert counts.followers([BOS]) == {"EOS": 1, "a": 1}
    with pytest.raises(ValueError, match="expected at least one word"):
        NgramCounts.of([[]], order=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: NgramCounts.of([], 2), ValueError, "sentences: expected at least one, got an empty corpus"),
        (lambda: NgramCounts.of(GAVE, 0), ValueError, "order: expected an integer of at least 1, got 0"),
        (lambda: NgramCounts.of(GAVE, 1.5), ValueError, "order: expected an integer of at least 1, got 1.5"),
        (
            lambda: NgramCounts.of(["I gave"], 2),
            TypeError,
            "expected a sequence of words, got the single string",
        ),
        (
            lambda: NgramCounts.of([["I", EOS]], 2, WITH_YOU),
            ValueError,
            "sentence: expected words only, got EOS",
        ),
        (lambda: NgramCounts.of([["me"]], 2, WITH_YOU), ValueError, "word: 'me' is not among the 11 symbols"),
        (
            lambda: NgramCounts.of(GAVE, 2, Vocabulary.from_sentences(GAVE, specials=[EOS])),
            ValueError,
            "vocabulary: expected the special symbols BOS and EOS, BOS is missing",
        ),
        (lambda: NgramCounts(WITH_YOU, 2, {}), ValueError, "ngrams: expected at least one n-gram"),
        (
            lambda: NgramCounts(WITH_YOU, 2, {(0, 2): 0}),
            ValueError,
            r"count of at least 1 for \(0, 2\), got 0",
        ),
        (
            lambda: NgramCounts(WITH_YOU, 2, {(0, 2): -1}),
            ValueError,
            r"count of at least 1 for \(0, 2\), got -1",
        ),
        (
            lambda: NgramCounts(WITH_YOU, 2, {(0, 2): 1.5}),
            ValueError,
            r"count of at least 1 for \(0, 2\), got 1.5",
        ),
        (lambda: NgramCounts(WITH_YOU, 2, {(0, 2, 3): 1}), ValueError, "ngrams: expected 2 numbers in each"),
        (lambda: NgramCounts.of(GAVE, 1).predecessors("a"), ValueError, "expected counts of order 2 or more"),
        (
            lambda: NgramCounts.of(GAVE, 2).count("a", ["I", "gave"]),
            ValueError,
            "context: expected at most 1 words",
        ),
        (lambda: additive([]), ValueError, r"counts: expected shape \(V,\) with V >= 1"),
        (lambda: additive([3, -1]), ValueError, "counts: expected finite numbers of at least 0"),
        (
            lambda: additive([3, 1], -1),
            ValueError,
            "alpha: expected a finite pseudo-count of at least 0, got -1",
        ),
        (lambda: additive([0, 0]), ValueError, "expected a positive count where alpha is 0, got zeros only"),
    ],
)
def test_counts_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (
            lambda m: m.prob("a", ["I", "gave", "her"]),
            ValueError,
            "context: expected at most 2 words for order 3, got 3",
        ),
        (lambda m: m.distribution(["I"] * 3), ValueError, "context: expected at most 2 words for order 3"),
        (
            lambda m: m.distribution("I"),
            TypeError,
            "context: expected a sequence of words, got the single string",
        ),
        (
            lambda m: m.distribution(["I", EOS]),
            ValueError,
            "context: expected words, with BOS only before them",
        ),
        (
            lambda m: m.distribution(["I", BOS]),
            ValueError,
            "context: expected words, with BOS only before them",
        ),
        (lambda m: m.distribution(["me"]), ValueError, "word: 'me' is not among"),
        (lambda m: m.prob("me", []), ValueError, "word: 'me' is not among"),
        (lambda m: m.log_prob_sentence(["I", EOS]), ValueError, "sentence: expected words only, got EOS"),
        (
            lambda m: m.log_prob_sentence("I gave"),
            TypeError,
            "expected a sequence of words, got the single string",
        ),
        (lambda m: m.perplexity([]), ValueError, "sentences: expected at least one, got an empty corpus"),
        (
            lambda m: m.sample(np.random.default_rng(0), 0),
            ValueError,
            "max_length: expected at least 1 step, got 0",
        ),
    ],
)
def test_models_refuse(ask, error, message):
    with pytest.raises(error, match=message):
        ask(AddAlpha(NgramCounts.of(GAVE, 3, WITH_YOU), 1))


@pytest.mark.parametrize("alpha", [-1, -1e-9, math.nan, math.inf])
def test_add_alpha_refuses_negative_or_infinite_pseudo_counts(alpha):
    with pytest.raises(ValueError, match="alpha: expected a finite pseudo-count of at least 0"):
        AddAlpha(NgramCounts.of(GAVE, 2), alpha)


@pytest.mark.parametrize("gram", [(0, 99), (-1, 3), (3, 0)])
def test_numbers_outside_the_vocabulary_or_never_predicted_are_refused(gram):
    vocabulary = Vocabulary.from_words(["a", "b"], specials=["BOS", "EOS"])
    with pytest.raises(ValueError, match="expected numbers of the vocabulary, the last predictable"):
        NgramCounts(vocabulary, 2, {gram: 1})
