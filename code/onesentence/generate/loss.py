"""The loss of a text as a total and a count, which is what can be added up; mean and perplexity come last.

    total = - sum over positions that count of log p(label | what was read)    nats
    mean = total / count        perplexity = exp(mean)

Totals and counts of batches add up to those of the corpus; their means do not, unless all batches have equal counts.
The perplexity depends on the unit that is counted: only `per` a unit of the text itself (characters, bytes) can be
compared between segmentations. Sections 2.6 and 2.7 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from onesentence.checks import checked_integer
from onesentence.numerics import as_mask, token_losses
from onesentence.text.units import mean_loss
from onesentence.text.units import perplexity as perplexity_of


@dataclass(frozen=True)
class TokenLoss:
    """A sum of token losses and of how many tokens.

    Attributes:
        total: nats, at least 0; infinity where a label had probability 0.
        count: tokens that count, at least 1.

    Example:
        >>> both = TokenLoss(2.0, 4) + TokenLoss(1.0, 2)
        >>> both, both.mean, both.per(12)
        (TokenLoss(total=3.0, count=6), 0.5, 0.25)
    """

    total: float
    count: int

    def __post_init__(self) -> None:
        if not self.total >= 0:  # true for NaN
            raise ValueError(f"total: expected at least 0 nats, got {self.total}")
        checked_integer("count", self.count, 1)

    def __add__(self, other: TokenLoss) -> TokenLoss:
        if not isinstance(other, TokenLoss):
            return NotImplemented
        return TokenLoss(self.total + other.total, self.count + other.count)

    @property
    def mean(self) -> float:
        """Nats per token."""
        return self.per(self.count)

    @property
    def perplexity(self) -> float:
        """exp(mean); infinity where that is beyond a float."""
        return perplexity_of(self.mean)

    def per(self, units: int) -> float:
        """Return nats per unit.

        Args:
            units: how many units the same text has, characters or bytes for example.

        Raises:
            ValueError: if there is no unit.
        """
        return mean_loss(-self.total, units)


def token_loss(logits: ArrayLike, labels: ArrayLike, mask: ArrayLike | None = None) -> TokenLoss:
    """Add up the losses at all positions that count.

    Args:
        logits: (..., V).
        labels: integers (...), in [0, V) where they count.
        mask: bool, broadcastable to (...), True where a label counts; None counts all.

    Raises:
        TypeError, ValueError: as `numerics.token_losses`; ValueError too if no position counts.

    Example:
        >>> import numpy as np
        >>> token_loss(np.log([[0.5, 0.5], [0.75, 0.25]]), [0, 1]).perplexity.__round__(3)
        2.828
    """
    losses = token_losses(logits, labels, mask)
    count = int(as_mask("mask", True if mask is None else mask, losses.shape).sum())
    if count == 0:
        raise ValueError("mask: expected at least one position that counts, got none")
    return TokenLoss(float(losses.sum()), count)


def summed(parts: Iterable[TokenLoss]) -> TokenLoss:
    """Return the loss of several parts of a text together: totals and counts added.

    Raises:
        ValueError: if there is no part.

    Example:
        >>> summed([TokenLoss(1.0, 1), TokenLoss(9.0, 3)])
        TokenLoss(total=10.0, count=4)
    """
    losses = list(parts)
    if not losses:
        raise ValueError("parts: expected at least one, got none")
    return TokenLoss(sum(loss.total for loss in losses), sum(loss.count for loss in losses))


def mean_of_means(parts: Iterable[TokenLoss]) -> float:
    """Return the mean of the means of parts, which is not the mean of the whole unless their counts are equal.

    Here to be compared with `summed(parts).mean`; no loss should be reported this way.

    Raises:
        ValueError: if there is no part.

    Example:
        >>> parts = [TokenLoss(1.0, 1), TokenLoss(9.0, 3)]
        >>> mean_of_means(parts), summed(parts).mean
        (2.0, 2.5)
    """
    losses = list(parts)
    if not losses:
        raise ValueError("parts: expected at least one, got none")
    return sum(loss.mean for loss in losses) / len(losses)
