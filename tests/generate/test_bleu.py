"""BLEU: values by hand, sacrebleu on random and real text, what it refuses."""

from __future__ import annotations

import math
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.metrics import BLEU

from onesentence.generate.bleu import (
    Bleu,
    bleu,
    brevity_penalty,
    clipped_matches,
    closest_length,
    mean_sentence_bleu,
    ngrams,
)
from onesentence.generate.bleu_tokens import tokens

NAMES = ("13a", "zh", "char", "none")
SMOOTHINGS = (
    ("none", None),
    ("floor", None),
    ("floor", 0.01),
    ("add-k", None),
    ("add-k", 0.3),
    ("exp", None),
)
REAL = (
    ("I gave a book yesterday.", ("I gave him a book yesterday.", "Yesterday I gave him a book.")),
    ("He gave me a book yesterday.", ("I gave him a book yesterday.",)),
    ("我昨天给了他一本书。", ("昨天我给了他一本书。", "我昨天给他书。")),
    ('It cost 3.14, or 1,000 - he\'s sure: "yes".', ("It cost 3.14 or 1000; he is sure - yes.",)),
)
WORDS = st.text(alphabet="我他a b,.“1-&", max_size=14)
CORPORA = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=4)


def theirs(hypotheses, references, tokenisation, smoothing, value, n, lowercase):
    metric = BLEU(
        tokenize=tokenisation,
        smooth_method=smoothing,
        smooth_value=value,
        max_ngram_order=n,
        lowercase=lowercase,
        force=True,
    )
    streams = [list(stream) for stream in zip_longest(*references)]
    return metric, metric.corpus_score(list(hypotheses), streams)


def assert_equal(ours: Bleu, score):
    assert ours.score == pytest.approx(score.score, abs=1e-9)
    assert [100 * p for p in ours.precisions] == pytest.approx(score.precisions, abs=1e-9)
    assert ours.brevity_penalty == pytest.approx(score.bp, abs=1e-12)
    assert (ours.hypothesis_length, ours.reference_length) == (score.sys_len, score.ref_len)


@pytest.mark.parametrize("tokenisation", NAMES)
@pytest.mark.parametrize(("smoothing", "value"), SMOOTHINGS)
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_bleu_equals_sacrebleu_on_real_sentences(tokenisation, smoothing, value, n):
    hypotheses, references = zip(*REAL, strict=True)
    for lowercase in (False, True):
        metric, score = theirs(hypotheses, references, tokenisation, smoothing, value, n, lowercase)
        ours = bleu(
            hypotheses,
            references,
            tokenisation=tokenisation,
            smoothing=smoothing,
            value=value,
            n=n,
            lowercase=lowercase,
        )
        assert_equal(ours, score)
        begin = str(metric.get_signature()).rsplit("|version", 1)[0]
        assert ours.signature == f"{begin}|n:{n}|equal-to:sacrebleu-2.5.1"
        if smoothing == "none":
            assert (list(ours.matches), list(ours.totals)) == (score.counts, score.totals)


@given(CORPORA, st.sampled_from(NAMES), st.sampled_from(SMOOTHINGS), st.integers(1, 5))
def test_bleu_equals_sacrebleu_on_random_text(corpus, tokenisation, smoothing, n):
    hypotheses, references = zip(*corpus, strict=True)
    name, value = smoothing
    ours = bleu(hypotheses, references, tokenisation=tokenisation, smoothing=name, value=value, n=n)
    assert_equal(ours, theirs(hypotheses, references, tokenisation, name, value, n, False)[1])


@given(st.lists(st.text(alphabet="我他给a b", min_size=1, max_size=9), min_size=1, max_size=4))
def test_bleu_of_the_reference_is_100_or_has_no_ngram(sentences):
    result = bleu(sentences, [[s] for s in sentences], tokenisation="char", n=2)
    assert result.score == pytest.approx(100 if all(result.totals) else 0)


