"""Exact-match span scores by hand, against scikit-learn and as laws, and the constructed comparison set."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from onesentence.sentence.example import NAMED, SENTENCE
from onesentence.text.entities import (
    CHINESE_NAME_RULES,
    PER_ORG_LOC,
    DictionaryExtractor,
    RuleExtractor,
    Schema,
    Span,
    surfaces,
)
from onesentence.text.span_scoring import (
    EVALUATION,
    NAMES,
    Annotated,
    SpanScore,
    compare,
    evaluate,
    score,
    score_corpus,
)

DICTIONARY = DictionaryExtractor(PER_ORG_LOC, NAMES)
RULES = RuleExtractor(PER_ORG_LOC, CHINESE_NAME_RULES)
BY_TEXT = {sentence.text: sentence for sentence in EVALUATION}

span_sets = st.sets(
    st.builds(
        lambda start, length, label: Span(start, start + length, label),
        st.integers(0, 4),
        st.integers(1, 2),
        st.sampled_from(PER_ORG_LOC.labels),
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1"),
    [
        ((0, 0, 0), None, None, None),
        ((0, 2, 0), 0.0, None, 0.0),
        ((0, 0, 2), None, 0.0, 0.0),
        ((0, 1, 1), 0.0, 0.0, 0.0),
        ((3, 1, 2), 3 / 4, 3 / 5, 2 / 3),
        ((2, 0, 0), 1.0, 1.0, 1.0),
    ],
)
def test_span_score_rates_by_hand(counts, precision, recall, f1):
    result = SpanScore(*counts)
    assert (result.precision, result.recall) == (precision, recall)
    assert result.f1 == (None if f1 is None else pytest.approx(f1, abs=1e-15))


def test_span_score_refuses_negative_counts():
    with pytest.raises(ValueError, match="fn: expected a count of at least 0, got -1"):
        SpanScore(tp=0, fp=0, fn=-1)


def test_score_counts_a_wrong_boundary_or_label_as_one_false_and_one_missed():
    gold = [Span(0, 4, "ORG"), Span(6, 8, "PER"), Span(9, 11, "LOC")]
    predicted = [Span(0, 2, "ORG"), Span(6, 8, "LOC"), Span(9, 11, "LOC")]
    assert score(gold, predicted) == SpanScore(tp=1, fp=2, fn=2)
    assert compare(gold, predicted) == (
        (Span(9, 11, "LOC"),),
        (Span(0, 2, "ORG"), Span(6, 8, "LOC")),
        (Span(0, 4, "ORG"), Span(6, 8, "PER")),
    )


def test_score_refuses_a_span_given_twice():
    twice = [Span(0, 2, "PER"), Span(0, 2, "PER")]
    with pytest.raises(ValueError, match=r"gold: Span\(start=0, end=2, label='PER'\) is given twice"):
        score(twice, [])
    with pytest.raises(ValueError, match=r"predicted: .* is given twice"):
        score([], twice)


@given(span_sets, span_sets)
def test_score_laws_counts_add_up_and_swapping_swaps_precision_and_recall(gold, predicted):
    result, swapped = score(gold, predicted), score(predicted, gold)
    assert result.tp + result.fn == len(gold)
    assert result.tp + result.fp == len(predicted)
    assert (swapped.precision, swapped.recall, swapped.f1) == (result.recall, result.precision, result.f1)


@given(span_sets, span_sets)
def test_score_equals_scikit_learn_on_span_indicators(gold, predicted):
    candidates = [Span(i, i + n, label) for i in range(5) for n in (1, 2) for label in PER_ORG_LOC.labels]
    indicators = [np.array([span in side for span in candidates], dtype=int) for side in (gold, predicted)]
    expected = precision_recall_fscore_support(*indicators, average="binary", zero_division=np.nan)[:3]
    result = score(gold, predicted)
    for ours, theirs in zip((result.precision, result.recall, result.f1), expected, strict=True):
        assert (ours is None) == math.isnan(theirs)
        if ours is not None:
            assert ours == pytest.approx(theirs, abs=1e-12)


@given(st.lists(st.tuples(span_sets, span_sets), max_size=4))
def test_score_corpus_equals_one_text_after_another(pairs):
    joined_gold, joined_predicted = (
        {Span(s.start + 10 * i, s.end + 10 * i, s.label) for i, pair in enumerate(pairs) for s in pair[side]}
        for side in (0, 1)
    )
    assert score_corpus([g for g, _ in pairs], [p for _, p in pairs]) == score(joined_gold, joined_predicted)


def test_score_corpus_is_the_micro_and_not_the_macro_average():
    golds = [[Span(0, 1, "PER")], [Span(i, i + 1, "PER") for i in range(4)]]
    result = score_corpus(golds, [[Span(0, 1, "PER")], [Span(0, 1, "PER")]])
    assert result.recall == pytest.approx(2 / 5)  # the mean of 1/1 and 1/4 would be 5/8


def test_score_corpus_refuses_different_lengths():
    with pytest.raises(ValueError, match="expected one per text, 2 in all, got 1"):
        score_corpus([[], []], [[]])


def test_annotated_parse_counts_positions_in_the_plain_text():
    parsed = Annotated.parse("老师把[李华|PER]和[北京|LOC]写下。")
    assert parsed == Annotated("老师把李华和北京写下。", (Span(3, 5, "PER"), Span(6, 8, "LOC")))


@pytest.mark.parametrize(
    ("marked", "sign"), [("[张明|PER来了", r"\["), ("张明|PER", r"\|"), ("张明]", r"\]")]
)
def test_annotated_parse_refuses_a_stray_mark(marked, sign):
    with pytest.raises(ValueError, match=f"marked: stray '{sign}'"):
        Annotated.parse(marked)


def test_annotated_refuses_unsorted_or_outlying_spans():
    with pytest.raises(ValueError, match="expected them sorted by position"):
        Annotated("张明李华", (Span(2, 4, "PER"), Span(0, 2, "PER")))
    with pytest.raises(ValueError, match="lies outside the text of 2 characters"):
        Annotated("张明", (Span(0, 3, "PER"),))


def test_evaluation_holds_the_cases_it_is_there_for():
    assert (EVALUATION[0].text, EVALUATION[0].spans) == (SENTENCE, ())
    assert surfaces(NAMED.text, BY_TEXT[NAMED.text].spans) == [("张明", "PER"), ("李华", "PER")]
    assert len(BY_TEXT) == len(EVALUATION) == 10
    gold = [surface for one in EVALUATION for surface in surfaces(one.text, one.spans)]
    assert len(gold) == 17
    assert {label for _, label in gold} == set(PER_ORG_LOC.labels)
    assert not {"我", "他", "她"} & {name for name, _ in gold}
    nested = BY_TEXT["王芳把三本书送给了北京大学。"]
    assert surfaces(nested.text, nested.spans) == [("王芳", "PER"), ("北京大学", "ORG")]


@pytest.mark.parametrize(
    ("extractor", "tp", "fp", "fn"),
    [
        # By hand: 5 gold names are unknown, the publisher among them; 北京大学 in it and one 高明 are false.
        (DICTIONARY, 12, 2, 5),
        # By hand: 4 ORG/LOC, 欧阳兰, 小梅 and 李华 before 又 are missed; 周一 and 李华又 are false.
        (RULES, 10, 2, 7),
        # By hand: as the dictionary, and 北京 inside 北京大学 twice.
        (DictionaryExtractor(PER_ORG_LOC, NAMES, overlaps="all"), 12, 4, 5),
    ],
)
def test_evaluate_counts_by_hand(extractor, tp, fp, fn):
    assert evaluate(extractor, EVALUATION, PER_ORG_LOC) == SpanScore(tp=tp, fp=fp, fn=fn)


def test_evaluate_spurious_and_missed_spans_by_name():
    publisher = BY_TEXT["北京大学出版社给了王芳两本词典。"]
    by_boundary = compare(publisher.spans, DICTIONARY.extract(publisher.text))
    assert surfaces(publisher.text, by_boundary.spurious) == [("北京大学", "ORG")]
    assert surfaces(publisher.text, by_boundary.missed) == [("北京大学出版社", "ORG")]
    homograph = BY_TEXT["老师给了高明一个高明的办法。"]
    assert compare(homograph.spans, DICTIONARY.extract(homograph.text)).spurious == (Span(8, 10, "PER"),)
    assert RULES.extract(homograph.text) == homograph.spans


def test_evaluate_refuses_labels_outside_the_common_schema():
    persons_only = Schema(("PER",))
    with pytest.raises(ValueError, match="label 'ORG' is not in the schema; allowed: PER"):
        evaluate(RULES, EVALUATION, persons_only)  # only the gold side has ORG
    time = Schema(("TIME",))
    extractor = DictionaryExtractor(time, {"昨天": "TIME"})
    with pytest.raises(ValueError, match="label 'TIME' is not in the schema"):
        evaluate(extractor, [Annotated(SENTENCE, ())], PER_ORG_LOC)
