"""Sequences of six letters to be written backwards: a small task whose right answer is known and unique.

    b d a d e  ->  e d a d b

A length is drawn evenly from the allowed ones, then each letter evenly from a to f. A sequence that has been drawn
before, in whichever part, is drawn again, training first, then dev, then test. So no source stands twice anywhere; and
as short sequences run out, the later parts are longer on average. Sections 3.10 and 3.12 of the course, whose archived
counts of target tokens fit this rule; its data are not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onesentence.checks import checked_integer
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary

Letters = tuple[str, ...]

LETTERS: Letters = tuple("abcdef")
VOCABULARY = Vocabulary.from_words(LETTERS, specials=[PAD, BOS, EOS])
"""Nine symbols, the same for both sides."""


@dataclass(frozen=True)
class ReversalData:
    """What is drawn.

    Attributes:
        train, dev, test: sequences of those parts.
        shortest, longest: letters of a sequence, both inclusive.
        repeats: whether a sequence may come again.
        seed: of the draw.
    """

    train: int = 3000
    dev: int = 300
    test: int = 300
    shortest: int = 3
    longest: int = 7
    repeats: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("train", "dev", "test", "shortest"):
            checked_integer(name, getattr(self, name), 1)
        checked_integer("seed", self.seed, 0)
        if not isinstance(self.repeats, bool):
            raise TypeError(f"repeats must be True or False, got {self.repeats!r}")
        if checked_integer("longest", self.longest, 0) < self.shortest:
            raise ValueError(f"longest must be at least shortest = {self.shortest}, got {self.longest}")
        there_are = sum(len(LETTERS) ** n for n in range(self.shortest, self.longest + 1))
        wanted = self.train + self.dev + self.test
        if not self.repeats and 2 * wanted > there_are:
            raise ValueError(
                f"train + dev + test must be at most half of the {there_are} sequences, got {wanted}"
            )


@dataclass(frozen=True)
class ReversalCorpus:
    """Source sequences, part by part; each target is its source backwards.

    Attributes:
        train, dev, test: sources.
    """

    train: tuple[Letters, ...]
    dev: tuple[Letters, ...]
    test: tuple[Letters, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of all parts."""
        text = "\n\n".join("\n".join("".join(s) for s in part) for part in (self.train, self.dev, self.test))
        return hashlib.sha256(text.encode()).hexdigest()


def reversal_corpus(config: ReversalData) -> ReversalCorpus:
    """Draw the three parts.

    Args:
        config: how many, how long, which seed.

    Example:
        >>> corpus = reversal_corpus(ReversalData(train=2, dev=1, test=1))
        >>> [" ".join(source) for source in corpus.train]
        ['d d b b a a a', 'e d f']
    """
    rng, seen = np.random.default_rng(config.seed), set[Letters]()
    sources: list[Letters] = []
    wanted = config.train + config.dev + config.test
    while len(sources) < wanted:
        length = rng.integers(config.shortest, config.longest, endpoint=True)
        source = tuple(LETTERS[i] for i in rng.integers(len(LETTERS), size=length))
        if config.repeats or source not in seen:
            seen.add(source)
            sources.append(source)
    ends = config.train, config.train + config.dev
    return ReversalCorpus(
        tuple(sources[: ends[0]]), tuple(sources[ends[0] : ends[1]]), tuple(sources[ends[1] :])
    )


def backwards(source: Sequence[str]) -> Letters:
    """Return the one right answer, without EOS.

    Example:
        >>> " ".join(backwards("b d a d e".split()))
        'e d a d b'
    """
    return tuple(reversed(source))


def target_tokens(sources: Sequence[Sequence[str]]) -> int:
    """Return how many tokens the targets have, EOS counted, BOS and PAD not.

    Example:
        >>> target_tokens([("a", "b"), ("c", "a", "b")])
        7
    """
    return sum(len(source) + 1 for source in sources)
