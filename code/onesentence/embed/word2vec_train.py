"""Training the two tables of word2vec on minibatches, in NumPy.

One form serves both: an example has input words (one for skip-gram, a window for CBOW, see `pairs`) and one
output word; the hidden vector is the mean of the input words' rows. The updates are those of AdaGrad (see
`optim`). Mikolov et al. 2013 use plain SGD with a falling rate. Symbols: `B` examples of a batch, `C` input
words, `K` noise words, `V` words, `d` coordinates. The losses of one example are written out in `word2vec`; here
they are batched, equal by test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import inf, isfinite
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.activations import sigmoid, softplus
from onesentence.checks import checked_integer
from onesentence.embed.optim import AdaGrad
from onesentence.embed.sampling import NoiseSampler, noise_distribution
from onesentence.numerics import FloatArray, log_softmax, softmax


@dataclass(frozen=True)
class TrainConfig:
    """How to train.

    Attributes:
        width: d, coordinates of a vector.
        objective: `"softmax"`, over the whole vocabulary, or `"sampling"`, negative sampling.
        negatives: K, noise words per example; only for `"sampling"`.
        noise_power: power of the frequencies in the noise distribution.
        updates: number of updates; the examples are gone through in a new order each time round.
        batch: examples per update; with fewer examples than that, all of them.
        rate: learning rate of AdaGrad.
    """

    width: int = 16
    objective: Literal["softmax", "sampling"] = "sampling"
    negatives: int = 5
    noise_power: float = 0.75
    updates: int = 200
    batch: int = 256
    rate: float = 0.3

    def __post_init__(self) -> None:
        for name in ("width", "negatives", "updates", "batch"):
            checked_integer(name, getattr(self, name), 1)
        if self.objective not in ("softmax", "sampling"):
            raise ValueError(f"objective must be 'softmax' or 'sampling', got {self.objective!r}")
        if not (isfinite(self.rate) and self.rate > 0):
            raise ValueError(f"rate must be positive and finite, got {self.rate}")
        if not (isfinite(self.noise_power) and self.noise_power >= 0):
            raise ValueError(f"noise_power must be finite and at least 0, got {self.noise_power}")


@dataclass
class Vectors:
    """Two tables and how their loss went.

    Attributes:
        centre: (V, d), the table of input words.
        context: (V, d), the table of output words.
        losses: mean loss of each batch before its update, in nats, filled by `train`.
    """

    centre: FloatArray
    context: FloatArray
    losses: list[float] = field(default_factory=list)


def initial_vectors(size: int, width: int, rng: np.random.Generator) -> Vectors:
    """Both tables at random, normal with standard deviation 1/sqrt(d).

    Args:
        size: V, at least 2.
        width: d, at least 1.
        rng: source of randomness.

    Returns:
        The tables, without losses.

    Raises:
        TypeError: `rng` is not a NumPy Generator.
        ValueError: sizes too small.

    Example:
        >>> initial_vectors(3, 2, np.random.default_rng(0)).centre.shape
        (3, 2)
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    if size < 2 or width < 1:
        raise ValueError(f"size must be at least 2 and width at least 1, got {size} and {width}")
    centre, context = rng.normal(0, 1 / np.sqrt(width), (2, size, width))
    return Vectors(centre, context)


