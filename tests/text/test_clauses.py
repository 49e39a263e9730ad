"""Word-for-word sentences of clauses."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.text.clauses import MANY, PEOPLE, WORDS, clause_pairs
from onesentence.text.translation_words import GOODS, TRANSFERS


def test_clause_pairs_are_translated_word_by_word():
    people = {p.zh: {p.inside, p.object} for p in PEOPLE}
    other = (
        {v.zh: {v.past} for v in TRANSFERS} | {n.zh: {n.en} for n in MANY} | {t.zh: {t.plural} for t in GOODS}
    )
    known = people | other | {"，": {","}}
    for pair in clause_pairs(200, np.random.default_rng(0)):
        assert len(pair.source) == len(pair.target) == 3 * WORDS + 2
        assert pair.alignment == {(i, i) for i in range(17)}
        for zh, en in zip(pair.source, pair.target, strict=True):
            assert en in known[zh]
        assert pair.source[0] != pair.source[2]


def test_clause_pairs_repeat_with_their_seed_and_differ():
    one, same = (clause_pairs(50, np.random.default_rng(4)) for _ in range(2))
    assert one == same
    assert len({pair.source for pair in one}) == 50


def test_clause_pairs_fill_every_place_with_every_word():
    sources = np.array([pair.source for pair in clause_pairs(2000, np.random.default_rng(1), clauses=1)])
    assert [len(set(column)) for column in sources.T] == [
        len(PEOPLE), len(TRANSFERS), len(PEOPLE), len(MANY), len(GOODS),
    ]  # fmt: skip


def test_clause_pairs_refuses():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        clause_pairs(0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="clauses must be at least 1, got 0"):
        clause_pairs(1, np.random.default_rng(0), clauses=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1.5, np.random.default_rng(0)), "count must be an integer, got 1.5"),
        ((True, np.random.default_rng(0)), "count must be an integer, got True"),
        ((1, None), "rng must be a numpy Generator, got NoneType"),
        ((1, np.random.RandomState(0)), "rng must be a numpy Generator, got RandomState"),
    ],
)
def test_clause_pairs_refuses_what_is_no_number_or_generator(given, message):
    with pytest.raises(TypeError, match=message):
        clause_pairs(*given)
