"""Interpolated Kneser-Ney: an absolute discount, and lower orders that count contexts instead of uses.

With c_n the counts of the highest order and, below it, continuation counts (how many different words stood
before the k-gram)

    c_k(h w) = |{v : C(v h w) > 0}|                                                   for k < n
    p_k(w | h) = max(c_k(h w) - D, 0) / c_k(h) + D N(h) / c_k(h) * p_(k-1)(w | h')
    p_0(w) = 1 / V

where c_k(h) sums c_k(h w) over w, N(h) is the number of different w with c_k(h w) > 0, h' is h without its
first word. A context that was never seen has p_k = p_(k-1). V counts the candidates: all symbols but PAD and
BOS. BOS counts as a context: being the first word is one way to be preceded.

Sources: Kneser and Ney 1995; the interpolated form, ending in the uniform distribution, is that of Chen and
Goodman 1999 (section 4.1.6); the estimate of D is that of Ney, Essen and Kneser 1994. Differences: one D for
all orders and counts (Chen and Goodman's modified form has three an order); the beginning of a sentence is
filled with n - 1 times BOS, so lower orders need no exception for it (KenLM has one BOS and one exception);
nltk's `KneserNeyInterpolated` stops at continuation frequencies without discount, which leaves 0 for a word
never seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from onesentence.numerics import FloatArray
from onesentence.text.ngram import CountModel
from onesentence.text.ngram_counts import CountTable, Ids, NgramCounts


def continuation_table(table: CountTable) -> CountTable:
    """Count, for each k-gram, the different words that stood before it in the (k + 1)-grams of a table.

    Args:
        table: counts with contexts of length k, at least 1.

    Returns:
        Continuation counts with contexts of length k - 1.

    Raises:
        ValueError: if the contexts have length 0, which leaves nothing to count.

    Example:
        >>> continuation_table(CountTable({(7,): {1: 5, 2: 1}, (8,): {2: 3}})).rows
        {(): {1: 1, 2: 2}}
    """
    rows: dict[Ids, dict[int, int]] = {}
    for h, words in table.rows.items():
        if not h:
            raise ValueError("table: expected contexts of at least one word, got the empty context")
        row = rows.setdefault(h[1:], {})
        for word in words:
            row[word] = row.get(word, 0) + 1
    return CountTable(rows)


def estimate_discount(counts: NgramCounts) -> float:
    """Return D = n_1 / (n_1 + 2 n_2) from the numbers of n-grams of the highest order seen once and twice.

    Args:
        counts: the counts.

    Raises:
        ValueError: if no n-gram was seen exactly once, which would make the discount 0.

    Example:
        >>> estimate_discount(NgramCounts.of([["a"], ["a"], ["b"], ["c"]], order=1))  # n_1 = 2, n_2 = 1
        0.5
    """
    seen = list(counts.ngrams.values())
    once, twice = seen.count(1), seen.count(2)
    if not once:
        raise ValueError("counts: expected n-grams that were seen once, got none; choose a discount instead")
    return once / (once + 2 * twice)


@dataclass(frozen=True, eq=False)
class KneserNey(CountModel):
    """Interpolated Kneser-Ney smoothing.

    Attributes:
        counts: the counts.
        discount: D, above 0 and at most 1, taken off every count of every order.
        levels: `levels[k]` has the counts c_(k+1) for contexts of length k: continuation counts, and the
            counts themselves for the longest.

    Example:
        >>> counts = NgramCounts.of([["San", "Francisco"], ["San", "Francisco"], ["my", "glasses"]], order=2)
        >>> model = KneserNey(counts, discount=0.5)
        >>> model.prob("glasses", ["my"])  # 1/2 + 1/2 * (1/2 / 6 + 5/2 / 6 * 1/5)
        0.5833333333333334
    """

    discount: float = 0.75
    levels: tuple[CountTable, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.discount <= 1:  # false for NaN too
            raise ValueError(f"discount: expected a number above 0 and at most 1, got {self.discount}")
        tables = self.counts.tables
        lower = [continuation_table(table) for table in tables[1:]]
        object.__setattr__(self, "levels", (*lower, tables[-1]))

    def continuation_count(self, word: str) -> int:
        """Return how many different words, BOS among them, stood before a word.

        Args:
            word: a word or EOS.

        Raises:
            ValueError: if the order is 1, which keeps no context, or the word is unknown.
        """
        if self.order < 2:
            raise ValueError("continuation_count: expected a model of order 2 or more, got order 1")
        return self.levels[0].rows[()].get(self.vocabulary.id(word), 0)

    def _prob(self, word: int, context: Ids) -> float:
        p = 1 / len(self.vocabulary.candidates)
        for length, level in enumerate(self.levels):
            h = context[len(context) - length :]
            if h in level.totals:
                row, total = level.rows[h], level.totals[h]
                p = (max(row.get(word, 0) - self.discount, 0) + self.discount * len(row) * p) / total
        return p

    def _row(self, context: Ids) -> FloatArray:
        p = np.zeros(len(self.vocabulary))
        p[self.vocabulary.candidates] = 1 / len(self.vocabulary.candidates)
        for length, level in enumerate(self.levels):
            h = context[len(context) - length :]
            if h in level.totals:
                row, total = level.rows[h], level.totals[h]
                p *= self.discount * len(row) / total
                counts = np.fromiter(row.values(), float, len(row))
                p[np.fromiter(row, np.int64, len(row))] += (counts - self.discount) / total
        return p
