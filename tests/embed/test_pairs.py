"""Pairs and windows: the pairs of the book's sentences, counts, symmetry, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.embed.pairs import cbow_arrays, cbow_examples, skip_gram_arrays, skip_gram_pairs
from onesentence.sentence.example import UNITS

BANK = ("She", "deposited", "money", "at", "the", "bank", ".")


def of(centre, pairs):
    return [pair for pair in pairs if pair[0] == centre]


def test_skip_gram_pairs_of_the_book_s_sentences():
    assert of("书", skip_gram_pairs(UNITS, 1)) == [("书", "本"), ("书", "。")]
    expected = [("money", word) for word in ("She", "deposited", "at", "the")]
    assert of("money", skip_gram_pairs(BANK, 2)) == expected


def test_skip_gram_pairs_repeats_a_word_that_stands_twice():
    assert skip_gram_pairs("aba", 1) == (("a", "b"), ("b", "a"), ("b", "a"), ("a", "b"))


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 5))
def test_skip_gram_pairs_count(tokens, radius):
    n = len(tokens)
    pairs = skip_gram_pairs(tokens, radius)
    assert len(pairs) == 2 * sum(max(0, n - distance) for distance in range(1, radius + 1))
    assert sorted(pairs) == sorted((b, a) for a, b in pairs)  # both sides: symmetric
    left, right = (skip_gram_pairs(tokens, radius, side) for side in ("left", "right"))
    assert sorted(left + right) == sorted(pairs)
    assert sorted(left) == sorted((b, a) for a, b in right)


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 5))
def test_cbow_examples_hold_the_same_pairs(tokens, radius):
    turned = [(centre, word) for window, centre in cbow_examples(tokens, radius) for word in window]
    assert tuple(turned) == skip_gram_pairs(tokens, radius)


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=4), st.integers(1, 3))
def test_arrays_equal_the_tuples(sentences, radius):
    pairs = [pair for s in sentences for pair in skip_gram_pairs(s, radius)]
    if not pairs:
        return
    inputs, outputs = skip_gram_arrays(sentences, radius)
    assert list(zip(inputs[:, 0].tolist(), outputs.tolist(), strict=True)) == pairs
    windows, centres = cbow_arrays(sentences, radius)
    examples = [example for s in sentences for example in cbow_examples(s, radius)]
    assert [tuple(row[row >= 0].tolist()) for row in windows] == [window for window, _ in examples]
    assert centres.tolist() == [centre for _, centre in examples]
    assert centres.dtype == np.intp


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: skip_gram_pairs("ab", 0), ValueError, "radius must be at least 1, got 0"),
        (lambda: skip_gram_pairs("ab", 1.5), TypeError, r"radius must be an integer, got 1\.5"),
        (lambda: skip_gram_pairs("ab", True), TypeError, "radius must be an integer, got True"),
        (lambda: skip_gram_pairs("ab", 1, "up"), ValueError, "side must be .*, got 'up'"),
        (lambda: skip_gram_arrays([[1], []], 1), ValueError, "sentences must hold at least one pair"),
        (lambda: cbow_arrays([], 1), ValueError, "sentences must hold at least one pair"),
    ],
)
def test_pairs_refuse_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("arrays", [skip_gram_arrays, cbow_arrays])
def test_arrays_refuse_what_is_no_id(arrays):
    for sentence in ([0.5, 1.7], [True, False], "12"):
        with pytest.raises(TypeError, match="sentences must hold integer IDs"):
            arrays([sentence], 1)
    with pytest.raises(ValueError, match="IDs of at least 0, got -1"):
        arrays([[0, -1]], 1)
