"""Forward maximum matching and the readings of 本."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.sentence.example import SENTENCE, UNITS
from onesentence.text.segment import COARSE_LEXICON, TEACHING_LEXICON, Reading, readings, segment

texts = st.text(alphabet="一本书给了。x", max_size=12)
lexicons = st.frozensets(st.text(alphabet="一本书给了。", min_size=1, max_size=4), max_size=6)


def senses(text: str) -> list[tuple[int, str]]:
    return [(reading.position, reading.sense) for reading in readings(text)]


def test_segment_gives_the_nine_units_of_the_book():
    assert (
        segment(SENTENCE, TEACHING_LEXICON)
        == UNITS
        == ("我", "昨天", "给", "了", "他", "一", "本", "书", "。")
    )


def test_segment_coarse_lexicon_gives_another_cut_of_the_same_text():
    units = segment(SENTENCE, COARSE_LEXICON)
    assert units == ("我", "昨天", "给了", "他", "一本", "书", "。")
    assert "".join(units) == "".join(segment(SENTENCE, TEACHING_LEXICON)) == SENTENCE


def test_segment_prefers_the_longest_word_even_where_that_spoils_the_next_one():
    assert segment("一本书给", {"一本", "一本书", "书给"}) == ("一本书", "给")
    assert segment("研究生命", {"研究", "研究生", "生命"}) == ("研究生", "命")


def test_segment_makes_single_units_of_unknown_characters():
    assert segment("我x昨天!", {"昨天"}) == ("我", "x", "昨天", "!")
    assert segment("昨天", ()) == ("昨", "天")
    assert segment("", TEACHING_LEXICON) == ()


@given(texts, lexicons)
def test_segment_units_join_to_the_text_and_long_units_are_words(text, lexicon):
    units = segment(text, lexicon)
    assert "".join(units) == text
    assert all(len(unit) == 1 or unit in lexicon for unit in units)


@given(texts, lexicons)
def test_segment_equals_a_regular_expression_with_longest_words_first(text, lexicon):
    words = sorted(lexicon, key=len, reverse=True)
    pattern = "|".join([*map(re.escape, words), "."])
    assert list(segment(text, lexicon)) == re.findall(pattern, text, flags=re.DOTALL)


def test_segment_refuses_a_string_as_lexicon_and_an_empty_word():
    with pytest.raises(TypeError, match="lexicon: expected a collection of words, got a single string"):
        segment(SENTENCE, "我昨天")
    with pytest.raises(ValueError, match="lexicon: an empty word can never be matched"):
        segment(SENTENCE, ["我", ""])


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (SENTENCE, 7),
        ("一本书", 1),
        ("三本词典", 1),
        ("这本书", 1),
        ("若干本小说", 2),
        ("第2本书", 2),
        ("一本厚厚的书", 1),
    ],
)
def test_readings_measure_word_after_a_numeral_or_determiner_and_before_a_noun(text, position):
    assert senses(text) == [(position, "measure word")]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("本书介绍了一种方法。", 0),
        ("他说，本书很好。", 3),
        ("在本书中", 1),
        ("本文", 0),
        ("本章", 0),
        ("本校", 0),
        ("我给了本公司一份文件", 3),
    ],
)
def test_readings_this_at_the_start_of_a_clause_or_before_what_it_never_counts(text, position):
    assert senses(text) == [(position, "this")]


@pytest.mark.parametrize(
    ("text", "position", "because"),
    [
        ("日本", 1, "part of the longer word 日本"),
        ("日本书", 1, "part of the longer word 日本"),
        ("本来", 0, "part of the longer word 本来"),
        ("这本来是书", 1, "part of the longer word 本来"),
        ("三本科幻小说", 1, "part of the longer word 本科"),  # a stated limit: it gives up, it does not guess
        ("一本正经", 1, "after 一, but no known noun follows"),
        ("我有三本，书很好", 3, "after 三, but no known noun follows"),
        ("一本非常厚的书", 1, "after 一, but no known noun follows"),  # the noun is out of reach
        ("给了他本书", 3, "between 他 and 书: a numeral may have been dropped"),
        ("本旧书很好", 0, "no rule applies to its neighbours"),
        ("本杰明", 0, "no rule applies to its neighbours"),
        ("本", 0, "no rule applies to its neighbours"),
    ],
)
def test_readings_undecided_says_why(text, position, because):
    assert readings(text) == (Reading(position, "undecided", because),)


def test_readings_decides_each_occurrence_by_its_own_neighbours():
    assert senses("本书和三本词典，本来在日本。") == [
        (0, "this"),
        (4, "measure word"),
        (8, "undecided"),
        (12, "undecided"),
    ]


def test_readings_changes_with_the_left_neighbour_alone():
    assert [senses(left + "本书很好")[0][1] for left in ("", "这", "。", "他")] == [
        "this",
        "measure word",
        "this",
        "undecided",
    ]


@given(st.text(alphabet="本一这书校日来在，", max_size=12))
def test_readings_one_per_occurrence_and_text_without_it_has_none(text):
    assert [r.position for r in readings(text)] == [i for i, char in enumerate(text) if char == "本"]


@given(st.text(alphabet="本一书校来", max_size=6), st.text(alphabet="本一书校来", max_size=6))
def test_readings_stops_at_the_end_of_a_clause(left, right):
    joined = [(r.position, r.sense) for r in readings(left + "。" + right)]
    moved = [(position + len(left) + 1, sense) for position, sense in senses(right)]
    assert joined == senses(left) + moved


def test_readings_refuses_a_character_without_rules():
    with pytest.raises(ValueError, match="char: only 本 has rules, got '书'"):
        readings(SENTENCE, "书")
