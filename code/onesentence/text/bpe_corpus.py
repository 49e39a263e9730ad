"""A corpus of words under merging: counts of adjacent symbols, kept up to date merge by merge.

What `onesentence.text.bpe` learns with. Symbols are text or bytes; a pair merges into their concatenation, so
two different pairs may give the same symbol, which is then one symbol.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from itertools import pairwise
from typing import Generic, TypeVar

S = TypeVar("S", str, bytes)


@dataclass(frozen=True)
class Merge(Generic[S]):
    """One rule.

    Attributes:
        pair: the two symbols.
        count: how often they stood side by side when the rule was learned.
    """

    pair: tuple[S, S]
    count: int

    @property
    def piece(self) -> S:
        """The new symbol."""
        return self.pair[0] + self.pair[1]


def pair_counts(words: Sequence[tuple[S, ...]], weights: Sequence[int]) -> dict[tuple[S, S], int]:
    """Count adjacent pairs, each occurrence weighted with the word's frequency.

    Args:
        words: the symbols of each word.
        weights: the frequency of each word.

    Example:
        >>> pair_counts([("l", "o", "w"), ("l", "o")], [3, 2])
        {('l', 'o'): 5, ('o', 'w'): 3}
    """
    counts: dict[tuple[S, S], int] = defaultdict(int)
    for word, weight in zip(words, weights, strict=True):
        for pair in pairwise(word):
            counts[pair] += weight
    return dict(counts)


def merge_pair(word: tuple[S, ...], pair: tuple[S, S]) -> tuple[S, ...]:
    """Replace a pair by one symbol wherever it stands in a word, from left to right.

    Example:
        >>> merge_pair(("a", "a", "a", "b"), ("a", "a"))
        ('aa', 'a', 'b')
    """
    first, second = pair
    merged: list[S] = []
    position, last = 0, len(word) - 1
    while position <= last:
        symbol = word[position]
        if symbol == first and position < last and word[position + 1] == second:
            symbol = first + second
            position += 1
        merged.append(symbol)
        position += 1
    return tuple(merged)


class Corpus(Generic[S]):
    """Words under merging: counts of pairs, the words that hold each, and a heap of what to merge next.

    Every pair has a heap entry with at least its count. Counts that fall leave their entries too high; these are
    corrected at the top of the heap. A pair grows only if it contains the new symbol, and then it is pushed again.

    Attributes:
        words: the symbols of each word, as they are now.
        weights: the frequency of each word.
    """

    def __init__(self, words: list[tuple[S, ...]], weights: list[int]) -> None:
        self.words: list[tuple[S, ...]] = words
        self.weights: list[int] = weights
        self.counts: dict[tuple[S, S], int] = defaultdict(int, pair_counts(words, weights))
        self.where: dict[tuple[S, S], set[int]] = defaultdict(set)
        for number, word in enumerate(words):
            for pair in pairwise(word):
                self.where[pair].add(number)
        self.heap: list[tuple[int, tuple[S, S]]] = [(-count, pair) for pair, count in self.counts.items()]
        heapify(self.heap)

    def merges(self, least: int) -> Iterator[Merge[S]]:
        """Merge the most frequent pair again and again, yielding what was merged."""
        while (pair := self._best()) is not None and self.counts[pair] >= least:
            merge = Merge(pair, self.counts[pair])
            self._apply(merge)
            yield merge

    def _best(self) -> tuple[S, S] | None:
        while self.heap:
            stated: int = self.heap[0][0]
            pair: tuple[S, S] = self.heap[0][1]
            count = self.counts[pair]
            if count == -stated:
                return pair
            if 0 < count < -stated:
                heapreplace(self.heap, (-count, pair))
            else:  # gone, or pushed again with its higher count
                heappop(self.heap)
        return None

    def _apply(self, merge: Merge[S]) -> None:
        piece, counts, grown = merge.piece, self.counts, set()
        for number in self.where.pop(merge.pair):
            old, weight = self.words[number], self.weights[number]
            new = merge_pair(old, merge.pair)
            for pair in pairwise(old):
                counts[pair] -= weight
            for pair in pairwise(new):
                counts[pair] += weight
                if piece in pair:
                    self.where[pair].add(number)
                    grown.add(pair)
            self.words[number] = new
        for pair in grown:
            heappush(self.heap, (-counts[pair], pair))
