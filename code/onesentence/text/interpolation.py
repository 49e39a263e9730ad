"""Linear interpolation of orders, with weights chosen on held-out sentences by EM.

For a context h of n - 1 words, with h_k its last k - 1 words (section 1.8 of the course; Jelinek and Mercer
1980)

    p(w | h) = lambda_n p_n(w | h_n) + ... + lambda_1 p_1(w) + lambda_0 / V

where p_k is maximum likelihood of order k and V the number of candidates. A context h_k that was never seen
has no p_k: its weight is shared out over the orders that are left, in proportion to theirs. That is the same
as the recursion p_k' = mu_k p_k + (1 - mu_k) p_(k-1)' with mu_k = lambda_k / (lambda_0 + ... + lambda_k) in
which an order without data is skipped; `fit_weights` runs EM on the mu_k.

Weights must come from sentences that were not counted: on the counted ones the highest order always wins.
Difference: Jelinek and Mercer let the weights depend on C(h); here one set serves all contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.numerics import FloatArray
from onesentence.text.ngram import CountModel
from onesentence.text.ngram_counts import Ids, NgramCounts, sentence_ids
from onesentence.text.vocabulary import BOS, EOS


@dataclass(frozen=True, eq=False)
class Interpolated(CountModel):
    """A fixed mixture of the orders 0 (uniform) to n.

    Attributes:
        counts: the counts, up to order n.
        weights: lambda_0, ..., lambda_n; none negative, together 1, and lambda_0 + lambda_1 > 0, so that
            every context has a distribution.

    Example:
        >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=2)
        >>> Interpolated(counts, (0, 0.5, 0.5)).prob("her", ["gave"])  # (1/8 + 1/2) / 2
        0.3125
    """

    weights: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _checked_weights(self.weights, self.order))

    def _prob(self, word: int, context: Ids) -> float:
        parts, seen = _components(self.counts, word, context)
        used = np.where(seen, self.weights, 0.0)
        return float(used @ parts / used.sum())

    def _row(self, context: Ids) -> FloatArray:
        mixed, used = np.zeros(len(self.vocabulary)), self.weights[0]
        mixed[self.vocabulary.candidates] = self.weights[0] / len(self.vocabulary.candidates)
        for length, table in enumerate(self.counts.tables):
            h = context[len(context) - length :]
            if h in table.totals:
                row = table.rows[h]
                share = np.fromiter(row.values(), float, len(row)) / table.totals[h]
                mixed[np.fromiter(row, np.int64, len(row))] += self.weights[length + 1] * share
                used += self.weights[length + 1]
        return mixed / used


class Fit(NamedTuple):
    """What EM found.

    Attributes:
        weights: lambda_0, ..., lambda_n.
        trace: mean log probability per held-out token, in nats, before each step and after the last;
            it never falls.
    """

    weights: tuple[float, ...]
    trace: tuple[float, ...]


def fit_weights(
    counts: NgramCounts,
    held_out: Iterable[Sequence[str]],
    *,
    start: ArrayLike | None = None,
    steps: int = 200,
    tolerance: float = 1e-10,
    least: float = 0.0,
) -> Fit:
    """Choose the weights that make held-out sentences most probable, by expectation and maximisation.

    Args:
        counts: counts of other sentences.
        held_out: at least one sentence that was not counted.
        start: first weights, (n + 1,); an order that starts with 0 stays at 0. None starts them all equal.
        steps: largest number of EM steps, at least 1.
        tolerance: stop when the mean log probability rises by less, nats per token.
        least: what order 0 has at least in the result, the others sharing the rest. Held-out text that the highest
            order explains drives the others to 0, and then an unseen context would have no distribution.

    Returns:
        The weights and the held-out log probability at each step, `least` not yet taken into account.

    Raises:
        ValueError: if there is no sentence, a word is unknown to a vocabulary without UNK, `start` is not a
            set of weights, `steps` is below 1, `least` lies outside [0, 1), or a token has probability 0 under
            every order that has weight (give order 0 some).

    Example:
        >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=2)
        >>> fit = fit_weights(counts, [["I", "gave", "her"]], start=(0, 0.5, 0.5))
        >>> [round(weight, 3) for weight in fit.weights]
        [0.0, 0.0, 1.0]
    """
    if steps < 1:
        raise ValueError(f"steps: expected at least 1, got {steps}")
    if not 0 <= least < 1:
        raise ValueError(f"least: expected a number in [0, 1), got {least}")
    first = np.full(counts.order + 1, 1 / (counts.order + 1)) if start is None else start
    weights = np.array(_checked_weights(first, counts.order))
    parts, seen = _held_out_components(counts, held_out)
    trace: list[float] = []
    for _ in range(steps):
        used = np.where(seen, weights, 0.0)
        used /= used.sum(axis=1, keepdims=True)
        joint = used * parts  # (N, n + 1)
        likelihood = joint.sum(axis=1)
        if not likelihood.all():
            raise ValueError(
                "held_out: a token has probability 0 in every order with weight; give order 0 some"
            )
        trace.append(float(np.log(likelihood).mean()))
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
            return Fit(_with_least(weights, least), tuple(trace))
        weights = _maximise(joint / likelihood[:, None], seen, weights)
    used = np.where(seen, weights, 0.0)
    trace.append(float(np.log((used * parts).sum(axis=1) / used.sum(axis=1)).mean()))
    return Fit(_with_least(weights, least), tuple(trace))


def _with_least(weights: FloatArray, least: float) -> tuple[float, ...]:
    """Return weights whose first is at least `least`, the others scaled to what is left."""
    if weights[0] >= least:
        return tuple(weights.tolist())
    others = weights[1:] * (1 - least) / weights[1:].sum()
    return (least, *others.tolist())


def _maximise(posterior: FloatArray, seen: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Return the weights that fit the posterior best: how often each order is taken where it is reached."""
    reached = np.where(seen, np.cumsum(posterior, axis=1), 0.0).sum(axis=0)  # order k or a lower one
    taken = np.where(seen, posterior, 0.0).sum(axis=0)
    below = np.cumsum(weights)
    before = np.divide(weights, below, out=np.zeros_like(weights), where=below > 0)
    mu = np.divide(taken, reached, out=before, where=reached > 0)  # kept where no held-out token says more
    mu[0] = 1.0
    passed = np.append(np.cumprod((1 - mu)[::-1])[::-1][1:], 1.0)  # product of 1 - mu_j over j > k
    result: FloatArray = mu * passed
    return result


