"""Layers run on numbers that know what was done to them: how many products, in which chain, from which positions.

`Counted` is a number for arrays of dtype object. A product of two of them adds one to the tally of the stage at hand
("own" or "between", see `transformer.layer_costs`) and lengthens the chain by one; a sum takes the longer chain of the
two; exp, tanh and division by a number do neither. Each also knows the input positions that it was computed from. The
formulas of `layer_costs` are not used here, so that one can be held against the other.

    attention    softmax_key(X W^Q (X W^K)^T / sqrt(C)) X W^V W^O
    recurrence   h_t = tanh(x_t W_x + h_{t-1} W_h), h_0 = 0
    convolution  y_t = sum_i x_{t - i s} W_i, i = 0 .. k-1, dilation s, x zero before the first position

Rows of X (n, C) are positions. Teaching code: slow, no stable softmax, for weights near 0. Section 4.1 of the course.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onesentence.checks import checked_integer

Objects: TypeAlias = NDArray[np.object_]
"""An array of `Counted`."""


@dataclass
class Tally:
    """Products made so far.

    Attributes:
        stage: what the next products count as.
        products: how many, by stage.
    """

    stage: str = "own"
    products: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Counted:
    """A number and its history.

    Attributes:
        value: the number itself.
        tally: where its products are counted.
        chain: the longest chain of products behind it.
        read: the positions of the input behind it.
    """

    value: float
    tally: Tally
    chain: int = 0
    read: frozenset[int] = frozenset()

    def __mul__(self, other: Counted) -> Counted:
        self.tally.products[self.tally.stage] += 1
        chain = max(self.chain, other.chain) + 1
        return Counted(self.value * other.value, self.tally, chain, self.read | other.read)

    def __add__(self, other: Counted) -> Counted:
        chain = max(self.chain, other.chain)
        return Counted(self.value + other.value, self.tally, chain, self.read | other.read)

    def __truediv__(self, other: Counted | float) -> Counted:
        if isinstance(other, Counted):
            chain = max(self.chain, other.chain)
            return Counted(self.value / other.value, self.tally, chain, self.read | other.read)
        return Counted(self.value / other, self.tally, self.chain, self.read)

    def exp(self) -> Counted:
        """Return e to this power; NumPy calls it for np.exp."""
        return Counted(math.exp(self.value), self.tally, self.chain, self.read)

    def tanh(self) -> Counted:
        """Return the hyperbolic tangent; NumPy calls it for np.tanh."""
        return Counted(math.tanh(self.value), self.tally, self.chain, self.read)


@dataclass(frozen=True, eq=False)
class Counts:
    """What running a layer took.

    Attributes:
        own: products that take a position's own input only.
        between: products that carry something between positions.
        chain: the longest chain of products behind an output.
        read: for each output position, the input positions that it was computed from.
        output: the values, (n, C).
    """

    own: int
    between: int
    chain: int
    read: tuple[frozenset[int], ...]
    output: NDArray[np.float64]


Layer: TypeAlias = Callable[[Objects, Sequence[Objects], Tally], Objects]
"""From X (n, C) and matrices (C, C) to (n, C)."""


def attention(X: Objects, W: Sequence[Objects], tally: Tally) -> Objects:
    """Return self-attention with one head; W holds W^Q, W^K, W^V, W^O."""
    _check_count("attention", W, 4)
    tally.stage = "own"
    Q, K, V = (X @ w for w in W[:3])
    tally.stage = "between"
    E = np.exp(Q @ K.T / math.sqrt(X.shape[1]))
    Y = (E / E.sum(axis=1, keepdims=True)) @ V
    tally.stage = "own"
    return np.asarray(Y @ W[3])


def recurrence(X: Objects, W: Sequence[Objects], tally: Tally) -> Objects:
    """Return the states of a tanh RNN; W holds W_x, W_h."""
    _check_count("recurrence", W, 2)
    tally.stage = "own"
    U = X @ W[0]
    tally.stage = "between"
    h, states = _plain(np.zeros(X.shape[1]), tally), []
    for u in U:
        h = np.tanh(u + h @ W[1])
        states.append(h)
    return np.stack(states)


def convolution(dilation: int = 1) -> Layer:
    """Return the convolution whose kernel has one tap for each matrix, the first on the position itself.

    Args:
        dilation: distance between taps, 1 or more.

    Raises:
        TypeError: if it is not an integer.
        ValueError: if it is less than 1.
    """
    s = checked_integer("dilation", dilation, 1)

    def layer(X: Objects, W: Sequence[Objects], tally: Tally) -> Objects:
        n, C = X.shape
        nothing = _plain(np.zeros((s * (len(W) - 1), C)), tally)
        padded = np.concatenate([nothing, X])
        tally.stage = "own"
        Y = X @ W[0]
        tally.stage = "between"
        for i in range(1, len(W)):
            start = len(nothing) - i * s
            Y = Y + padded[start : start + n] @ W[i]
        return np.asarray(Y)

    return layer


def run(layers: Sequence[tuple[Layer, int]], n: int, C: int, *, seed: int = 0) -> Counts:
    """Run layers one on another, with random inputs and matrices, and say what they took.

    Args:
        layers: each with the number of its matrices: 4 of attention, 2 of recurrence, k of a convolution.
        n: positions.
        C: width.
        seed: of inputs and matrices.

    Raises:
        TypeError: if a size is not an integer.
        ValueError: if a size is less than 1, there is no layer, or one has another number of matrices than it uses.

    Example:
        >>> counts = run([(recurrence, 2)], n=3, C=2)
        >>> counts.own, counts.between, counts.chain
        (12, 12, 3)
    """
    n, C = checked_integer("n", n, 1), checked_integer("C", C, 1)
    if not layers:
        raise ValueError("layers must hold at least one layer, got none")
    for _, count in layers:
        checked_integer("layers: number of matrices", count, 1)
    X, matrices = drawn([count for _, count in layers], n, C, seed=seed)
    tally = Tally()
    Y = np.array(
        [
            [Counted(float(x), tally, read=frozenset([position])) for x in row]
            for position, row in enumerate(X)
        ],
        dtype=object,
    )
    for (layer, _), W in zip(layers, matrices, strict=True):
        Y = layer(Y, [_plain(w, tally) for w in W], tally)
    return Counts(
        own=tally.products["own"],
        between=tally.products["between"],
        chain=max(y.chain for y in Y.flat),
        read=tuple(frozenset().union(*(y.read for y in row)) for row in Y),
        output=np.array([[y.value for y in row] for row in Y]),
    )


def drawn(
    counts: Sequence[int], n: int, C: int, *, seed: int
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return inputs (n, C) and, for each count, so many matrices (count, C, C), as `run` draws them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, C))
    return X, [rng.normal(size=(count, C, C)) / C for count in counts]


def _check_count(name: str, W: Sequence[Objects], needed: int) -> None:
    """Refuse a layer more or fewer matrices than its formula has."""
    if len(W) != needed:
        raise ValueError(f"layers: {name} must have {needed} matrices, got {len(W)}")


def _plain(values: Any, tally: Tally) -> Objects:
    """Return numbers with no history: weights, zeros."""
    numbers = np.empty(np.shape(values), dtype=object)
    for index, value in np.ndenumerate(values):
        numbers[index] = Counted(float(value), tally)
    return numbers
