"""Attention tile by tile, and its gradients from weights that are computed again; NumPy, to be read beside the page.

The T queries and the S keys are cut into blocks; only the scores of one query block with one key block stand in memory.

    attention           for each query block: for each key block that it may read     a state is carried, written once
    attention_by_keys   for each key block: for each query block that may read it     m, l and O are read and written again
    gradients           for each key block: for each query block that may read it     P = exp(scale Q K^T - L), from L alone

The first is the loop order of FlashAttention-2, Dao 2023 (arXiv:2307.08691), Algorithm 1, and the last that of its
Algorithm 2; the second is that of FlashAttention, Dao et al. 2022 (arXiv:2205.14135), Algorithm 1. All three give what
`kernels.reference` gives, up to rounding. Differences from the papers: batches and groups of heads go through one NumPy
product, padding is masked, a query that may read nothing gets 0, and no memory is managed here: NumPy says nothing of how
fast a GPU would be. Under `causal` a tile whose every key stands behind its every query is not visited.

With delta_i = do_i . o_i, which is sum_j P_ij (do_i . v_j), the way back through a row is

    dv_j = sum_i P_ij do_i        dS_ij = P_ij (do_i . v_j - delta_i)        dq_i = scale sum_j dS_ij k_j        dk_j likewise

and keys that a group of query heads shares get the sum over the group. Shapes and rules as in `kernels.sizes`; float32
stays float32, other floats are computed in float64. Sections 7.5 to 7.7 of the course.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.attention.inputs import finite, in_range
from onesentence.checks import checked_integer
from onesentence.kernels.online_softmax import State, empty, update
from onesentence.kernels.sizes import Sizes, scale_of, sizes_of, spans
from onesentence.numerics import FloatArray, as_floats


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    causal: bool = False,
    real: ArrayLike | None = None,
    scale: float | None = None,
    block_q: int = 64,
    block_k: int = 64,
) -> tuple[FloatArray, FloatArray]:
    """Read keys with queries, query blocks outside.

    Args:
        q: (B, H, T, D), finite.
        k: (B, G, S, D), finite, also at padding.
        v: as `k`.
        causal: a query reads keys up to its own place, the queries standing at the end of the keys.
        real: True at keys that count, (B, S); None means all.
        scale: of scores; None means 1 / sqrt(D).
        block_q: queries of a tile.
        block_k: keys of a tile.

    Returns:
        Output (B, H, T, D), 0 where a query may read nothing, and log-sum-exp of scaled scores in nats (B, H, T), -inf
        there.

    Raises:
        TypeError: as `sizes_of` and `scale_of`, or if a block size is not an integer.
        ValueError: as there, if a block size is less than 1, a number is not finite, or scores leave the range.

    Example:
        >>> q = np.zeros((1, 1, 2, 4))
        >>> o, lse = attention(q, q, [[[[1.0] * 4, [3.0] * 4]]], causal=True, block_q=1, block_k=1)
        >>> o[0, 0, :, 0].tolist(), np.exp(lse).round(6).tolist()
        ([1.0, 2.0], [[[1.0, 2.0]]])
    """
    read = _Read.of(q, k, v, causal=causal, real=real, scale=scale, block_q=block_q, block_k=block_k)
    o, lse = np.empty_like(read.q), np.empty(read.q.shape[:-1], read.q.dtype)
    for rows in read.query_blocks():
        state = empty(lse[..., rows].shape, o.shape[-1], o.dtype)
        for keys in read.key_blocks():
            if read.visits(rows, keys):
                state = update(state, read.scores(rows, keys), read.v[..., keys, :], read.mask(rows, keys))
        o[..., rows, :], lse[..., rows] = state.output, state.lse
    return read.heads_together(o), read.heads_together(lse)


def attention_by_keys(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    causal: bool = False,
    real: ArrayLike | None = None,
    scale: float | None = None,
    block_q: int = 64,
    block_k: int = 64,
) -> tuple[FloatArray, FloatArray]:
    """Read keys with queries, key blocks outside: each visit rescales the output that stands in memory and rewrites it.

    Args:
        q: as `attention`.
        k: as `attention`.
        v: as `attention`.
        causal: as `attention`.
        real: as `attention`.
        scale: as `attention`.
        block_q: as `attention`.
        block_k: as `attention`.

    Returns:
        As `attention`.

    Raises:
        TypeError, ValueError: as `attention`.
    """
    read = _Read.of(q, k, v, causal=causal, real=real, scale=scale, block_q=block_q, block_k=block_k)
    start = empty(read.q.shape[:-1], read.q.shape[-1], read.q.dtype)
    m, l, o = start.m, start.l, start.u  # noqa: E741 - in the large memory between visits, o normalised
    for keys in read.key_blocks():
        for rows in read.query_blocks():
            if read.visits(rows, keys):
                old = State(m[..., rows], l[..., rows], l[..., rows, None] * o[..., rows, :])
                new = update(old, read.scores(rows, keys), read.v[..., keys, :], read.mask(rows, keys))
                m[..., rows], l[..., rows], o[..., rows, :] = new.m, new.l, new.output
    return read.heads_together(o), read.heads_together(State(m, l, l[..., None] * o).lse)


def gradients(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    o: ArrayLike,
    lse: ArrayLike,
    do: ArrayLike,
    *,
    causal: bool = False,
    real: ArrayLike | None = None,
    scale: float | None = None,
    block_q: int = 64,
    block_k: int = 64,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gradients by queries, keys and values of a loss that sees the output only.

    Args:
        q: as given to `attention`.
        k: as given to `attention`.
        v: as given to `attention`.
        o: what `attention` returned for them, (B, H, T, D).
        lse: what it returned beside, (B, H, T).
        do: gradient of the loss by `o`, (B, H, T, D), finite.
        causal: as given to `attention`.
        real: as given to `attention`.
        scale: as given to `attention`.
        block_q: queries of a tile; need not be those of `attention`.
        block_k: keys of a tile.

    Returns:
        dq, dk and dv, shaped as q, k and v; 0 at queries that may read nothing and at keys that nobody may read.

    Raises:
        TypeError: as `attention`.
        ValueError: as `attention`, if a shape does not fit, `lse` belongs to smaller scores, or a gradient leaves the range.

    Example:
        >>> q, k, v = np.ones((1, 1, 1, 1)), np.zeros((1, 1, 2, 1)), np.array([[[[2.0], [4.0]]]])
        >>> dq, dk, dv = gradients(q, k, v, *attention(q, k, v), np.ones((1, 1, 1, 1)))
        >>> dq.tolist(), dk.ravel().round(6).tolist(), dv.ravel().round(6).tolist()
        ([[[[0.0]]]], [-0.5, 0.5], [0.5, 0.5])
    """
    read = _Read.of(q, k, v, causal=causal, real=real, scale=scale, block_q=block_q, block_k=block_k)
    D, lse = read.sizes.D, read.per_query("lse", lse)
    o, do = read.per_query("o", finite("o", o), D), read.per_query("do", finite("do", do), D)
    if not (lse < np.inf).all():  # false for NaN too
        raise ValueError("lse must be free of NaN and +inf")
    dq, dk, dv = (np.zeros_like(part) for part in (read.q, read.k, read.v))
    with np.errstate(over="ignore", invalid="ignore"):  # reported below, by name
        delta = (do * o).sum(axis=-1)
        for keys in read.key_blocks():
            for rows in read.query_blocks():
                if read.visits(rows, keys):
                    P = read.weights(rows, keys, lse[..., rows])
                    dP = do[..., rows, :] @ read.v[..., keys, :].mT
                    dS = P * (dP - delta[..., rows, None])
                    dq[..., rows, :] += read.scale * dS @ read.k[..., keys, :]
                    dk[..., keys, :] += read.scale * (dS.mT @ read.q[..., rows, :]).sum(axis=2, keepdims=True)
                    dv[..., keys, :] += (P.mT @ do[..., rows, :]).sum(axis=2, keepdims=True)
    made = zip(("dq", "dk", "dv"), (dq, dk, dv), strict=True)
    dq, dk, dv = (read.heads_together(in_range(name, part)) for name, part in made)
    return dq, dk, dv