def test_bleu_by_hand():
    result = bleu(["I gave a book yesterday"], [["I gave her a book yesterday"]], tokenisation="none", n=2)
    assert (result.matches, result.totals) == ((5, 3), (5, 4))
    assert result.precisions == (1, 0.75)
    assert result.score == pytest.approx(100 * math.exp(-0.2) * math.sqrt(0.75), abs=1e-12)
    assert (result.hypothesis_length, result.reference_length) == (5, 6)


def test_bleu_pools_counts_where_the_mean_does_not():
    hypotheses, references = ["a b", "a c d e f g"], [["a b"], ["a x y z u v"]]
    pooled = bleu(hypotheses, references, tokenisation="none", n=1)
    assert pooled.score == pytest.approx(100 * 3 / 8)
    mean = mean_sentence_bleu(hypotheses, references, tokenisation="none", n=1)
    assert mean == pytest.approx(100 * (1 + 1 / 6) / 2)


def test_bleu_of_a_sentence_shorter_than_n_is_zero_even_if_perfect():
    assert bleu(["I left ."], [["I left ."]], tokenisation="none").score == 0
    assert bleu(["I left ."], [["I left ."]], tokenisation="none", n=3).score == pytest.approx(100)


def test_bleu_smoothing_by_hand():
    def precisions(smoothing, value=None):
        return bleu(
            ["a c b d"], [["a b c d"]], tokenisation="none", smoothing=smoothing, value=value
        ).precisions

    assert precisions("none") == (1, 0, 0, 0)
    assert precisions("floor") == pytest.approx((1, 0.1 / 3, 0.1 / 2, 0.1))
    assert precisions("add-k") == pytest.approx((1, 1 / 4, 1 / 3, 1 / 2))
    assert precisions("exp") == pytest.approx((1, 1 / 6, 1 / 8, 1 / 8))


@pytest.mark.parametrize("smoothing", ["none", "floor", "add-k", "exp"])
def test_bleu_of_nothing_right_is_zero_however_smoothed(smoothing):
    for hypothesis in ("", "x y"):
        assert bleu([hypothesis], [["a b"]], tokenisation="none", smoothing=smoothing).score == 0


def test_bleu_counts_an_empty_hypothesis_in_the_length():
    result = bleu(["a b", ""], [["a b"], ["c d"]], tokenisation="none", n=1)
    assert result.score == pytest.approx(100 * math.exp(-1))


def test_clipped_matches_takes_the_maximum_over_references():
    words = ["the", "the", "the", "the", "the", "the", "the"]  # Papineni et al., example 2: 2/7
    references = [["the", "cat", "is", "on", "the", "mat"], ["there", "is", "a", "cat", "on", "the", "mat"]]
    assert clipped_matches(words, references, 1) == 2
    assert clipped_matches(words, references[1:], 1) == 1
    assert clipped_matches(words, references, 2) == 0


