"""The attention read: one target need asks every source position and gets one vector back.

For query i and source positions j (section 3.3 of the source text)

    e_ij = scale * q_i . k_j        scores:  how well position j matches need i
    alpha_ij = softmax_j(e_ij)      weights: where to read, summing to 1 over the source
    c_i = sum_j alpha_ij v_j        context: what is read

Symbols: `B` batch, `T` query length, `S` source length, `D` head size of queries and keys, `Dv` size of
the values, `V` vocabulary. `...` stands for any leading axes (batch, heads), which broadcast as in NumPy.

Sources: the soft alignment is that of Bahdanau et al. 2014 (arXiv:1409.0473, section 3.1 and appendix A.1.2
of the ICLR 2015 version); the scaled dot product is Vaswani et al. 2017, equation 1; the running numbers
are those of source sections 3.1, 3.5 and 3.6. Differences: Bahdanau scores with a small tanh network and
lets the annotation be key and value at once; here the score is a dot product, unscaled unless asked
(Vaswani: `scale=None`), and keys and values are separate. A source position that may not be read is
excluded before the softmax; a query that may read nothing gets zero weights and a zero context.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.attention.inputs import checked_scale, finite
from onesentence.numerics import FloatArray, as_mask, softmax


@dataclass(frozen=True, eq=False)  # arrays have no single truth value, so reads are compared by identity
class Read:
    """What one read computed.

    Attributes:
        scores: (..., T, S), before masking; (..., S) for a single query.
        weights: the shape of `scores`; each row sums to 1 over the source, or is all 0.
        context: (..., T, Dv); (..., Dv) for a single query.
    """

    scores: FloatArray
    weights: FloatArray
    context: FloatArray


def dot_scores(q: ArrayLike, k: ArrayLike, *, scale: float | None = 1.0) -> FloatArray:
    """Scores scale * q_i . k_j of every query with every key.

    Args:
        q: queries, (..., T, D), or a single one, (D,). Finite.
        k: keys, (..., S, D). Finite.
        scale: factor of the dot product. 1.0 leaves it unscaled; None means 1/sqrt(D).

    Returns:
        (..., T, S), or (..., S) for a single query.

    Raises:
        TypeError: `q` or `k` does not hold real numbers, `scale` is not a number.
        ValueError: shapes that do not fit, values that are not finite, scores beyond the dtype's range.

    Example:
        >>> dot_scores([1, 0], [[1, 0], [0, 1], [1, 1]]).tolist()
        [1.0, 0.0, 1.0]
        >>> dot_scores([[2, 0]], [[1, 0], [0, 1]], scale=0.5).tolist()
        [[1.0, 0.0]]
    """
    q, k = _checked_query_and_keys(q, k)
    factor = checked_scale(scale, head_size=q.shape[-1])
    with np.errstate(over="ignore", invalid="ignore"):  # reported below, with the names of the arguments
        scores = factor * (np.matvec(k, q) if q.ndim == 1 else q @ k.mT)
    if not np.isfinite(scores).all():
        raise ValueError(f"scale * q . k leaves the range of {scores.dtype}; q and k must be smaller")
    return scores


def read(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    scale: float | None = 1.0,
) -> Read:
    """Reads `v` with weights that say how well `q` matches `k`: softmax(scale * q k^T) v.

    Args:
        q: queries, (..., T, D), or a single one, (D,). Finite.
        k: keys, (..., S, D). Finite, also where masked.
        v: values, (..., S, Dv). Finite, also where masked: a weight of 0 does not silence NaN.
        mask: boolean, broadcastable to the scores; `True = may read`. None lets every query read all.
        scale: factor of the dot product. 1.0 leaves it unscaled; None means 1/sqrt(D).

    Returns:
        Scores, weights and context. A query that may read nothing, because its row of the mask is all
        False or the source has length 0, gets weights 0 and context 0.

    Raises:
        TypeError: `q`, `k` or `v` does not hold real numbers, `mask` is not boolean, `scale` no number.
        ValueError: shapes that do not fit, values that are not finite, scores beyond the dtype's range.

    Example:
        >>> r = read([1, 0], k=[[1, 0], [0, 1], [1, 1]], v=[[2, 0], [0, 4], [1, 2]])
        >>> r.weights.round(6).tolist()
        [0.422319, 0.155362, 0.422319]
        >>> r.context.round(6).tolist()
        [1.266956, 1.466087]
        >>> read([1, 0], k=[[1, 0], [0, 1]], v=[[2, 0], [0, 4]], mask=[False, True]).context.tolist()
        [0.0, 4.0]
    """
    q, k, v = _checked_inputs(q, k, v)
    scores = dot_scores(q, k, scale=scale)  # e_ij
    weights = softmax(scores, axis=-1, where=_checked_mask(mask, scores.shape))  # alpha_ij
    context = weights @ v if q.ndim > 1 else np.vecmat(weights, v)  # c_i, the sum over j
    return Read(scores, weights, context)


def output_distribution(context: ArrayLike, g: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Logits context @ g and their softmax: a second softmax, over the vocabulary, not over the source.

    A real decoder also uses its own state; this closes the chain from a read to words and no more.

    Args:
        context: (..., Dv). Finite.
        g: output projection, (Dv, V) with V >= 1. Finite.

    Returns:
        Logits and probabilities, both (..., V); the probabilities sum to 1 over the vocabulary.

    Raises:
        TypeError: `context` or `g` does not hold real numbers.
        ValueError: shapes that do not fit, values that are not finite, logits beyond the dtype's range.

    Example:
        >>> logits, probabilities = output_distribution([1.0, 2.0], [[2, 0, 0], [0, 1, 0]])
        >>> logits.tolist()
        [2.0, 2.0, 0.0]
        >>> probabilities.round(6).tolist()
        [0.468311, 0.468311, 0.063379]
    """
    context, g = finite("context", context), finite("g", g)
    if context.ndim == 0:
        raise ValueError("context must have shape (..., Dv), got ()")
    if g.ndim != 2 or g.shape[0] != context.shape[-1] or g.shape[1] == 0:
        expected = f"({context.shape[-1]}, V) with V >= 1 for context of shape {context.shape}"
        raise ValueError(f"g must have shape {expected}, got {g.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        logits = context @ g
    if not np.isfinite(logits).all():
        raise ValueError(f"context @ g leaves the range of {logits.dtype}; context and g must be smaller")
    return logits, softmax(logits, axis=-1)


def _checked_query_and_keys(q: ArrayLike, k: ArrayLike) -> tuple[FloatArray, FloatArray]:
    q, k = finite("q", q), finite("k", k)
    if q.ndim == 0 or q.shape[-1] == 0:
        raise ValueError(f"q must have shape (..., T, D) or (D,) with D >= 1, got {q.shape}")
    if k.ndim < 2 or k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must have shape (..., S, {q.shape[-1]}) for q of shape {q.shape}, got {k.shape}")
    _check_leading_axes({"q": q, "k": k})
    return q, k


def _checked_inputs(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    q, k = _checked_query_and_keys(q, k)
    v = finite("v", v)
    if v.ndim < 2 or v.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"v must have shape (..., {k.shape[-2]}, Dv) for k of shape {k.shape}, got {v.shape}"
        )
    _check_leading_axes({"q": q, "k": k, "v": v})
    return q, k, v


def _check_leading_axes(arrays: dict[str, FloatArray]) -> None:
    try:
        np.broadcast_shapes(*(array.shape[:-2] for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"leading axes must broadcast, got {shapes}") from error


def _checked_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    return None if mask is None else as_mask("mask", mask, shape)
