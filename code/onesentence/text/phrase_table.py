"""Phrase pairs that a word alignment allows, and how often each was seen.

A source span and a target span form a phrase pair if at least one word of one is aligned to a word of the other
and no word of either is aligned to a word outside. A phrase is therefore any run of words, no constituent of a
tree is asked for. From the counts N(f, e) of the pairs, f the source and e the target phrase,

    phi(e|f) = N(f, e) / sum over e' of N(f, e')
    phi(f|e) = N(f, e) / sum over f' of N(f', e)

Each phrase has a count of its own; no entry tells anything about another.

Source: Koehn, Och and Marcu 2003, section 3.1. As there, unaligned words at the edge of a phrase may belong to
it or not, and both are kept. Section 1.15 of the course.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from onesentence.text.parallel import ParallelPair

Phrase = tuple[str, ...]


class SpanPair(NamedTuple):
    """Two spans that translate each other; ends are exclusive."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int


def consistent(pair: ParallelPair, spans: SpanPair) -> bool:
    """Say whether the alignment lets two spans stand for each other.

    Args:
        pair: an aligned pair.
        spans: spans inside it.

    Example:
        >>> pair = ParallelPair(("给", "了"), ("gave",), frozenset({(0, 0), (1, 0)}))
        >>> consistent(pair, SpanPair(0, 2, 0, 1)), consistent(pair, SpanPair(0, 1, 0, 1))
        (True, False)
    """
    i1, i2, j1, j2 = spans
    touching = [(i1 <= i < i2, j1 <= j < j2) for i, j in pair.alignment]
    return (True, True) in touching and (True, False) not in touching and (False, True) not in touching


def extract_phrases(pair: ParallelPair, max_length: int) -> tuple[SpanPair, ...]:
    """Return every consistent pair of spans of a sentence pair, in order.

    Args:
        pair: an aligned pair.
        max_length: how many words a phrase may have on either side, at least 1.

    Raises:
        ValueError: if `max_length` is below 1.

    Example:
        >>> pair = ParallelPair(("他", "一", "本"), ("him", "a"), frozenset({(0, 0), (1, 1)}))
        >>> for i, j, k, l in extract_phrases(pair, max_length=2):
        ...     print("".join(pair.source[i:j]), " ".join(pair.target[k:l]))
        他 him
        他一 him a
        一 a
        一本 a
    """
    if max_length < 1:
        raise ValueError(f"max_length: expected at least 1 word, got {max_length}")
    aligned = {j for _, j in pair.alignment}
    found = []
    for i1 in range(len(pair.source)):
        for i2 in range(i1 + 1, min(i1 + max_length, len(pair.source)) + 1):
            inside = [j for i, j in pair.alignment if i1 <= i < i2]
            if not inside or any(
                min(inside) <= j <= max(inside) and not i1 <= i < i2 for i, j in pair.alignment
            ):
                continue
            ends = _extensions(min(inside), max(inside) + 1, aligned, len(pair.target))
            found += [SpanPair(i1, i2, j1, j2) for j1, j2 in ends if j2 - j1 <= max_length]
    return tuple(sorted(found))


def _extensions(start: int, end: int, aligned: set[int], size: int) -> list[tuple[int, int]]:
    """Return the span and those that take in unaligned words beside it."""
    starts, ends = [start], [end]
    while starts[-1] > 0 and starts[-1] - 1 not in aligned:
        starts.append(starts[-1] - 1)
    while ends[-1] < size and ends[-1] not in aligned:
        ends.append(ends[-1] + 1)
    return [(j1, j2) for j1 in starts for j2 in ends]


class Entry(NamedTuple):
    """One row of the phrase table.

    Attributes:
        source: source phrase f.
        target: target phrase e.
        seen: N(f, e).
        forward: phi(e|f).
        inverse: phi(f|e).
    """

    source: Phrase
    target: Phrase
    seen: int
    forward: float
    inverse: float


@dataclass(frozen=True)
class PhraseTable:
    """Counts of phrase pairs and the relative frequencies that follow from them.

    Attributes:
        counts: (source phrase, target phrase) to N(f, e), each at least 1.
        max_length: longest phrase that was counted, in words.
    """

    counts: Mapping[tuple[Phrase, Phrase], int]
    max_length: int

    def __post_init__(self) -> None:
        if not self.counts:
            raise ValueError("counts: expected at least one phrase pair, got none")
        if self.max_length < 1:
            raise ValueError(f"max_length: expected at least 1 word, got {self.max_length}")
        for (source, target), count in self.counts.items():
            if count < 1 or not source or not target:
                raise ValueError(
                    f"counts: expected phrases of words and counts from 1, got {source, target, count}"
                )
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))

    @cached_property
    def _by_source(self) -> dict[Phrase, tuple[Entry, ...]]:
        of_source, of_target = Counter[Phrase](), Counter[Phrase]()
        for (source, target), count in self.counts.items():
            of_source[source] += count
            of_target[target] += count
        grouped: dict[Phrase, list[Entry]] = {}
        for (source, target), count in self.counts.items():
            entry = Entry(source, target, count, count / of_source[source], count / of_target[target])
            grouped.setdefault(source, []).append(entry)
        return {f: tuple(sorted(rows, key=lambda r: (-r.seen, r.target))) for f, rows in grouped.items()}

    def entries(self, source: Phrase) -> tuple[Entry, ...]:
        """Return the rows of a source phrase, the most frequent first; none for a phrase never seen.

        Args:
            source: source phrase.

        Example:
            >>> table = PhraseTable({(("他",), ("him",)): 3, (("他",), ("He",)): 1}, max_length=1)
            >>> [(e.target, e.forward) for e in table.entries(("他",))]
            [(('him',), 0.75), (('He',), 0.25)]
            >>> table.entries(("它",))
            ()
        """
        return self._by_source.get(source, ())

    def knows(self, word: str) -> bool:
        """Say whether some source phrase contains a word.

        Args:
            word: a source word.
        """
        return word in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for source, _ in self.counts for word in source)


def count_phrases(pairs: Iterable[ParallelPair], max_length: int) -> PhraseTable:
    """Count the phrase pairs of a corpus.

    Args:
        pairs: aligned pairs, at least one, with at least one link in all.
        max_length: how many words a phrase may have on either side, at least 1.

    Raises:
        ValueError: if the corpus is empty or gives no phrase pair, or `max_length` is below 1.

    Example:
        >>> pair = ParallelPair(("他", "书"), ("him", "book"), frozenset({(0, 0), (1, 1)}))
        >>> count_phrases([pair, pair], max_length=1).entries(("书",))[0].seen
        2
    """
    corpus = tuple(pairs)
    if not corpus:
        raise ValueError("pairs: expected at least one aligned pair, got an empty corpus")
    counts = Counter[tuple[Phrase, Phrase]]()
    for pair in corpus:
        for i1, i2, j1, j2 in extract_phrases(pair, max_length):
            counts[pair.source[i1:i2], pair.target[j1:j2]] += 1
    if not counts:
        raise ValueError(f"pairs: no phrase of at most {max_length} words is consistent with any alignment")
    return PhraseTable(counts, max_length)
