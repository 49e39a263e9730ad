"""Spans, schemas and the two extractors: by hand, and as laws on random names and texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.sentence.example import NAMED, SENTENCE
from onesentence.text.entities import (
    CHINESE_NAME_RULES,
    PER_ORG_LOC,
    DictionaryExtractor,
    Rule,
    RuleExtractor,
    Schema,
    Span,
    surfaces,
)
from onesentence.text.span_scoring import NAMES

DICTIONARY = DictionaryExtractor(PER_ORG_LOC, NAMES)
RULES = RuleExtractor(PER_ORG_LOC, CHINESE_NAME_RULES)

# Few characters and short names, so that random names meet, nest and overlap in random texts.
texts = st.text(alphabet="张明北京大学给", max_size=14)
dictionaries = st.dictionaries(
    st.text(alphabet="张明北京大学", min_size=1, max_size=4), st.sampled_from(PER_ORG_LOC.labels), max_size=5
)


def test_span_orders_by_start_then_end_then_label():
    spans = [Span(2, 4, "PER"), Span(0, 4, "ORG"), Span(0, 2, "PER"), Span(0, 2, "LOC")]
    assert sorted(spans) == [Span(0, 2, "LOC"), Span(0, 2, "PER"), Span(0, 4, "ORG"), Span(2, 4, "PER")]


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (0, 5), (3, 2)])
def test_span_text_refuses_a_span_outside_the_text(start, end):
    with pytest.raises(ValueError, match=r"lies outside the text of 4 characters"):
        Span(start, end, "PER").text("张明来了")


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (("PER", "PER"), ValueError, "'PER' is given twice"),
        ((), ValueError, "at least one label"),
        (("PER", " "), ValueError, "not blank, got ' '"),
        ("PER", TypeError, "expected a tuple of strings, got str"),
    ],
)
def test_schema_refuses_bad_labels(labels, error, message):
    with pytest.raises(error, match=message):
        Schema(labels)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([Span(1, 3, "TIME")], r"label 'TIME' is not in the schema; allowed: PER, ORG, LOC"),
        ([Span(8, 11, "PER")], r"start=8, end=11.* lies outside the text of 10 characters"),
        ([Span(-1, 1, "PER")], r"start=-1.* lies outside the text of 10 characters"),
        ([Span(3, 3, "PER")], r"start=3, end=3.* is empty; expected start < end"),
        ([Span(4, 3, "PER")], r"start=4, end=3.* is empty"),
        ([Span(0, 1, "PER"), Span(2, 3, "LOC"), Span(0, 1, "PER")], r"start=0, end=1.* is given twice"),
    ],
)
def test_schema_validate_names_the_fault(spans, message):
    with pytest.raises(ValueError, match=message):
        PER_ORG_LOC.validate(spans, SENTENCE)


def test_schema_validate_accepts_spans_up_to_both_ends_and_two_labels_on_one_stretch():
    PER_ORG_LOC.validate([Span(0, 10, "PER"), Span(0, 10, "LOC"), Span(9, 10, "ORG")], SENTENCE)


@pytest.mark.parametrize("extractor", [DICTIONARY, RULES])
def test_extractors_find_nothing_in_the_main_sentence_and_two_persons_in_the_named_one(extractor):
    assert extractor.extract(SENTENCE) == ()
    assert extractor.extract(NAMED.text) == (Span(0, 2, "PER"), Span(6, 8, "PER"))
    assert surfaces(NAMED.text, extractor.extract(NAMED.text)) == [("张明", "PER"), ("李华", "PER")]


def test_dictionary_gives_each_repetition_its_span():
    assert DICTIONARY.extract("张明张明，张明") == (Span(0, 2, "PER"), Span(2, 4, "PER"), Span(5, 7, "PER"))


def test_dictionary_longest_suppresses_the_name_inside_and_all_reports_it():
    text = "北京大学在北京。"
    assert DICTIONARY.extract(text) == (Span(0, 4, "ORG"), Span(5, 7, "LOC"))
    every = DictionaryExtractor(PER_ORG_LOC, NAMES, overlaps="all")
    assert every.extract(text) == (Span(0, 2, "LOC"), Span(0, 4, "ORG"), Span(5, 7, "LOC"))


def test_dictionary_longest_reads_left_to_right_so_an_earlier_name_wins_over_a_longer_later_one():
    extractor = DictionaryExtractor(PER_ORG_LOC, {"甲乙": "PER", "乙丙丁": "ORG"})
    assert extractor.extract("甲乙丙丁") == (Span(0, 2, "PER"),)


def test_dictionary_all_reports_a_name_that_overlaps_itself():
    extractor = DictionaryExtractor(PER_ORG_LOC, {"明明": "PER"}, overlaps="all")
    assert extractor.extract("明明明") == (Span(0, 2, "PER"), Span(1, 3, "PER"))


def test_dictionary_keeps_its_own_copy_of_the_names():
    names = {"张明": "PER"}
    extractor = DictionaryExtractor(PER_ORG_LOC, names)
    names["李华"] = "PER"
    assert extractor.extract("李华和张明") == (Span(3, 5, "PER"),)


@pytest.mark.parametrize(
    ("names", "overlaps", "message"),
    [
        ({"": "PER"}, "longest", "names: an empty name would match everywhere"),
        ({"昨天": "TIME"}, "longest", "label 'TIME' is not in the schema"),
        ({"张明": "PER"}, "shortest", "expected 'longest' or 'all', got 'shortest'"),
    ],
)
def test_dictionary_refuses_bad_arguments(names, overlaps, message):
    with pytest.raises(ValueError, match=message):
        DictionaryExtractor(PER_ORG_LOC, names, overlaps)


@given(texts, dictionaries)
def test_dictionary_all_finds_exactly_the_places_where_slices_equal_names(text, names):
    spans = DictionaryExtractor(PER_ORG_LOC, names, overlaps="all").extract(text)
    places = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text) + 1) if text[i:j] in names]
    assert list(spans) == [Span(i, j, names[text[i:j]]) for i, j in places]


@given(texts, dictionaries)
def test_dictionary_longest_spans_are_names_disjoint_and_cover_every_first_occurrence(text, names):
    spans = DictionaryExtractor(PER_ORG_LOC, names).extract(text)
    PER_ORG_LOC.validate(spans, text)
    assert all(names[span.text(text)] == span.label for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    every = DictionaryExtractor(PER_ORG_LOC, names, overlaps="all").extract(text)
    assert set(spans) <= set(every)
    # Maximal: whatever was left out touches something that was kept.
    assert all(any(one.start < kept.end and kept.start < one.end for kept in spans) for one in every)


def test_rule_group_gives_the_span_of_the_group_and_skips_one_that_took_no_part():
    extractor = RuleExtractor(PER_ORG_LOC, [Rule("给(李.)|送", "PER", group=1)])
    assert extractor.extract("送了书，给李华") == (Span(5, 7, "PER"),)


def test_rules_earlier_rule_keeps_its_span_on_overlap_and_output_is_sorted():
    rules = [Rule("大学", "ORG"), Rule("北京大学", "LOC"), Rule("张明", "PER")]
    assert RuleExtractor(PER_ORG_LOC, rules).extract("张明在北京大学") == (
        Span(0, 2, "PER"),
        Span(5, 7, "ORG"),
    )


def test_rules_spans_that_only_touch_are_both_kept():
    extractor = RuleExtractor(PER_ORG_LOC, [Rule("张明", "PER"), Rule("北京", "LOC")])
    assert extractor.extract("北京张明北京") == (Span(0, 2, "LOC"), Span(2, 4, "PER"), Span(4, 6, "LOC"))


def test_rules_take_the_shortest_name_that_its_context_allows():
    text = "李华还给他一本书。"
    assert surfaces(text, RULES.extract(text)) == [("李华", "PER")]


def test_rules_refuse_an_empty_match():
    with pytest.raises(ValueError, match=r"pattern '张\*' matched no character at position 0"):
        RuleExtractor(PER_ORG_LOC, [Rule("张*", "PER")]).extract("李张")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rule("(张", "PER"), r"pattern '\(张' is not a regular expression"),
        (lambda: Rule("(张)明", "PER", group=2), r"group 2 does not exist; .* has groups 0 to 1"),
        (lambda: Rule("张明", "PER", group=-1), r"group -1 does not exist"),
        (lambda: RuleExtractor(PER_ORG_LOC, [Rule("昨天", "TIME")]), r"label 'TIME' is not in the schema"),
    ],
)
def test_rules_refuse_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_rules_take_monday_for_a_person_and_a_following_adverb_into_a_name():
    assert surfaces("他周一给了我一本书。", RULES.extract("他周一给了我一本书。")) == [("周一", "PER")]
    text = "李华又给了他一本书。"
    assert surfaces(text, RULES.extract(text)) == [("李华又", "PER")]


@pytest.mark.parametrize("name", ["欧阳兰", "小梅"])
def test_rules_miss_names_outside_their_surname_list(name):
    assert RULES.extract(f"{name}昨天给了他一本书。") == ()


@given(st.text(alphabet="张李周明华一昨天给了把书。", max_size=16))
def test_rules_spans_lie_inside_the_text_begin_with_a_surname_and_stay_disjoint(text):
    spans = RULES.extract(text)
    PER_ORG_LOC.validate(spans, text)
    assert all(span.text(text)[0] in "张李周" and len(span.text(text)) in (2, 3) for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