@dataclass(frozen=True, eq=False)
class _Read:
    """One checked read with its heads in groups, and what belongs to one of its tiles.

    Attributes:
        q: (B, G, group, T, D).
        k: (B, G, 1, S, D).
        v: as `k`.
        real: (B, S), or None.
        sizes, causal, scale, block_q, block_k: as `attention`.
    """

    q: FloatArray
    k: FloatArray
    v: FloatArray
    real: NDArray[np.bool_] | None
    sizes: Sizes
    causal: bool
    scale: float
    block_q: int
    block_k: int

    @classmethod
    def of(
        cls,
        q: ArrayLike,
        k: ArrayLike,
        v: ArrayLike,
        *,
        causal: bool,
        real: ArrayLike | None,
        scale: float | None,
        block_q: int,
        block_k: int,
    ) -> _Read:
        """Check what a caller gave and set the heads of each group beside each other."""
        q, k, v = (finite(name, part) for name, part in (("q", q), ("k", k), ("v", v)))
        real = None if real is None else np.asarray(real)
        sizes = sizes_of(q, k, v, real)
        sides = checked_integer("block_q", block_q, 1), checked_integer("block_k", block_k, 1)
        grouped = q.reshape(sizes.B, sizes.G, sizes.group, sizes.T, sizes.D)
        return cls(
            grouped, k[:, :, None], v[:, :, None], real, sizes, causal, scale_of(scale, sizes.D), *sides
        )

    def query_blocks(self) -> Iterator[slice]:
        """Yield the blocks of queries."""
        return spans(self.sizes.T, self.block_q)

    def key_blocks(self) -> Iterator[slice]:
        """Yield the blocks of keys."""
        return spans(self.sizes.S, self.block_k)

    def visits(self, rows: slice, keys: slice) -> bool:
        """Say whether the last of these queries may read the first of these keys."""
        return not self.causal or keys.start <= rows.stop - 1 + self.sizes.shift

    def scores(self, rows: slice, keys: slice) -> FloatArray:
        """Return the scores of a tile, (B, G, group, rows, keys), not masked."""
        with np.errstate(over="ignore", invalid="ignore"):  # reported in the next line
            scores = (self.scale * self.q[..., rows, :]) @ self.k[..., keys, :].mT
        return in_range("scale * q . k", scores)

    def mask(self, rows: slice, keys: slice) -> NDArray[np.bool_] | None:
        """Return which scores of a tile count, broadcastable to them; None if all do."""
        mask = None if self.real is None else self.real[:, None, None, None, keys]
        if not self.causal or keys.stop - 1 <= rows.start + self.sizes.shift:
            return mask
        places = np.arange(rows.start, rows.stop) + self.sizes.shift
        before = np.arange(keys.start, keys.stop) <= places[:, None]
        return before if mask is None else mask & before

    def weights(self, rows: slice, keys: slice, lse: FloatArray) -> FloatArray:
        """Return exp(scores - lse) of a tile, 0 where masked."""
        scores, mask = self.scores(rows, keys), self.mask(rows, keys)
        if mask is not None:
            scores = np.where(mask, scores, np.asarray(-np.inf, scores.dtype))
        with np.errstate(under="ignore", over="ignore"):
            weights = np.exp(scores - np.where(lse == -np.inf, 0, lse)[..., None])
        return in_range("exp(scale * q . k - lse)", weights)

    def per_query(self, name: str, value: ArrayLike, *width: int) -> FloatArray:
        """Return what each query has one of, (B, H, T, *width), in groups and in the dtype of the read."""
        part, shape = as_floats(name, value), (self.sizes.B, self.sizes.H, self.sizes.T, *width)
        if part.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {part.shape}")
        return part.reshape(*self.q.shape[:-1], *width).astype(self.q.dtype, copy=False)

    def heads_together(self, part: FloatArray) -> FloatArray:
        """Return (B, G, group, ...) as (B, heads, ...)."""
        return part.reshape(self.sizes.B, -1, *part.shape[3:])
