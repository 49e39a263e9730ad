"""Several reads of the same positions, each in a space of its own, put side by side and mixed.

    Q_r = X W_r^Q,  K_r = Z W_r^K,  V_r = Z W_r^V          of head r;  Z = X in self-attention, the source in cross-attention
    H_r = softmax_key(Q_r K_r^T / sqrt(D)) V_r
    MultiHead(X, Z) = [H_1; ...; H_H] W^O

Symbols: `B` batch, `T` query length, `S` key length, `C` width of the inputs, `H` heads, `D` head size of queries and
keys, `Dv` of values. NumPy, one head after the other in the formula and all at once in the arithmetic; the version that
trains is `transformer.attention_layer`, equal by test. Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2; sections
4.3 and 4.8 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.inputs import finite
from onesentence.attention.read import read
from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats


@dataclass(frozen=True, eq=False)
class MultiHeadRead:
    """What one multi-head read computed, in the order in which it was.

    Attributes:
        q: (..., H, T, D).
        k: (..., H, S, D).
        v: (..., H, S, Dv).
        scores: scaled, before masking, (..., H, T, S).
        weights: each row sums to 1 over the keys, or is all 0, (..., H, T, S).
        heads: what each head has read, (..., H, T, Dv).
        joined: heads of one position side by side, (..., T, H * Dv).
        output: joined @ W^O, (..., T, C).
    """

    q: FloatArray
    k: FloatArray
    v: FloatArray
    scores: FloatArray
    weights: FloatArray
    heads: FloatArray
    joined: FloatArray
    output: FloatArray


@dataclass(frozen=True, eq=False)
class MultiHead:
    """The projections of all heads, rows times matrix.

    Attributes:
        w_q: (H, C, D).
        w_k: (H, C, D).
        w_v: (H, C, Dv).
        w_o: (H * Dv, C).

    Example:
        >>> ones = np.ones((2, 4, 3))
        >>> layer = MultiHead(ones, ones, ones, np.ones((6, 4)))
        >>> layer(np.eye(4)[:3]).weights.shape
        (2, 3, 3)
    """

    w_q: FloatArray
    w_k: FloatArray
    w_v: FloatArray
    w_o: FloatArray

    def __post_init__(self) -> None:
        for name in ("w_q", "w_k", "w_v", "w_o"):
            object.__setattr__(self, name, finite(name, getattr(self, name)))
        if self.w_q.ndim != 3 or 0 in self.w_q.shape:
            raise ValueError(f"w_q must have shape (H, C, D), got {self.w_q.shape}")
        H, C, _ = self.w_q.shape
        if self.w_k.shape != self.w_q.shape:
            raise ValueError(f"w_k must have the shape of w_q, {self.w_q.shape}, got {self.w_k.shape}")
        if self.w_v.ndim != 3 or self.w_v.shape[:2] != (H, C) or not self.w_v.shape[2]:
            raise ValueError(f"w_v must have shape ({H}, {C}, Dv), got {self.w_v.shape}")
        if self.w_o.shape != (H * self.w_v.shape[2], C):
            raise ValueError(f"w_o must have shape ({H * self.w_v.shape[2]}, {C}), got {self.w_o.shape}")

    def __call__(
        self, x: ArrayLike, source: ArrayLike | None = None, *, mask: ArrayLike | None = None
    ) -> MultiHeadRead:
        """Read with every head.

        Args:
            x: what the queries are made of, (..., T, C).
            source: what keys and values are made of, (..., S, C); None means `x`: self-attention.
            mask: `True = may read`, broadcastable to (..., H, T, S).

        Raises:
            TypeError: if inputs do not hold real numbers or the mask is not boolean.
            ValueError: if a shape does not fit or a value is not finite.
        """
        x = self._input("x", x)
        source = x if source is None else self._input("source", source)
        q, k, v = (a[..., None, :, :] @ w for a, w in ((x, self.w_q), (source, self.w_k), (source, self.w_v)))
        r = read(q, k, v, mask=mask, scale=None)  # 1 / sqrt(D), then softmax over the keys
        joined = merge_heads(r.context)
        return MultiHeadRead(q, k, v, r.scores, r.weights, r.context, joined, joined @ self.w_o)

    def _input(self, name: str, value: ArrayLike) -> FloatArray:
        array = finite(name, value)
        C = self.w_q.shape[1]
        if array.ndim < 2 or array.shape[-1] != C:
            raise ValueError(f"{name} must have shape (..., T, {C}), got {array.shape}")
        return array


def split_heads(x: ArrayLike, H: int) -> FloatArray:
    """Return (..., T, H * D) as (..., H, T, D): head r has the components from r * D up.

    Args:
        x: real numbers, (..., T, H * D).
        H: number of heads.

    Raises:
        TypeError: if `x` does not hold real numbers or `H` is not an integer.
        ValueError: if `x` has fewer than two axes or its width is no multiple of `H`.

    Example:
        >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2).tolist()
        [[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]
    """
    array, H = as_floats("x", x), checked_integer("H", H, 1)
    if array.ndim < 2 or array.shape[-1] % H:
        raise ValueError(f"x must have shape (..., T, {H} * D), got {array.shape}")
    return np.moveaxis(array.reshape(*array.shape[:-1], H, -1), -2, -3)


def merge_heads(heads: ArrayLike) -> FloatArray:
    """Return (..., H, T, D) as (..., T, H * D), the way back from `split_heads`.

    Args:
        heads: real numbers, (..., H, T, D).

    Raises:
        TypeError: if they are not real numbers.
        ValueError: if there are fewer than three axes.

    Example:
        >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]).tolist()
        [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
    """
    array = as_floats("heads", heads)
    if array.ndim < 3:
        raise ValueError(f"heads must have shape (..., H, T, D), got {array.shape}")
    apart = np.moveaxis(array, -3, -2)  # (..., T, H, D)
    return apart.reshape(*apart.shape[:-2], -1)
