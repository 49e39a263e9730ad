"""Scorers: how well each key matches each query, with the way back by hand.

    Dot       e_ij = scale * q_i . k_j
    General   e_ij = q_i^T W k_j
    Additive  e_ij = v . tanh(W q_i + U k_j + b)
    Linear    e_ij = w . [q_i; k_j] + b = w_q . q_i + w_k . k_j + b

What follows a scorer stays the same whichever it is: a softmax over the source positions and a weighted sum. The
query's part of `Linear` is the same number for every j, so the softmax drops it: its weights know no query.

Symbols: `T` queries of width `Dq`, `S` keys of width `Dk`, `A` width of the hidden layer; `...` are leading axes, which
broadcast as in NumPy. `backward` takes dL/de as it is, and adds up over everything that an array was used for.

Sources: `Additive` is Bahdanau et al. 2015 (arXiv:1409.0473), appendix A.1.2, with their W_a, U_a, v_a as W, U, v; the
formula there has no b. The names dot, general and concat are those of Luong, Pham and Manning 2015 (arXiv:1508.04025),
section 3.1, whose concat, v . tanh(W [q; k]), is `Additive` with W and U side by side. The scale 1/sqrt(D) is Vaswani
et al. 2017, section 3.2.1. `Linear` is the counterexample of section 3.4 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.inputs import (
    checked_pair,
    checked_scale,
    checked_upstream,
    checked_weights,
    in_range,
    sum_to,
)
from onesentence.attention.read import dot_scores
from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray

_QUIET = np.errstate(over="ignore", invalid="ignore")  # what overflows is refused by name


@dataclass(frozen=True, eq=False)
class ScorerGradients:
    """What a way back through a scorer returns.

    Attributes:
        parameters: dL/dtheta by the names of `parameters()`.
        q: dL/dq, shaped like the queries.
        k: dL/dk, shaped like the keys.

    Raises:
        ValueError: if a number is not finite, which is what overflow leaves.
    """

    parameters: dict[str, FloatArray]
    q: FloatArray
    k: FloatArray

    def __post_init__(self) -> None:
        for name, gradient in {**self.parameters, "q": self.q, "k": self.k}.items():
            in_range(f"the gradient of {name}", gradient)


class Scorer(Protocol):
    """What all scorers can do."""

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        ...

    def scores(self, q: ArrayLike, k: ArrayLike) -> FloatArray:
        """Return scores (..., T, S) of queries (..., T, Dq) and keys (..., S, Dk)."""
        ...

    def backward(self, q: ArrayLike, k: ArrayLike, de: ArrayLike) -> ScorerGradients:
        """Return the gradients of a loss, given dL/de (..., T, S)."""
        ...

    def multiplications(self, T: int, S: int) -> int:
        """Return how many products of two numbers T x S scores take, projections made once per query or key."""
        ...


@dataclass(frozen=True, eq=False)
class Dot:
    """The dot product, which has no parameters and wants queries as wide as keys.

    Args:
        width: D, of queries and keys.
        scale: factor; 1 leaves the product as it is, None means 1/sqrt(D).

    Raises:
        TypeError: if the width is no integer or the scale no number; later, if an input does not hold real numbers.
        ValueError: if the width is below 1 or the scale not finite; later, if a shape does not fit.

    Example:
        >>> Dot(2).scores([[2, 0]], [[1, 0], [0, 1]]).tolist()
        [[2.0, 0.0]]
    """

    width: int
    scale: float | None = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", checked_integer("width", self.width, 1))
        checked_scale(self.scale, self.width)

    def parameters(self) -> dict[str, FloatArray]:
        """Return nothing: there are none."""
        return {}

    def scores(self, q: ArrayLike, k: ArrayLike) -> FloatArray:
        """Return scale * q_i . k_j."""
        return dot_scores(*checked_pair(q, k, self.width, self.width), scale=self.scale)

    @_QUIET
    def backward(self, q: ArrayLike, k: ArrayLike, de: ArrayLike) -> ScorerGradients:
        """Return dL/dq_i = scale * sum_j de_ij k_j and dL/dk_j = scale * sum_i de_ij q_i."""
        q, k = checked_pair(q, k, self.width, self.width)
        de = checked_upstream(de, q, k) * checked_scale(self.scale, self.width)
        return ScorerGradients({}, sum_to(de @ k, q.shape), sum_to(de.mT @ q, k.shape))

    def multiplications(self, T: int, S: int) -> int:
        """Return D per score."""
        T, S = _counts(T, S)
        return T * S * self.width


@dataclass(frozen=True, eq=False)
class General:
    """The bilinear scorer: a matrix between query and key, which may differ in width.

    Args:
        W: (Dq, Dk).

    Raises:
        TypeError: if an array does not hold real numbers.
        ValueError: if W has other axes; later, if a shape does not fit; if a number is not finite.

    Example:
        >>> General([[0, 1], [1, 0]]).scores([[2, 0]], [[1, 0], [0, 1]]).tolist()
        [[0.0, 2.0]]
    """

    W: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "W", checked_weights("W", self.W, 2))

    def parameters(self) -> dict[str, FloatArray]:
        """Return W."""
        return {"W": self.W}

    @_QUIET
    def scores(self, q: ArrayLike, k: ArrayLike) -> FloatArray:
        """Return q_i^T W k_j."""
        q, k = checked_pair(q, k, *self.W.shape)
        return in_range("q W k", (q @ self.W) @ k.mT)

    @_QUIET
    def backward(self, q: ArrayLike, k: ArrayLike, de: ArrayLike) -> ScorerGradients:
        """Return the gradients; that of W is the sum of de_ij q_i k_j^T."""
        q, k = checked_pair(q, k, *self.W.shape)
        de = checked_upstream(de, q, k)
        read = de @ k  # (..., T, Dk): for each query the sum over its keys
        W = sum_to(q.mT @ read, self.W.shape)
        return ScorerGradients(
            {"W": W}, sum_to(read @ self.W.T, q.shape), sum_to(de.mT @ (q @ self.W), k.shape)
        )

    def multiplications(self, T: int, S: int) -> int:
        """Return one projection per query and Dk per score."""
        (T, S), (Dq, Dk) = _counts(T, S), self.W.shape
        return int(T * Dq * Dk + T * S * Dk)


@dataclass(frozen=True, eq=False)
class Additive:
    """Bahdanau's scorer: a network with one hidden layer, the same for every pair of query and key.

    Args:
        W: (A, Dq).
        U: (A, Dk).
        b: (A,).
        v: (A,).

    Raises:
        TypeError: if an array does not hold real numbers.
        ValueError: if a shape does not fit, here or later; if a number is not finite.

    Example:
        >>> Additive(W=[[1]], U=[[1]], b=[0], v=[2]).scores([[0.0]], [[0.0], [50.0]]).tolist()
        [[0.0, 2.0]]
    """

    W: FloatArray
    U: FloatArray
    b: FloatArray
    v: FloatArray

    def __post_init__(self) -> None:
        for name, ndim in {"W": 2, "U": 2, "b": 1, "v": 1}.items():
            array = checked_weights(name, getattr(self, name), ndim)
            if len(array) != len(self.W):
                raise ValueError(f"{name} must have {len(self.W)} rows like W, got {len(array)}")
            object.__setattr__(self, name, array)

    def parameters(self) -> dict[str, FloatArray]:
        """Return W, U, b and v."""
        return {"W": self.W, "U": self.U, "b": self.b, "v": self.v}

    @_QUIET
    def scores(self, q: ArrayLike, k: ArrayLike) -> FloatArray:
        """Return v . tanh(W q_i + U k_j + b)."""
        hidden = self._hidden(*checked_pair(q, k, self.W.shape[1], self.U.shape[1]))
        return in_range("v . tanh(W q + U k + b)", hidden @ self.v)

    @_QUIET
    def backward(self, q: ArrayLike, k: ArrayLike, de: ArrayLike) -> ScorerGradients:
        """Return the gradients; with a = W q_i + U k_j + b, dL/da = de_ij v * (1 - tanh(a)^2)."""
        q, k = checked_pair(q, k, self.W.shape[1], self.U.shape[1])
        de = checked_upstream(de, q, k)
        hidden = self._hidden(q, k)  # (..., T, S, A)
        da = de[..., None] * self.v * (1 - hidden**2)
        of_q, of_k = da.sum(axis=-2), da.sum(axis=-3)  # W q_i serves every j, U k_j every i
        parameters = {
            "W": sum_to(of_q.mT @ q, self.W.shape),
            "U": sum_to(of_k.mT @ k, self.U.shape),
            "b": sum_to(of_q, self.b.shape),
            "v": sum_to(de[..., None] * hidden, self.v.shape),
        }
        return ScorerGradients(parameters, sum_to(of_q @ self.W, q.shape), sum_to(of_k @ self.U, k.shape))

    def multiplications(self, T: int, S: int) -> int:
        """Return both projections once, and A per score; the T * S * A tanh come on top."""
        (T, S), A, Dq, Dk = _counts(T, S), *self.W.shape, self.U.shape[1]
        return int(T * A * Dq + S * A * Dk + T * S * A)

    def _hidden(self, q: FloatArray, k: FloatArray) -> FloatArray:
        return np.tanh((q @ self.W.T)[..., :, None, :] + (k @ self.U.T)[..., None, :, :] + self.b)


@dataclass(frozen=True, eq=False)
class Linear:
    """The scorer that is linear in [q; k]: its scores know the query, the weights made of them do not.

    Args:
        w_q: (Dq,).
        w_k: (Dk,).
        b: the offset, shape ().

    Raises:
        TypeError: if an array does not hold real numbers.
        ValueError: if a shape does not fit, here or later; if a number is not finite.

    Example:
        >>> Linear(w_q=[1.0], w_k=[1.0], b=0.0).scores([[0.0], [5.0]], [[1.0], [2.0]]).tolist()
        [[1.0, 2.0], [6.0, 7.0]]
    """

    w_q: FloatArray
    w_k: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        for name, ndim in {"w_q": 1, "w_k": 1, "b": 0}.items():
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), ndim))

    def parameters(self) -> dict[str, FloatArray]:
        """Return w_q, w_k and b."""
        return {"w_q": self.w_q, "w_k": self.w_k, "b": self.b}

    @_QUIET
    def scores(self, q: ArrayLike, k: ArrayLike) -> FloatArray:
        """Return w_q . q_i + w_k . k_j + b."""
        q, k = checked_pair(q, k, len(self.w_q), len(self.w_k))
        e = (q @ self.w_q)[..., :, None] + (k @ self.w_k)[..., None, :] + self.b
        return in_range("w_q . q + w_k . k + b", e)

    @_QUIET
    def backward(self, q: ArrayLike, k: ArrayLike, de: ArrayLike) -> ScorerGradients:
        """Return the gradients; those of w_q, b and q use only the sum over j of de_ij, which a softmax makes 0."""
        q, k = checked_pair(q, k, len(self.w_q), len(self.w_k))
        de = checked_upstream(de, q, k)
        of_q, of_k = de.sum(axis=-1)[..., None], de.sum(axis=-2)[..., None]
        parameters = {
            "w_q": sum_to(of_q * q, self.w_q.shape),
            "w_k": sum_to(of_k * k, self.w_k.shape),
            "b": sum_to(de, ()),
        }
        return ScorerGradients(parameters, sum_to(of_q * self.w_q, q.shape), sum_to(of_k * self.w_k, k.shape))

    def multiplications(self, T: int, S: int) -> int:
        """Return one product of vectors per query and per key, none per score."""
        T, S = _counts(T, S)
        return T * len(self.w_q) + S * len(self.w_k)


def _counts(T: int, S: int) -> tuple[int, int]:
    return checked_integer("T", T, 0), checked_integer("S", S, 0)
