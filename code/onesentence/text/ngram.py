"""n-gram models by counting: maximum likelihood and the same pseudo-count for every candidate.

For a context h of n - 1 words and V candidates (section 1.8 of the course)

    p(w | h)       = C(h, w) / C(h)                            maximum likelihood
    p_alpha(w | h) = (C(h, w) + alpha) / (C(h) + alpha V)      add-alpha, Laplace's for alpha = 1

The candidates are all symbols but PAD and BOS, so EOS counts as one and UNK does if there is one.

Unseen contexts: add-alpha with alpha > 0 gives 1 / V to each candidate; maximum likelihood would divide 0 by
0 and raises ValueError. Nothing is backed off silently; `interpolation` and `kneser_ney` are for that.
Differences: nltk's `MLE` answers 0 for an unseen context; nltk's vocabulary always holds `<UNK>`, so its
`Laplace` equals this one only for a vocabulary with UNK.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats
from onesentence.text.language_model import ContextModel
from onesentence.text.ngram_counts import Ids, NgramCounts
from onesentence.text.vocabulary import Vocabulary


def additive(counts: ArrayLike, alpha: float = 0.0) -> FloatArray:
    """Probabilities (C_i + alpha) / (sum_j C_j + alpha V) of V candidates from their counts.

    Args:
        counts: (V,), V >= 1, none negative; 0 is a count like others.
        alpha: pseudo-count of each candidate, at least 0; 0 is maximum likelihood.

    Returns:
        (V,), sums to 1.

    Raises:
        TypeError: if the counts are not real numbers.
        ValueError: if the counts are not a vector of finite non-negative numbers, alpha is negative or not
            finite, or all counts and alpha are 0, which leaves nothing to divide.

    Example:
        >>> additive([3, 1, 0]).tolist()
        [0.75, 0.25, 0.0]
        >>> additive([3, 1, 0, 0], alpha=1).tolist()
        [0.5, 0.25, 0.125, 0.125]
    """
    c = as_floats("counts", counts)
    _check_alpha(alpha)
    if c.ndim != 1 or c.size == 0:
        raise ValueError(f"counts: expected shape (V,) with V >= 1, got {c.shape}")
    if not (np.isfinite(c).all() and (c >= 0).all()):
        raise ValueError(f"counts: expected finite numbers of at least 0, got {c.tolist()}")
    total = c.sum() + alpha * c.size
    if total == 0:
        raise ValueError("counts: expected a positive count where alpha is 0, got zeros only")
    result: FloatArray = (c + alpha) / total
    return result


@dataclass(frozen=True, eq=False)
class CountModel(ContextModel):
    """A language model made of counts.

    Attributes:
        counts: the counts; vocabulary and order are theirs.
    """

    counts: NgramCounts

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the counts."""
        return self.counts.vocabulary

    @property
    def order(self) -> int:
        """The order n of the counts; the model sees n - 1 words."""
        return self.counts.order


@dataclass(frozen=True, eq=False)
class AddAlpha(CountModel):
    """Add-alpha smoothing.

    Attributes:
        counts: the counts.
        alpha: pseudo-count of each candidate after each context, at least 0.

    Example:
        >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=2)
        >>> AddAlpha(counts, alpha=1).prob("her", ["gave"])  # (1 + 1) / (2 + 5)
        0.2857142857142857
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        _check_alpha(self.alpha)

    def _prob(self, word: int, context: Ids) -> float:
        total = self._total(context)
        return (self.counts.tables[-1].rows.get(context, {}).get(word, 0) + self.alpha) / total

    def _row(self, context: Ids) -> FloatArray:
        total = self._total(context)
        row = np.zeros(len(self.vocabulary))
        row[self.vocabulary.candidates] = self.alpha
        for word, count in self.counts.tables[-1].rows.get(context, {}).items():
            row[word] += count
        return row / total

    def _total(self, context: Ids) -> float:
        total = self.counts.tables[-1].totals.get(context, 0) + self.alpha * len(self.vocabulary.candidates)
        if total == 0:
            words = self.vocabulary.decode(context)
            raise ValueError(
                f"context: {words} was never seen, so C(h) = 0; expected a seen one or alpha > 0"
            )
        return total


@dataclass(frozen=True, eq=False)
class MaximumLikelihood(AddAlpha):
    """Relative frequencies C(h, w) / C(h): add-alpha with alpha = 0.

    Attributes:
        counts: the counts.

    Example:
        >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=2)
        >>> MaximumLikelihood(counts).prob("her", ["gave"])
        0.5
        >>> MaximumLikelihood(counts).prob("her", ["her"])
        0.0
    """

    alpha: float = field(default=0.0, init=False)


def _check_alpha(alpha: float) -> None:
    if not (isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha: expected a finite pseudo-count of at least 0, got {alpha}")
