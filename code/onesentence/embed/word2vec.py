"""word2vec: the losses of one example and their gradients, written out.

Two tables, also for the same word: `v_c` is the row of word c in the centre table V, `u_o` the row of word o in
the context table U. For a centre c with context o (section 1.5; Mikolov et al. 2013, arXiv:1310.4546)

    s_w = u_w . v_c,  p(w|c) = softmax_w(s)                               equation 2
    l = -log p(o|c),  dl/dv_c = sum_w p(w|c) u_w - u_o,  dl/du_w = (p(w|c) - [w = o]) v_c
    l_NS = -log sigma(u_o . v_c) - sum_j log sigma(-u_nj . v_c)           equation 4, one draw of the noise

CBOW puts the mean of the window's vectors in the place of v_c; each word of the window gets its share of the
gradient. The paper writes v for the input table and v' for the output table; the course writes v and u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onesentence.activations import sigmoid, softplus
from onesentence.checks import as_ids
from onesentence.embed.table import accumulate_gradient, as_matrix, mean_vector
from onesentence.numerics import FloatArray, as_floats, log_softmax, softmax


class SoftmaxLoss(NamedTuple):
    """Loss of one example under the full softmax.

    Attributes:
        loss: nats, at least 0.
        probabilities: (V,), p(w|c) of every word.
        grad_v: (d,), gradient for the centre vector.
        grad_u: (V, d), gradient for the context table: every row gets one.
    """

    loss: float
    probabilities: FloatArray
    grad_v: FloatArray
    grad_u: FloatArray


class SamplingLoss(NamedTuple):
    """Loss of one example under negative sampling.

    Attributes:
        loss: nats, at least 0; not comparable with the loss of the full softmax.
        grad_v: (d,), gradient for the centre vector.
        grad_positive: (d,), gradient for u_o.
        grad_negatives: (K, d), gradients for the u of the noise words, one per draw.
    """

    loss: float
    grad_v: FloatArray
    grad_positive: FloatArray
    grad_negatives: FloatArray


class CbowLoss(NamedTuple):
    """Loss of one CBOW example under the full softmax.

    Attributes:
        loss: nats, at least 0.
        grad_in: (V, d), gradient for the input table: only words of the window have one.
        grad_out: (V, d), gradient for the output table.
    """

    loss: float
    grad_in: FloatArray
    grad_out: FloatArray


def softmax_loss(v: ArrayLike, u: ArrayLike, target: int) -> SoftmaxLoss:
    """Loss -log p(o|c) over the whole vocabulary, with its gradients.

    Args:
        v: v_c, (d,), finite.
        u: the context table, (V, d), finite.
        target: o, in [0, V).

    Returns:
        Loss, probabilities and gradients.

    Raises:
        TypeError: arguments that do not hold real numbers, `target` no integer.
        ValueError: shapes that do not fit, `target` outside the table.

    Example:
        >>> result = softmax_loss([1, 0], [[0, 0], [0, 5], [0, 0], [0, 0]], target=1)
        >>> round(result.loss, 6), result.grad_v.tolist()
        (1.386294, [0.0, -3.75])
    """
    table = as_matrix("u", u)
    centre = _vector("v", v, table.shape[1])
    o = int(as_ids("target", target, len(table)))
    scores = table @ centre  # s_w
    p = softmax(scores)
    error = p.copy()
    error[o] -= 1.0  # dl/ds_w = p(w|c) - [w = o]
    return SoftmaxLoss(-float(log_softmax(scores)[o]), p, error @ table, np.outer(error, centre))


def negative_sampling_loss(v: ArrayLike, u_positive: ArrayLike, u_negatives: ArrayLike) -> SamplingLoss:
    """Loss of telling one observed pair from K drawn ones, with its gradients.

    Args:
        v: v_c, (d,), finite.
        u_positive: u_o, (d,), finite.
        u_negatives: the u of the K noise words, (K, d), K >= 1, finite.

    Returns:
        Loss and gradients. A word drawn twice appears twice; add its rows.

    Raises:
        TypeError: arguments that do not hold real numbers.
        ValueError: shapes that do not fit.

    Example:
        >>> result = negative_sampling_loss([1, 0], [0, 2], [[0, 3], [0, 1]])
        >>> round(result.loss, 6), result.grad_v.tolist()
        (2.079442, [0.0, 1.0])
    """
    negatives = as_matrix("u_negatives", u_negatives)
    centre = _vector("v", v, negatives.shape[1])
    positive = _vector("u_positive", u_positive, negatives.shape[1])
    s_o, s_n = positive @ centre, negatives @ centre
    loss = softplus(-s_o) + softplus(s_n).sum()  # -log sigma(s) = softplus(-s)
    e_o, e_n = sigmoid(s_o) - 1.0, sigmoid(s_n)  # dl/ds
    return SamplingLoss(float(loss), e_o * positive + e_n @ negatives, e_o * centre, np.outer(e_n, centre))


def cbow_softmax_loss(table_in: ArrayLike, table_out: ArrayLike, window: ArrayLike, centre: int) -> CbowLoss:
    """Loss of predicting the centre from the mean of its window, over the whole vocabulary.

    Args:
        table_in: (V, d), vectors of the words that are read.
        table_out: (V, d), vectors of the words that are predicted.
        window: (C,) IDs, C >= 1; a word may occur several times.
        centre: ID of the word to predict.

    Returns:
        Loss and the gradients of both tables.

    Raises:
        TypeError: arguments that do not hold real numbers, IDs that are no integers.
        ValueError: shapes that do not fit, IDs outside the tables.

    Example:
        >>> result = cbow_softmax_loss(np.eye(3), np.eye(3), window=[0, 1], centre=2)
        >>> round(result.loss, 6)
        1.45802
    """
    entering = as_matrix("table_in", table_in)
    read = as_ids("window", window, len(entering))
    mean = mean_vector(entering, read)
    result = softmax_loss(mean, table_out, centre)
    shares = np.tile(result.grad_v / read.size, (read.size, 1))
    return CbowLoss(result.loss, accumulate_gradient(read, shares, len(entering)), result.grad_u)


def _vector(name: str, value: ArrayLike, size: int) -> FloatArray:
    vector = as_floats(name, value)
    if vector.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be finite")
    return vector