def test_ngrams_counts_every_run():
    assert ngrams(["a", "b", "a", "b"], 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert ngrams(["a"], 2).total() == 0


def test_ngrams_refuses_a_string_for_tokens():
    with pytest.raises(TypeError, match="words must be tokens, got the string 'a b'"):
        ngrams("a b", 1)
    with pytest.raises(TypeError, match="words must be tokens, got the string 'a'"):
        clipped_matches(["a"], "ab", 1)


def test_bleu_lowercase_is_no_case_folding():
    pairs = ["Straße", "ÉTÉ"], [["STRASSE"], ["été"]]
    ours = bleu(*pairs, tokenisation="none", n=1, lowercase=True)
    assert ours.matches == (1,)
    assert_equal(ours, theirs(*pairs, "none", "none", None, 1, True)[1])


def test_bleu_floor_may_count_a_whole_match():
    floor = bleu(["a b"], [["a c"]], tokenisation="none", smoothing="floor", value=1.0, n=2)
    assert floor.precisions == (0.5, 1.0)


def test_bleu_takes_arrays_of_strings():
    arrays = np.array(["a b", "c"]), [np.array(["a b"]), np.array(["d", "c"])]
    assert bleu(*arrays, tokenisation="none", n=1).score == pytest.approx(100)


@given(CORPORA, st.integers(1, 4))
def test_bleu_equals_nltk_where_every_order_matches(corpus, n):
    hypotheses, references = zip(*corpus, strict=True)
    ours = bleu(hypotheses, references, tokenisation="char", n=n)
    cut = [list(tokens(text, "char")) for text in hypotheses]
    if not all(ours.matches) or min(map(len, cut)) < n:  # nltk counts one n-gram where there is none
        return
    groups = [[list(tokens(text, "char")) for text in group] for group in references]
    assert ours.score == pytest.approx(100 * corpus_bleu(groups, cut, weights=[1 / n] * n), abs=1e-9)


def test_closest_length_prefers_the_shorter_of_two():
    assert closest_length(10, [12, 8, 20]) == 8
    assert closest_length(10, [8, 11]) == 11
    with pytest.raises(ValueError, match="lengths: expected at least one"):
        closest_length(3, [])


def test_brevity_penalty_by_hand():
    assert [brevity_penalty(c, 4) for c in (0, 4, 5)] == [0, 1, 1]
    assert brevity_penalty(2, 4) == pytest.approx(math.exp(-1))
    with pytest.raises(ValueError, match="c must be at least 0, got -1"):
        brevity_penalty(-1, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypotheses": [], "references": []}, "hypotheses: expected at least one, got none"),
        ({"references": [["a"], ["b"]]}, "references must have an entry per hypothesis, got 2 for 1"),
        ({"references": [[]]}, r"references\[0\]: expected at least one reference, got none"),
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"tokenisation": "intl"}, "tokenisation must be one of 13a, zh, char, none, got 'intl'"),
        ({"smoothing": "add"}, "smoothing must be one of none, floor, add-k, exp, got 'add'"),
        ({"smoothing": "exp", "value": 0.1}, "value must be None for smoothing 'exp', got 0.1"),
        ({"smoothing": "floor", "value": 0.0}, "value must be finite and positive, got 0.0"),
        ({"smoothing": "add-k", "value": math.nan}, "value must be finite and positive, got nan"),
        ({"smoothing": "floor", "value": 1.5}, "value must be at most 1 for smoothing 'floor', got 1.5"),
        ({"smoothing": ["none"]}, r"smoothing must be one of none, floor, add-k, exp, got \['none'\]"),
    ],
)
def test_bleu_refuses(change, message):
    for function in (bleu, mean_sentence_bleu):
        with pytest.raises(ValueError, match=message):
            function(**{"hypotheses": ["a"], "references": [["a"]], "tokenisation": "none", **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypotheses": "a"}, "hypotheses must be a sequence with an entry per sentence, got the string 'a'"),
        ({"references": ["a"]}, r"references\[0\] must be a sequence of strings, got the string 'a'"),
        ({"hypotheses": [None]}, "text must be a string, got None"),
        ({"n": 2.0}, "n must be an integer, got 2.0"),
        ({"hypotheses": None}, "hypotheses must be a sequence with an entry per sentence, got None"),
        ({"references": None}, "references must be a sequence with an entry per sentence, got None"),
        ({"references": [None]}, r"references\[0\] must be a sequence of strings, got None"),
        ({"smoothing": "floor", "value": "1"}, "value must be a number, got '1'"),
        ({"smoothing": "add-k", "value": True}, "value must be a number, got True"),
    ],
)
def test_bleu_refuses_types(change, message):
    with pytest.raises(TypeError, match=message):
        bleu(**{"hypotheses": ["a"], "references": [["a"]], "tokenisation": "none", **change})


def test_bleu_has_no_default_tokenisation():
    with pytest.raises(TypeError, match="tokenisation"):
        bleu(["a"], [["a"]])


def test_result_refuses():
    with pytest.raises(ValueError, match=r"score must lie in \[0, 100\], got 101"):
        Bleu(101, (1,), (1,), (1.0,), 1.0, 1, 1, "")
    with pytest.raises(ValueError, match=r"one entry per order, got \(1, 2, 1\)"):
        Bleu(1.0, (1,), (1, 1), (1.0,), 1.0, 1, 1, "")
