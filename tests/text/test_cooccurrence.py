"""Counting: by hand on three words, laws of windows and PMI, scipy's expected frequencies, bad input."""

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import contingency

from onesentence.text.cooccurrence import (
    Window,
    count_pairs,
    pmi,
    ppmi,
    probabilities,
    shifted_ppmi,
)

WORDS = "茶水书"
corpora = st.lists(st.lists(st.sampled_from("茶水书笔"), min_size=1, max_size=7), min_size=1, max_size=6)
windows = st.builds(Window, st.integers(1, 5), st.just("both"), st.sampled_from(["flat", "inverse"]))
count_matrices = st.lists(
    st.lists(st.integers(0, 20), min_size=4, max_size=4), min_size=4, max_size=4
).filter(lambda rows: sum(map(sum, rows)) > 0)


def test_count_pairs_by_hand():
    counts = count_pairs([["茶", "水", "水", "书"]], Window(1))
    assert counts.vocabulary == ("茶", "水", "书")
    assert counts.matrix.tolist() == [[0, 1, 0], [1, 2, 1], [0, 1, 0]]
    assert counts.of("水", "水") == 2  # each of the two stands beside the other


@pytest.mark.parametrize(
    ("window", "matrix"),
    [
        (Window(2), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        (Window(2, "right"), [[0, 1, 1], [0, 0, 1], [0, 0, 0]]),
        (Window(2, "left"), [[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
        (Window(9, "right", "inverse"), [[0, 1, 0.5], [0, 0, 1], [0, 0, 0]]),
    ],
)
def test_count_pairs_window_by_hand(window, matrix):
    assert count_pairs([list(WORDS)], window).matrix.tolist() == matrix


def test_count_pairs_stops_at_the_end_of_a_sentence():
    assert count_pairs([["茶", "水"], ["书"]], Window(5)).of("水", "书") == 0


def test_count_pairs_keeps_the_place_of_a_word_that_is_not_counted():
    counts = count_pairs([["茶", "水", "书"]], Window(2, weighting="inverse"), ["书", "茶"])
    assert counts.vocabulary == ("书", "茶")
    assert counts.of("茶", "书") == 0.5
    assert count_pairs([["茶", "水", "书"]], Window(1), ["书", "茶"]).matrix.sum() == 0


@given(corpora, st.integers(1, 5))
def test_count_pairs_equals_counting_positions(corpus, radius):
    expected = Counter()
    for words in corpus:
        for i, centre in enumerate(words):
            for j, context in enumerate(words):
                if 0 < j - i <= radius:
                    expected[centre, context] += 1
    counts = count_pairs(corpus, Window(radius, "right"))
    found = {(a, b): counts.of(a, b) for a in counts.vocabulary for b in counts.vocabulary}
    assert {pair: count for pair, count in found.items() if count} == expected


@given(corpora, windows)
def test_count_pairs_both_is_symmetric_and_the_sum_of_left_and_right(corpus, window):
    both = count_pairs(corpus, window).matrix
    left, right = (
        count_pairs(corpus, Window(window.radius, side, window.weighting)).matrix
        for side in ("left", "right")
    )
    np.testing.assert_allclose(both, both.T, rtol=1e-12)
    np.testing.assert_allclose(left, right.T, rtol=1e-12)
    np.testing.assert_allclose(both, left + right, rtol=1e-12)


def test_probabilities_come_from_one_counting_and_not_from_running_words():
    p = probabilities(count_pairs([["茶", "水", "水", "书"]], Window(1)).matrix)
    np.testing.assert_allclose(
        p.centre, [1 / 6, 4 / 6, 1 / 6]
    )  # 水 is half of the words, two thirds of pairs
    np.testing.assert_allclose(p.context, p.centre)
    np.testing.assert_allclose(p.joint.sum(axis=1), p.centre)
    assert abs(p.joint.sum() - 1) < 1e-12


def test_pmi_by_hand():
    found = pmi(count_pairs([["茶", "水", "水", "书"]], Window(1)).matrix)
    np.testing.assert_allclose(found[0, 1], np.log(1.5))
    np.testing.assert_allclose(found[1, 1], np.log(0.75))
    assert found[0, 2] == -np.inf


@given(corpora.filter(lambda corpus: any(len(words) > 1 for words in corpus)), windows)
def test_pmi_of_a_symmetric_window_is_symmetric(corpus, window):
    found = pmi(count_pairs(corpus, window).matrix)
    np.testing.assert_allclose(found, found.T, atol=1e-12)


@given(count_matrices)
def test_pmi_agrees_with_scipy_expected_frequencies(rows):
    counts = np.array(rows, dtype=float)
    seen = counts > 0
    expected = np.log(counts[seen] / contingency.expected_freq(counts)[seen])
    found = pmi(counts)
    np.testing.assert_allclose(found[seen], expected, atol=1e-12)
    assert (found[~seen] == -np.inf).all()


@given(count_matrices)
def test_pmi_never_exceeds_minus_log_of_the_commoner_word(rows):
    p = probabilities(rows)
    with np.errstate(divide="ignore"):
        bound = -np.log(np.maximum.outer(p.centre, p.context))
    assert (pmi(rows) <= bound + 1e-9).all()


@given(count_matrices, st.integers(2, 9))
def test_pmi_does_not_change_when_the_corpus_is_repeated(rows, times):
    np.testing.assert_allclose(pmi(np.array(rows) * times), pmi(rows), atol=1e-9)


def test_pmi_of_independent_words_is_zero():
    np.testing.assert_allclose(pmi(np.outer([1, 2, 5], [3, 1])), 0, atol=1e-12)


def test_pmi_and_ppmi_of_words_without_pairs_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (pmi([[0, 0], [0, 3]]) == [[-np.inf, -np.inf], [-np.inf, 0]]).all()
        assert (ppmi([[0, 0], [0, 3]]) == 0).all()


def test_pmi_of_a_single_coincidence_beats_a_frequent_pair():
    matrix = np.diag([0.0, 1.0]) + np.zeros((2, 2))
    matrix[0, 0] = 500
    assert pmi(matrix)[1, 1] > pmi(matrix)[0, 0] + 6


def test_shifted_ppmi_is_ppmi_at_one_and_lower_by_log_k_above():
    counts = [[8, 1], [2, 9]]
    np.testing.assert_array_equal(shifted_ppmi(counts, 1), ppmi(counts))
    np.testing.assert_allclose(shifted_ppmi(counts, 1.3), np.maximum(0, ppmi(counts) - np.log(1.3)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"radius": 0}, ValueError, "radius must be at least 1, got 0"),
        ({"radius": 1.5}, TypeError, "radius must be an integer, got 1.5"),
        ({"radius": True}, TypeError, "radius must be an integer, got True"),
        ({"radius": 1, "side": "up"}, ValueError, "side must be 'both', 'left' or 'right', got 'up'"),
        ({"radius": 1, "weighting": "none"}, ValueError, "weighting must be 'flat' or 'inverse', got 'none'"),
    ],
)
def test_window_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        Window(**arguments)


def test_count_pairs_refuses_a_corpus_without_words():
    with pytest.raises(ValueError, match="sentences must hold at least one word, got 0 empty sentences"):
        count_pairs([], Window(1))
    with pytest.raises(ValueError, match="got 2 empty sentences"):
        count_pairs([[], []], Window(1))


def test_count_pairs_refuses_text_that_is_not_cut():
    with pytest.raises(TypeError, match="sentences must be cut into words, got the text '我昨天'"):
        count_pairs(["我昨天"], Window(1))


@pytest.mark.parametrize("vocabulary", [[], ["茶", "茶"]])
def test_count_pairs_refuses_a_vocabulary(vocabulary):
    with pytest.raises(ValueError, match="vocabulary must hold different words and at least one"):
        count_pairs([["茶"]], Window(1), vocabulary)


def test_cooccurrence_refuses_an_unknown_word():
    with pytest.raises(ValueError, match="word: '书' is not in the vocabulary of 1 words"):
        count_pairs([["茶"]], Window(1)).of("茶", "书")


@pytest.mark.parametrize("measure", [probabilities, pmi, ppmi, lambda counts: shifted_ppmi(counts, 2)])
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], r"counts must be a matrix of centre by context words, got shape \(2,\)"),
        ([[1, -1]], "counts must be finite and non-negative"),
        ([[1, np.nan]], "counts must be finite and non-negative"),
        ([[0, 0]], r"counts must have a positive sum, got 0 in shape \(1, 2\)"),
    ],
)
def test_measures_refuse_what_is_no_counting(measure, counts, message):
    with pytest.raises(ValueError, match=message):
        measure(counts)


def test_shifted_ppmi_refuses_a_number_of_samples():
    with pytest.raises(ValueError, match="negatives must be positive and finite, got 0"):
        shifted_ppmi([[1]], 0)
    with pytest.raises(TypeError, match="negatives must be a number, got '5'"):
        shifted_ppmi([[1]], "5")


def test_pmi_of_whole_counts_is_symmetric_to_the_last_bit():
    counts = np.random.default_rng(0).integers(0, 40, (76, 76))
    counts = counts + counts.T
    np.testing.assert_array_equal(pmi(counts), pmi(counts).T)
