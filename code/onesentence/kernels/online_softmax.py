"""Softmax and weighted sum in one pass over blocks of scores, which need never stand in memory together.

Of the scores s_j and values v_j read so far, three things are kept:

    m = max s_j        l = sum exp(s_j - m)        u = sum exp(s_j - m) v_j

A block with scores s and values v moves them on; whatever the old l and u hold, both were counted from the old m:

    m' = max(m, max s)
    l' = exp(m - m') l + sum exp(s - m')
    u' = exp(m - m') u + sum exp(s - m') v

At the end u / l is softmax(s) v and m + log l is log sum exp(s), exactly: no score is dropped. Two states merge in the same
way. Merging is commutative, up to rounding associative, and the state of nothing, m = -inf, l = 0, u = 0, is its neutral
element; -inf - (-inf) is never formed. A query that has read nothing gets output 0 and log-sum-exp -inf.

Milakov and Gimelshein 2018 (arXiv:1805.02867), Algorithm 3 and the parallel form after it, have m and l; u goes the same
way as l in FlashAttention, Dao et al. 2022 (arXiv:2205.14135), section 3.1, which calls l the same and keeps u / l;
FlashAttention-2 (arXiv:2307.08691), section 3.1, keeps u and divides at the end, as here. Sections 7.6 and 7.7 of the course.
Symbols: `N` scores of a block, `Dv` width of the values; `...` are leading axes, such as batch, heads and queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from onesentence.attention.inputs import finite
from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats, as_mask


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class State:
    """What is known of the scores and values that have been read.

    Attributes:
        m: the largest score, nats, (...); -inf before the first.
        l: sum of exp(score - m), (...); from 1 up, the largest score counting 1, or 0 before the first.
        u: sum of exp(score - m) * value, (..., Dv).

    Raises:
        TypeError: if the three are not floating or have several dtypes.
        ValueError: if shapes do not fit, a sum has left the range of its dtype, or the three are no state.
    """

    m: FloatArray
    l: FloatArray  # noqa: E741 - the papers' letter
    u: FloatArray

    def __post_init__(self) -> None:
        shape, dtypes = self.m.shape, {part.dtype for part in (self.m, self.l, self.u)}
        if len(dtypes) > 1 or not dtypes <= {np.dtype(np.float32), np.dtype(np.float64)}:
            raise TypeError(f"m, l and u must all be float32 or all float64, got {sorted(map(str, dtypes))}")
        if self.l.shape != shape or self.u.ndim != len(shape) + 1 or self.u.shape[:-1] != shape:
            raise ValueError(
                f"m, l and u must have shapes (...), (...) and (..., Dv), got {shape}, {self.l.shape}, {self.u.shape}"
            )
        if not np.isfinite(self.u).all():
            raise ValueError(f"u leaves the range of {self.u.dtype}; values must be smaller")
        nothing = self.m == -np.inf
        fits = np.where(nothing, self.l == 0, (self.m < np.inf) & (self.l >= 1) & (self.l < np.inf))
        if not fits.all():  # comparisons with NaN are false
            raise ValueError("m and l must be -inf and 0, or finite and at least 1, at every place")
        if self.u[nothing].any():
            raise ValueError("u must be 0 where m is -inf: nothing has been read there")

    @property
    def output(self) -> FloatArray:
        """The values weighted by the softmax of all scores, u / l, (..., Dv); 0 where nothing has been read."""
        with np.errstate(under="ignore"):
            return np.asarray(self.u / np.where(self.l > 0, self.l, 1)[..., None])

    @property
    def lse(self) -> FloatArray:
        """Log-sum-exp of all scores, m + log l, nats, (...); -inf where nothing has been read."""
        return np.asarray(self.m + np.log(np.where(self.l > 0, self.l, 1)))


@dataclass(frozen=True, eq=False)
class Step:
    """One block on its way into the state.

    Attributes:
        block: the state of this block alone; `exp(block.lse)` is its mass, the sum of exp(score).
        rescale: exp(m_old - m_new), (...), what old l and u were multiplied with; 0 where nothing had been read.
        state: of everything up to this block.
    """

    block: State
    rescale: FloatArray
    state: State


def empty(shape: tuple[int, ...], Dv: int, dtype: DTypeLike = np.float64) -> State:
    """Return the state of nothing.

    Args:
        shape: leading axes, (...).
        Dv: width of the values.
        dtype: float32 or float64.

    Raises:
        TypeError: if `Dv` is not an integer or the dtype another one.
        ValueError: if `Dv` is less than 1.

    Example:
        >>> nothing = empty((), 1)
        >>> nothing.output.tolist(), nothing.lse.tolist()
        ([0.0], -inf)
    """
    Dv = checked_integer("Dv", Dv, 1)
    return State(np.full(shape, -np.inf, dtype), np.zeros(shape, dtype), np.zeros((*shape, Dv), dtype))


def update(state: State, scores: ArrayLike, values: ArrayLike, mask: ArrayLike | None = None) -> State:
    """Return the state after one more block.

    Args:
        state: of what was read before; left as it is.
        scores: nats, (..., T, N), or (N,) of a single query; -inf counts as masked. N may be 0.
        values: (..., N, Dv), finite also where masked: queries that share leading axes share values, as in a matrix product.
        mask: `True = may read`, broadcastable to the scores; None means all. Scores are not looked at where it is False.

    Raises:
        TypeError: if scores or values are not real numbers, or the mask is not boolean.
        ValueError: if a shape does not fit, a value is not finite, a score is NaN or +inf where it counts, or a sum leaves
            the range of its dtype.

    Example:
        >>> first = of_block([0.0, np.log(2)], [[2.0], [4.0]])
        >>> both = update(first, [np.log(3)], [[8.0]])
        >>> round(float(both.l), 12), round(float(both.output[0]), 12)
        (2.0, 5.666666666667)
    """
    s, v = _checked_block(scores, values, mask)
    _check_fit(state, s.shape[:-1], v.shape[-1])
    m = np.maximum(state.m, s.max(axis=-1, initial=-np.inf))
    old = rescale(state.m, m)
    with np.errstate(
        under="ignore", over="ignore", invalid="ignore"
    ):  # s - m may be -inf; u is checked by its state
        p = np.exp(s - _top(m)[..., None])
        l = old * state.l + p.sum(axis=-1)  # noqa: E741
        u = old[..., None] * state.u + p @ v
    return State(np.asarray(m), np.asarray(l), np.asarray(u))


def of_block(scores: ArrayLike, values: ArrayLike, mask: ArrayLike | None = None) -> State:
    """Return the state of one block alone.

    Args:
        scores: as `update`.
        values: as `update`.
        mask: as `update`.

    Raises:
        TypeError, ValueError: as `update`.

    Example:
        >>> of_block([1e4, 1e4], [[1.0], [3.0]]).output.tolist()
        [2.0]
    """
    s, v = _checked_block(scores, values, mask)
    return update(empty(s.shape[:-1], v.shape[-1], s.dtype), s, v)


def merge(a: State, b: State) -> State:
    """Return the state of what either has read.

    Args:
        a: of some blocks.
        b: of others, leading axes and width of values as those of `a`.

    Raises:
        ValueError: if the shapes differ, or a sum leaves the range of its dtype.

    Example:
        >>> a, b = of_block([0.0, np.log(2)], [[2.0], [4.0]]), of_block([np.log(3)], [[8.0]])
        >>> merge(a, b).output.round(6).tolist()
        [5.666667]
    """
    _check_fit(a, b.m.shape, b.u.shape[-1])
    m = np.maximum(a.m, b.m)
    first, second = rescale(a.m, m), rescale(b.m, m)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        l = first * a.l + second * b.l  # noqa: E741
        u = first[..., None] * a.u + second[..., None] * b.u
    return State(np.asarray(m), np.asarray(l), np.asarray(u))


def rescale(old: FloatArray, new: FloatArray) -> FloatArray:
    """Return exp(m_old - m_new), what l and u are multiplied with when the largest score grows.

    Args:
        old: (...); -inf where nothing had been read.
        new: (...), nowhere below `old`.

    Returns:
        In [0, 1]; 0 where nothing had been read, so that nothing is carried over.

    Example:
        >>> rescale(np.log([2.0, 3.0]), np.log([3.0, 3.0])).round(6).tolist()
        [0.666667, 1.0]
    """
    with np.errstate(under="ignore", over="ignore"):
        return np.asarray(np.exp(old - _top(new)))


def trace(blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> tuple[Step, ...]:
    """Read blocks one after the other and return every stop on the way.

    Args:
        blocks: scores and values as `update`, at least one block, leading axes alike.

    Raises:
        TypeError, ValueError: as `update`, and ValueError if there is no block.

    Example:
        >>> first, second = trace([([0.0, np.log(2)], [[2.0], [4.0]]), ([np.log(3)], [[8.0]])])
        >>> float(first.rescale), round(float(second.rescale), 6), second.state.output.round(6).tolist()
        (0.0, 0.666667, [5.666667])
    """
    steps: list[Step] = []
    for scores, values in blocks:
        block = of_block(scores, values)
        before = steps[-1].state if steps else empty(block.m.shape, block.u.shape[-1], block.m.dtype)
        state = update(before, scores, values)
        steps.append(Step(block, rescale(before.m, state.m), state))
    if not steps:
        raise ValueError("blocks must hold at least one block, got none")
    return tuple(steps)


def _top(m: FloatArray) -> FloatArray:
    """Return m, or 0 where it is -inf: what may be subtracted from a score that may be -inf."""
    return np.asarray(np.where(m == -np.inf, np.zeros_like(m), m))


def _checked_block(
    scores: ArrayLike, values: ArrayLike, mask: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return scores, -inf where masked, and values, in one dtype."""
    s, v = as_floats("scores", scores), finite("values", values)
    if s.ndim == 0:
        raise ValueError("scores must have shape (N,) or (..., T, N), got a scalar")
    if v.ndim < 2 or v.shape[-2] != s.shape[-1] or not _stretches(v.shape[:-2], s.shape[:-2]):
        raise ValueError(
            f"values must have shape (..., N, Dv) as scores of shape {s.shape} say, got {v.shape}"
        )
    if mask is not None:
        s = np.where(as_mask("mask", mask, s.shape), s, np.asarray(-np.inf, s.dtype))
    if not (s < np.inf).all():  # false for NaN too
        raise ValueError("scores must be free of NaN and +inf where they count")
    dtype = np.result_type(s, v)
    return s.astype(dtype, copy=False), v.astype(dtype, copy=False)


def _stretches(axes: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Say whether axes broadcast to others without changing those."""
    try:
        return np.broadcast_shapes(axes, to) == to
    except ValueError:
        return False


def _check_fit(state: State, shape: tuple[int, ...], Dv: int) -> None:
    """Refuse a state of other leading axes or values of another width."""
    own = (*state.m.shape, state.u.shape[-1])
    if own != (*shape, Dv):
        raise ValueError(f"state: expected (..., Dv) = {(*shape, Dv)}, as what is added says, got {own}")