def train(
    inputs: ArrayLike,
    outputs: ArrayLike,
    start: Vectors,
    config: TrainConfig,
    rng: np.random.Generator,
    watch: Callable[[Vectors], None] | None = None,
) -> Vectors:
    """Train on examples and return new tables; the start is left as it is.

    Args:
        inputs: (N, C) IDs, -1 where a window is shorter; each row holds at least one word.
        outputs: (N,) IDs.
        start: tables of width `config.width`.
        config: how to train.
        rng: source of the order of the examples and of the noise.
        watch: called with the tables before the first update and after each one, to observe, not to change.

    Returns:
        Trained tables with the loss of every batch.

    Raises:
        TypeError: IDs that are no integers, `rng` is not a NumPy Generator.
        ValueError: shapes that do not fit, IDs outside the tables, tables of another width or not finite, a rate at
            which the loss grows without bound.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> config = TrainConfig(width=4, objective="softmax", updates=50)
        >>> done = train([[0], [1]], [1, 0], initial_vectors(2, 4, rng), config, rng)
        >>> done.losses[-1] < done.losses[0] / 4
        True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    shape = (len(start.centre), config.width)
    if start.centre.shape != shape or start.context.shape != shape:
        raise ValueError(f"start must hold tables of width {config.width}, got {start.centre.shape}")
    if not (np.isfinite(start.centre).all() and np.isfinite(start.context).all()):
        raise ValueError("start must hold finite tables")
    size = len(start.centre)
    words, targets = _checked(inputs, outputs, size)
    now = Vectors(start.centre.copy(), start.context.copy())
    tables = {"centre": now.centre, "context": now.context}
    optimiser = AdaGrad(rate=config.rate)
    sampler = NoiseSampler(noise_distribution(np.bincount(targets, minlength=size), config.noise_power))
    if watch:
        watch(now)
    for rows in islice(_batches(len(targets), config.batch, rng), config.updates):
        negatives = None
        if config.objective == "sampling":
            negatives = sampler.draw((len(rows), config.negatives), rng)
        try:
            loss, centre, context = _batch_loss(now, words[rows], targets[rows], negatives)
        except ValueError:  # softmax of scores that are not finite: the examples were checked above
            loss = inf
        if not isfinite(loss):
            raise ValueError(
                f"rate: {config.rate} let the loss grow without bound after {len(now.losses)} updates"
            )
        now.losses.append(loss)
        optimiser.step(tables, {"centre": centre, "context": context})
        if watch:
            watch(now)
    return now


def batch_loss(
    vectors: Vectors,
    inputs: NDArray[np.intp],
    outputs: NDArray[np.intp],
    negatives: NDArray[np.intp] | None = None,
) -> tuple[float, FloatArray, FloatArray]:
    """Mean loss of a batch and its gradients for both tables.

    Args:
        vectors: the tables.
        inputs: (B, C) IDs, -1 where a window is shorter.
        outputs: (B,) IDs.
        negatives: (B, K) noise IDs; None takes the full softmax.

    Returns:
        Loss in nats, gradient of the centre table, gradient of the context table.

    Raises:
        TypeError: IDs that are no integers.
        ValueError: shapes that do not fit, IDs outside the tables.

    Example:
        >>> v = Vectors(np.zeros((4, 2)), np.zeros((4, 2)))
        >>> round(batch_loss(v, np.array([[0]]), np.array([1]))[0], 6)
        1.386294
    """
    words, targets = _checked(inputs, outputs, len(vectors.centre))
    if negatives is not None:
        noise = np.asarray(negatives)
        if noise.ndim != 2 or len(noise) != len(targets) or noise.dtype.kind not in "iu":
            raise ValueError(
                f"negatives must hold IDs, (B, K) with B = {len(targets)}, got shape {noise.shape}"
            )
        if noise.size and not 0 <= noise.min() <= noise.max() < len(vectors.centre):
            raise ValueError(
                f"negatives must be IDs below {len(vectors.centre)}, got {noise.min()} to {noise.max()}"
            )
    return _batch_loss(vectors, words, targets, negatives)


def _batch_loss(
    vectors: Vectors,
    inputs: NDArray[np.intp],
    outputs: NDArray[np.intp],
    negatives: NDArray[np.intp] | None,
) -> tuple[float, FloatArray, FloatArray]:
    """Do what `batch_loss` says, on IDs that were checked."""
    size, context = len(vectors.centre), vectors.context
    share = _shares(inputs, size)  # (B, V): each row says how much of each word its mean holds
    hidden = share @ vectors.centre
    weights: FloatArray  # (B, V), dl/ds of every word, zero where a word was not looked at
    if negatives is None:
        scores = hidden @ context.T
        at = np.arange(len(outputs)), outputs
        loss = -log_softmax(scores)[at].mean()
        error = softmax(scores)
        error[at] -= 1.0
        weights = error / len(outputs)
    else:
        chosen = np.concatenate([outputs[:, None], negatives], axis=1)  # (B, 1 + K), the observed word first
        scores = np.vecdot(context[chosen], hidden[:, None])
        sign = np.where(np.arange(chosen.shape[1]) == 0, -1.0, 1.0)
        loss = softplus(sign * scores).sum(axis=1).mean()
        error = sign * sigmoid(sign * scores) / len(outputs)
        weights = np.zeros((len(outputs), size))
        np.add.at(weights, (np.arange(len(outputs))[:, None], chosen), error)  # a word may be drawn twice
    return float(loss), share.T @ (weights @ context), weights.T @ hidden


def accuracy(vectors: Vectors, inputs: NDArray[np.intp], outputs: NDArray[np.intp]) -> float:
    """Share of examples whose output word has the highest score of all words (top-1).

    Args:
        vectors: the tables.
        inputs: (N, C) IDs, -1 where a window is shorter.
        outputs: (N,) IDs.

    Returns:
        Between 0 and 1.

    Raises:
        TypeError: IDs that are no integers.
        ValueError: shapes that do not fit, no example, IDs outside the tables.

    Example:
        >>> accuracy(Vectors(np.eye(2), np.eye(2)), np.array([[0], [1]]), np.array([0, 0]))
        0.5
    """
    words, targets = _checked(inputs, outputs, len(vectors.centre))
    scores = _shares(words, len(vectors.centre)) @ vectors.centre @ vectors.context.T
    return float((scores.argmax(axis=1) == targets).mean())


def _batches(count: int, batch: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield row numbers of batches without end, every row once in each round."""
    while True:
        order = rng.permutation(count)
        yield from (order[first : first + batch] for first in range(0, count, batch))


def _shares(inputs: NDArray[np.intp], size: int) -> FloatArray:
    """Return (B, V), the mean of the one-hot vectors of each row; -1 stands for no word."""
    real = inputs >= 0
    flat = (np.arange(len(inputs))[:, None] * size + inputs)[real]
    counts = np.bincount(flat, minlength=len(inputs) * size).reshape(-1, size)
    shares: FloatArray = counts / real.sum(axis=1, keepdims=True)
    return shares


def _checked(inputs: ArrayLike, outputs: ArrayLike, size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the IDs of examples for tables of `size` rows."""
    words, targets = np.asarray(inputs), np.asarray(outputs)
    if words.dtype.kind not in "iu" or targets.dtype.kind not in "iu":
        raise TypeError(f"inputs and outputs must hold integers, got {words.dtype} and {targets.dtype}")
    if words.ndim != 2 or targets.shape != words.shape[:1] or targets.size == 0:
        raise ValueError(f"inputs (N, C) and outputs (N,) must fit, got {words.shape} and {targets.shape}")
    if words.min() < -1 or max(words.max(), targets.max()) >= size or targets.min() < 0:
        raise ValueError(f"inputs and outputs must be IDs below {size}, and only inputs may be -1")
    if not (words >= 0).any(axis=1).all():
        raise ValueError("inputs must hold at least one word in every row")
    return words.astype(np.intp), targets.astype(np.intp)
