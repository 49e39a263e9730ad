"""How one token is chosen from a distribution: greedy, temperature, top-k, top-p, drawing.

For logits a (..., V) of V candidates and a temperature tau > 0

    p_j^(tau) = exp(a_j / tau) / sum_i exp(a_i / tau)

top-k keeps the k most probable candidates, top-p the smallest set of most probable ones whose probabilities add up
to at least p, so the candidate that crosses p is kept; both set the others to 0 and divide by what is left.

Conventions that every function here keeps:

* Any leading axes; the last one is the axis of the distribution. Results are float64.
* Of equal candidates the one with the lowest index goes first: greedy takes it, top-k and top-p keep it.
* A logit of `-inf` has probability 0 and is never chosen. A row with nothing else is refused, as are NaN and +inf.
* Division by tau happens after the largest logit is subtracted, so no tau > 0 overflows; tau = 0 is not divided
  by, it means greedy. The limit tau -> 0 is greedy too, but for equal largest logits, among which it divides evenly.

Section 2.8 of the course; top-k: Fan, Lewis and Dauphin 2018 (arXiv:1805.04833); top-p (nucleus):
Holtzman et al. 2020 (arXiv:1904.09751). Difference from Hugging Face's processors, which mask logits: these
functions return probabilities, and ties of top-k are broken rather than all kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import checked_integer
from onesentence.generate.checks import (
    checked_distribution,
    checked_logits,
    checked_temperature,
    checked_threshold,
)
from onesentence.numerics import FloatArray, as_floats, softmax

REACHED = 1e-12
"""A sum that misses p of top-p by no more than this has reached it: 0.6 + 0.3 is 0.8999999999999999."""


def greedy(logits: ArrayLike) -> NDArray[np.int64]:
    """Return the id of the largest logit of each row, the lowest id of equal ones.

    Args:
        logits: (..., V); log probabilities or probabilities have the same largest entry.

    Returns:
        Ids (...).

    Raises:
        TypeError: if `logits` is not real.
        ValueError: if V is 0, or a row holds NaN or +inf or nothing but -inf.

    Example:
        >>> greedy([[0.0, 2.0, 2.0], [1.0, -np.inf, 0.0]]).tolist()
        [1, 0]
    """
    return np.asarray(checked_logits(logits).argmax(axis=-1), dtype=np.int64)


def with_temperature(logits: ArrayLike, tau: float) -> FloatArray:
    """Return the distribution softmax(a / tau); for tau = 0 all probability on the greedy choice.

    Args:
        logits: a, (..., V).
        tau: temperature, at least 0; 1 is the model's own distribution.

    Returns:
        Probabilities (..., V).

    Raises:
        TypeError: if `logits` is not real or `tau` not a number.
        ValueError: if `tau` is negative or not finite, or as for `greedy`.

    Example:
        >>> logits = np.log([0.6, 0.3, 0.1])
        >>> with_temperature(logits, 0.5).round(6).tolist()
        [0.782609, 0.195652, 0.021739]
        >>> with_temperature(logits, 0).tolist()
        [1.0, 0.0, 0.0]
    """
    scores, tau = checked_logits(logits), checked_temperature("tau", tau)
    if tau == 0:
        one_hot = np.zeros_like(scores)
        np.put_along_axis(one_hot, scores.argmax(axis=-1)[..., None], 1.0, axis=-1)
        return one_hot
    with np.errstate(over="ignore", under="ignore"):  # too far below the largest is -inf: probability 0
        return softmax((scores - scores.max(axis=-1, keepdims=True)) / tau)


def top_k(p: ArrayLike, k: int) -> FloatArray:
    """Return the distribution of the k most probable candidates.

    Args:
        p: probabilities (..., V), each row summing to 1.
        k: how many to keep, at least 1; more than V keeps all. Candidates of probability 0 stay at 0.

    Returns:
        Probabilities (..., V), at most k of a row positive.

    Raises:
        TypeError: if `p` is not real or `k` not an integer.
        ValueError: if `k` is below 1, or a row is no distribution.

    Example:
        >>> top_k([0.6, 0.3, 0.1], 2).round(6).tolist()
        [0.666667, 0.333333, 0.0]
    """
    row, k = checked_distribution(p), checked_integer("k", k, 1)
    kept = np.zeros(row.shape, dtype=bool)
    np.put_along_axis(kept, _descending(row)[..., :k], True, axis=-1)
    return _renormalised(row, kept)


def top_p(p: ArrayLike, threshold: float) -> FloatArray:
    """Return the distribution of the smallest set of most probable candidates that holds `threshold`.

    Args:
        p: probabilities (..., V), each row summing to 1.
        threshold: p of top-p, in (0, 1]; 1 changes nothing. A sum within `REACHED` below it has reached it.

    Returns:
        Probabilities (..., V), at least one of a row positive.

    Raises:
        TypeError: if `p` is not real or `threshold` not a number.
        ValueError: if `threshold` lies outside (0, 1], or a row is no distribution.

    Example:
        >>> top_p([0.6, 0.3, 0.1], 0.7).round(6).tolist()  # 0.6 does not reach it, 0.6 + 0.3 does
        [0.666667, 0.333333, 0.0]
        >>> top_p([0.6, 0.3, 0.1], 0.5).tolist()
        [1.0, 0.0, 0.0]
    """
    row, threshold = checked_distribution(p), checked_threshold("threshold", threshold)
    if threshold == 1:
        return row
    order = _descending(row)
    reached = np.cumsum(np.take_along_axis(row, order, axis=-1), axis=-1) >= threshold - REACHED
    keep = np.ones(row.shape, dtype=bool)
    keep[..., 1:] = ~reached[..., :-1]  # a candidate stays while those before it fall short
    kept = np.empty_like(keep)
    np.put_along_axis(kept, order, keep, axis=-1)
    return _renormalised(row, kept)


class Sampler:
    """Draws one id per row: temperature first, then top-k, then top-p, then a draw.

    Each row has a generator of its own, made of one number drawn from `rng` and the row's number. So what a row
    draws depends on the seed, its number and how often it has drawn, never on the other rows or how many there are:
    a batch gives what its rows give alone. A sampler goes on where it stopped; for the same draws again make another
    from the same seed. The same logits and seed give the same ids on one machine; other hardware or another library
    may round logits otherwise and so cross a boundary.

    Attributes:
        temperature: tau, at least 0; 0 is greedy.
        top_k: how many candidates stay, or None for all.
        top_p: probability that the candidates that stay must hold, in (0, 1]; 1 for all.
        first: number of the first row: row i of a call is row first + i of the data.

    Example:
        >>> sampler = Sampler(np.random.default_rng(0), top_k=2)
        >>> logits = np.log([[0.6, 0.3, 0.1]] * 8)
        >>> sampler(logits).tolist()
        [0, 0, 0, 0, 1, 1, 0, 0]
        >>> sampler.distribution(logits)[0].round(6).tolist()
        [0.666667, 0.333333, 0.0]
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        first: int = 0,
    ) -> None:
        """Check the settings and draw the number that all rows' generators start from.

        Args:
            rng: source of all randomness; one number is drawn from it.
            temperature: tau, at least 0.
            top_k: at least 1, or None.
            top_p: in (0, 1].
            first: at least 0.

        Raises:
            TypeError: if an argument is of another kind.
            ValueError: if a setting lies outside its range.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
        self.temperature = checked_temperature("temperature", temperature)
        self.top_k = None if top_k is None else checked_integer("top_k", top_k, 1)
        self.top_p = checked_threshold("top_p", top_p)
        self.first = checked_integer("first", first, 0)
        self._seed = int(rng.integers(2**63))
        self._rows: list[np.random.Generator] = []

    def distribution(self, logits: ArrayLike) -> FloatArray:
        """Return the probabilities (..., V) that are drawn from.

        Raises:
            TypeError, ValueError: as `greedy`.
        """
        p = with_temperature(logits, self.temperature)
        if self.top_k is not None:
            p = top_k(p, self.top_k)
        return top_p(p, self.top_p)

    def __call__(self, logits: ArrayLike) -> NDArray[np.int64]:
        """Return one id (...) per row of logits (..., V), each row's generator drawing one number.

        Raises:
            TypeError, ValueError: as `greedy`.
        """
        p = self.distribution(logits)
        flat = p.reshape(-1, p.shape[-1])
        while len(self._rows) < len(flat):
            number = self.first + len(self._rows)
            self._rows.append(np.random.default_rng((number, self._seed)))
        u = np.array([rng.random() for rng in self._rows[: len(flat)]])
        return inverse_cdf(flat, u).reshape(p.shape[:-1])


def inverse_cdf(p: ArrayLike, u: ArrayLike) -> NDArray[np.int64]:
    """Return, for each row, the first id whose cumulative probability exceeds u.

    Args:
        p: probabilities (..., V), each row summing to 1.
        u: numbers (...) in [0, 1), uniform for a draw from `p`.

    Returns:
        Ids (...), each of positive probability.

    Raises:
        TypeError: if an argument is not real.
        ValueError: if a row is no distribution, or `u` has another shape or lies outside [0, 1).

    Example:
        >>> inverse_cdf([[0.6, 0.0, 0.4]] * 3, [0.59, 0.6, 0.99]).tolist()
        [0, 2, 2]
    """
    row, numbers = checked_distribution(p), as_floats("u", u)
    if numbers.shape != row.shape[:-1]:
        raise ValueError(f"u must have shape {row.shape[:-1]}, got {numbers.shape}")
    if not ((numbers >= 0) & (numbers < 1)).all():
        raise ValueError("u must lie in [0, 1)")
    cumulative = np.cumsum(row, axis=-1)
    ids = (cumulative <= (numbers * cumulative[..., -1])[..., None]).sum(axis=-1)
    last = row.shape[-1] - 1 - (row[..., ::-1] > 0).argmax(axis=-1)  # rounding must not lead past it
    chosen: NDArray[np.int64] = np.minimum(ids, last).astype(np.int64)
    return chosen


def _descending(row: FloatArray) -> NDArray[np.int64]:
    """Ids from the most to the least probable, equal ones by index."""
    return np.argsort(-row, axis=-1, kind="stable")


def _renormalised(row: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    left = np.where(kept, row, 0.0)
    result: FloatArray = left / left.sum(axis=-1, keepdims=True)
    return result