def _components(counts: NgramCounts, word: int, context: Ids) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return p_0, ..., p_n of one word, and which of them have data."""
    parts = np.zeros(counts.order + 1)
    seen = np.ones(counts.order + 1, dtype=bool)
    parts[0] = 1 / len(counts.vocabulary.candidates)
    for length, table in enumerate(counts.tables):
        h = context[len(context) - length :]
        total = table.totals.get(h, 0)
        seen[length + 1] = total > 0
        if total:
            parts[length + 1] = table.rows[h].get(word, 0) / total
    return parts, seen


def _held_out_components(
    counts: NgramCounts, held_out: Iterable[Sequence[str]]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return p_0, ..., p_n of each of the N held-out tokens, and which have data: both (N, n + 1)."""
    vocabulary, reach = counts.vocabulary, counts.order - 1
    found = []
    for words in held_out:
        filled = [vocabulary.id(BOS)] * reach + sentence_ids(vocabulary, words) + [vocabulary.id(EOS)]
        found += [
            _components(counts, filled[at], tuple(filled[at - reach : at]))
            for at in range(reach, len(filled))
        ]
    if not found:
        raise ValueError("held_out: expected at least one sentence, got an empty corpus")
    return np.array([parts for parts, _ in found]), np.array([seen for _, seen in found])


def _checked_weights(weights: ArrayLike, order: int) -> tuple[float, ...]:
    values = np.asarray(weights, dtype=float)
    if values.shape != (order + 1,):
        raise ValueError(
            f"weights: expected {order + 1} of them, orders 0 to {order}, got shape {values.shape}"
        )
    if not (values >= 0).all():  # false for NaN too
        raise ValueError(f"weights: expected none negative, got {values.tolist()}")
    if not isclose(values.sum(), 1.0, abs_tol=1e-9):
        raise ValueError(f"weights: expected a sum of 1, got {values.sum():g}")
    if values[0] + values[1] == 0:
        raise ValueError(
            "weights: expected lambda_0 + lambda_1 > 0, so that unseen contexts have a distribution"
        )
    return tuple(values.tolist())
