"""Sentences of several short clauses that are translated word for word, so that every alignment is known.

    汤姆 借给 玛丽 三 书 ， 你 给 她 两 地图
    Tom lent Mary three books , you gave her two maps

Each clause has five words: who, the verb, to whom, how many, what; commas stand between clauses. Chinese is simplified
for it (no 了, no measure word, no full stop), English takes no capital at the beginning. Every place is filled at random
and independently but for giver and recipient, who differ; so nothing can be guessed from the other words, and the
translation of one word needs that one source word and no other. Built for section 3.11 of the course; every sentence is
constructed.
"""

from __future__ import annotations

import numpy as np

from onesentence.checks import checked_sizes
from onesentence.text.parallel import ParallelPair
from onesentence.text.translation_words import CAST, GOODS, NUMBERS, TRANSFERS

WORDS = 5
"""Words of a clause, the comma not counted."""

PEOPLE = tuple(person for person in CAST if " " not in person.object)
"""People whose English name is one word."""

MANY = tuple(number for number in NUMBERS if number.en)


def clause_pairs(count: int, rng: np.random.Generator, *, clauses: int = 3) -> tuple[ParallelPair, ...]:
    """Draw sentence pairs of one length, aligned word by word.

    Args:
        count: how many, at least 1; two may be alike, which no run will see.
        rng: source of all randomness.
        clauses: clauses of each sentence, at least 1.

    Returns:
        Pairs with 6 * clauses - 1 words on each side.

    Raises:
        TypeError: if a number is no integer or `rng` no generator.
        ValueError: for a number below 1.

    Example:
        >>> (pair,) = clause_pairs(1, np.random.default_rng(3), clauses=2)
        >>> " ".join(pair.source), " ".join(pair.target)
        ('我 借给 小红 两 毛衣 ， 他们 给 小红 三 吉他', 'I lent Xiaohong two sweaters , they gave Xiaohong three guitars')
    """
    checked_sizes(rng, count=count, clauses=clauses)
    pairs = []
    for _ in range(count):
        words: list[tuple[str, str]] = []
        for number in range(clauses):
            words += [("，", ",")] if number else []
            words += _clause(rng)
        source, target = zip(*words, strict=True)
        pairs.append(ParallelPair(source, target, frozenset((i, i) for i in range(len(words)))))
    return tuple(pairs)


def _clause(rng: np.random.Generator) -> list[tuple[str, str]]:
    giver, recipient = (PEOPLE[i] for i in rng.choice(len(PEOPLE), size=2, replace=False))
    verb = TRANSFERS[rng.integers(len(TRANSFERS))]
    number = MANY[rng.integers(len(MANY))]
    thing = GOODS[rng.integers(len(GOODS))]
    return [
        (giver.zh, giver.inside),
        (verb.zh, verb.past),
        (recipient.zh, recipient.object),
        (number.zh, number.en),
        (thing.zh, thing.plural),
    ]
