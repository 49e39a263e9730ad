"""Phrase extraction against the definition, nltk and a count by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.phrase_based import phrase_extraction

from onesentence.text.parallel import ParallelPair
from onesentence.text.phrase_table import PhraseTable, SpanPair, consistent, count_phrases, extract_phrases


@st.composite
def aligned_pairs(draw) -> ParallelPair:
    sizes = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    links = st.tuples(st.integers(0, sizes[0] - 1), st.integers(0, sizes[1] - 1))
    source, target = (tuple(f"{side}{i}" for i in range(n)) for side, n in zip("fe", sizes, strict=True))
    return ParallelPair(source, target, frozenset(draw(st.lists(links, max_size=6))))


def spans_of(size: int, longest: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(i + 1, min(i + longest, size) + 1)]


@given(aligned_pairs(), st.integers(1, 5))
def test_extract_phrases_gives_every_consistent_pair_of_spans(pair, longest):
    every = [
        SpanPair(*f, *e)
        for f in spans_of(len(pair.source), longest)
        for e in spans_of(len(pair.target), longest)
    ]
    assert list(extract_phrases(pair, longest)) == sorted(spans for spans in every if consistent(pair, spans))


@given(aligned_pairs())
def test_extract_phrases_agrees_with_nltk(pair):
    if not pair.alignment:
        return
    theirs = phrase_extraction(" ".join(pair.source), " ".join(pair.target), sorted(pair.alignment))
    ours = {
        ((i, j), (k, m), " ".join(pair.source[i:j]), " ".join(pair.target[k:m]))
        for i, j, k, m in extract_phrases(pair, 5)
    }
    assert ours == theirs


def test_extract_phrases_by_hand_with_two_links_to_one_word_and_an_unaligned_one():
    pair = ParallelPair(("给", "了", "本"), ("gave", "x"), frozenset({(0, 0), (1, 0)}))
    # neither 给 nor 了 alone; 本 and x belong to the phrase or not
    assert extract_phrases(pair, 3) == ((0, 2, 0, 1), (0, 2, 0, 2), (0, 3, 0, 1), (0, 3, 0, 2))
    assert extract_phrases(pair, 2) == ((0, 2, 0, 1), (0, 2, 0, 2))
    assert extract_phrases(pair, 1) == ()


def test_extract_phrases_refuses_a_length_below_one():
    with pytest.raises(ValueError, match="max_length: expected at least 1 word, got 0"):
        extract_phrases(ParallelPair(("a",), ("b",), frozenset()), 0)


def test_count_phrases_relative_frequencies_by_hand():
    link = frozenset({(0, 0)})
    pairs = [ParallelPair((f,), (e,), link) for f, e in ("xa", "xa", "xb", "ya")]
    table = count_phrases(pairs, 1)
    assert table.entries(("x",)) == (
        (("x",), ("a",), 2, 2 / 3, 2 / 3),
        (("x",), ("b",), 1, 1 / 3, 1.0),
    )
    assert table.entries(("z",)) == ()
    assert table.knows("x")
    assert not table.knows("z")


@given(st.lists(aligned_pairs().filter(lambda pair: pair.alignment), min_size=1, max_size=4))
def test_count_phrases_frequencies_sum_to_one_over_either_side(pairs):
    try:
        table = count_phrases(pairs, 3)
    except ValueError:
        assert all(not extract_phrases(pair, 3) for pair in pairs)
        return
    rows = [row for source in {s for s, _ in table.counts} for row in table.entries(source)]
    assert sum(row.seen for row in rows) == sum(len(extract_phrases(pair, 3)) for pair in pairs)
    for source in {row.source for row in rows}:
        assert sum(row.forward for row in rows if row.source == source) == pytest.approx(1)
    for target in {row.target for row in rows}:
        assert sum(row.inverse for row in rows if row.target == target) == pytest.approx(1)


def test_count_phrases_leaves_an_entry_alone_when_other_phrases_are_seen_more_often():
    pair = ParallelPair(("给", "他"), ("give", "him"), frozenset({(0, 0), (1, 1)}))
    other = ParallelPair(("看", "她"), ("see", "her"), frozenset({(0, 0), (1, 1)}))
    before = count_phrases([pair, other], 2).entries(("看", "她"))
    assert count_phrases([pair] * 50 + [other], 2).entries(("看", "她")) == before


def test_count_phrases_refuses_a_corpus_that_gives_nothing():
    with pytest.raises(ValueError, match="pairs: expected at least one aligned pair, got an empty corpus"):
        count_phrases([], 3)
    bare = ParallelPair(("a",), ("b",), frozenset())
    with pytest.raises(ValueError, match="pairs: no phrase of at most 3 words is consistent"):
        count_phrases([bare], 3)
    with pytest.raises(ValueError, match="max_length: expected at least 1 word, got 0"):
        count_phrases([bare], 0)


def test_phrase_table_refuses_bad_counts():
    with pytest.raises(ValueError, match="counts: expected at least one phrase pair, got none"):
        PhraseTable({}, 1)
    with pytest.raises(ValueError, match="counts: expected phrases of words and counts from 1"):
        PhraseTable({(("a",), ("b",)): 0}, 1)
    with pytest.raises(ValueError, match="max_length: expected at least 1 word, got 0"):
        PhraseTable({(("a",), ("b",)): 1}, 0)


def test_phrase_table_cannot_be_changed_through_its_counts():
    counts = {(("a",), ("b",)): 1}
    table = PhraseTable(counts, 1)
    counts[("c",), ("d",)] = 5
    assert table.entries(("c",)) == ()
    with pytest.raises(TypeError, match="does not support item assignment"):
        table.counts[("c",), ("d",)] = 5  # type: ignore[index]
