"""Stable softmax and its relatives, finite-difference gradients, checked input. NumPy only.

Symbols: `x` holds scores (logits), nats throughout; one axis of `x` is the axis of a distribution.

Conventions that every function here keeps:

* The largest score is subtracted before exponentiating, so no score is too large.
* A score of `-inf` has weight 0. When *nothing* is left on the axis (all scores `-inf`, all positions
  masked, or an axis of length 0), the softmax is 0 everywhere rather than NaN, `log_softmax` and
  `logsumexp` are `-inf`. `-inf - (-inf)` is never formed. `scipy.special.softmax` gives NaN there.
* `NaN` and `+inf` have no softmax and are refused.
* Boolean masks are `True = kept`.
* float32 and float64 keep their dtype; integers and other floats become float64; complex numbers,
  booleans, strings and objects are refused.
"""

from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]


def as_floats(name: str, value: ArrayLike) -> FloatArray:
    """Returns `value` as a real floating-point array (not a copy where none is needed).

    Args:
        name: what error messages call the argument.
        value: real numbers of any shape.

    Raises:
        TypeError: if `value` does not hold real numbers.
        ValueError: if `value` is a ragged nested list.

    Example:
        >>> as_floats("x", [1, 2])
        array([1., 2.])
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array, got rows of different lengths") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def as_mask(name: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Returns the boolean mask `value` broadcast to `shape` (read-only).

    Args:
        name: what error messages call the argument.
        value: booleans whose shape broadcasts to `shape`.
        shape: the shape of the scores that the mask is for.

    Raises:
        TypeError: if `value` is not boolean: 0 and 1, or 0 and -inf, mean different things elsewhere.
        ValueError: if its shape does not broadcast to `shape`.

    Example:
        >>> as_mask("mask", [True, False], (2, 2)).tolist()
        [[True, False], [True, False]]
    """
    try:
        mask = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array, got rows of different lengths") from error
    if mask.dtype != np.bool_:
        raise TypeError(f"{name} must be boolean (True = kept), got dtype {mask.dtype}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError as error:
        raise ValueError(f"{name} must broadcast to {shape}, got shape {mask.shape}") from error


def softmax(x: ArrayLike, axis: int = -1, where: ArrayLike | None = None) -> FloatArray:
    """Non-negative weights, proportional to exp(x), that sum to 1 along `axis`.

    Args:
        x: scores, at least one axis. `-inf` gets weight exactly 0.
        axis: the axis that is normalised.
        where: boolean, broadcastable to `x`; `False` gets weight exactly 0 and is not looked at.

    Returns:
        Weights of the shape of `x`. Where nothing is left along `axis` they are all 0.

    Raises:
        TypeError: `x` is not real, `where` not boolean, `axis` not an integer.
        ValueError: `x` has no axis, or `NaN` or `+inf` where it counts; `axis` or `where` does not fit.

    Example:
        >>> softmax([0.0, np.log(2), np.log(3)]).round(6).tolist()
        [0.166667, 0.333333, 0.5]
        >>> softmax([1.0, 5.0, 1.0], where=[True, False, True]).tolist()
        [0.5, 0.0, 0.5]
        >>> softmax([-np.inf, -np.inf]).tolist()
        [0.0, 0.0]
    """
    shifted, _ = _shift(_scores(x, axis, where), axis)
    with np.errstate(under="ignore"):
        exponentials = np.exp(shifted)
        total = exponentials.sum(axis=axis, keepdims=True)
        return exponentials / np.where(total > 0, total, 1)


def log_softmax(x: ArrayLike, axis: int = -1) -> FloatArray:
    """log(softmax(x)) in nats, without taking the logarithm of a weight that has vanished.

    Args:
        x: scores, at least one axis. `-inf` stays `-inf`.
        axis: the axis that is normalised.

    Returns:
        Log weights of the shape of `x`; `-inf` everywhere where nothing is left along `axis`.

    Raises:
        TypeError: `x` is not real, `axis` not an integer.
        ValueError: `x` has no axis, or holds `NaN` or `+inf`; `axis` does not fit.

    Example:
        >>> log_softmax([0.0, 10000.0]).tolist()
        [-10000.0, 0.0]
    """
    shifted, _ = _shift(_scores(x, axis), axis)
    with np.errstate(under="ignore"):
        total = np.exp(shifted).sum(axis=axis, keepdims=True)
    return shifted - np.log(np.where(total > 0, total, 1))


def logsumexp(x: ArrayLike, axis: int = -1) -> FloatArray:
    """log(sum(exp(x))) along `axis`, in nats.

    Args:
        x: scores, at least one axis.
        axis: the axis that is summed over and disappears.

    Returns:
        Array without that axis (a scalar for a vector); `-inf` where nothing is left along `axis`.

    Raises:
        TypeError: `x` is not real, `axis` not an integer.
        ValueError: `x` has no axis, or holds `NaN` or `+inf`; `axis` does not fit.

    Example:
        >>> round(float(logsumexp([10000.0, 10000.0])), 6)
        10000.693147
        >>> float(logsumexp([-np.inf, -np.inf]))
        -inf
    """
    shifted, top = _shift(_scores(x, axis), axis)
    with np.errstate(under="ignore", divide="ignore"):  # log(0) = -inf is what an empty sum should give
        log_total = np.log(np.exp(shifted).sum(axis=axis))
    result: FloatArray = np.squeeze(top, axis=axis) + log_total
    return result


def cross_entropy(logits: ArrayLike, label: int) -> float:
    """-log softmax(logits)[label]: the loss, in nats, of one distribution over V candidates.

    Args:
        logits: shape (V,); at least one is finite.
        label: index of the right candidate, 0 <= label < V.

    Returns:
        The loss, at least 0; `inf` where the logit of the label is `-inf`.

    Raises:
        TypeError: `logits` is not real, `label` not an integer.
        ValueError: `logits` is not a vector with a finite entry, or `label` lies outside it.

    Example:
        >>> round(cross_entropy([0.0, np.log(2), np.log(3)], 2), 6)
        0.693147
    """
    scores = as_floats("logits", logits)
    if scores.ndim != 1:
        raise ValueError(f"logits must have shape (V,), got {scores.shape}")
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)):
        raise TypeError(f"label must be an integer index, got {label!r}")
    if not 0 <= label < scores.size:
        raise ValueError(f"label must lie in [0, {scores.size}), got {label}")
    if not (scores < np.inf).all() or not np.isfinite(scores).any():
        raise ValueError("logits must be free of NaN and +inf and hold at least one finite value")
    return float(token_losses(scores, label))


def token_losses(logits: ArrayLike, labels: ArrayLike, mask: ArrayLike | None = None) -> FloatArray:
    """-log softmax(logits)[label] in nats, at each of many positions.

    Args:
        logits: (..., V).
        labels: integers (...), each in [0, V) where the mask is True; elsewhere they are not looked at.
        mask: True at positions that count, broadcastable to (...); None counts all.

    Returns:
        Losses (...), 0 where the mask is False.

    Raises:
        TypeError: `logits` is not real, `labels` not integer, `mask` not boolean.
        ValueError: a shape does not fit, a label that counts lies outside, `logits` hold NaN or +inf where it counts.

    Example:
        >>> token_losses([[0.0, 0.0], [0.0, np.log(3)]], [1, 1]).round(6).tolist()
        [0.693147, 0.287682]
    """
    scores, ids, kept = _labelled(logits, labels, mask)
    chosen = np.take_along_axis(log_softmax(scores), ids[..., None], axis=-1)[..., 0]
    return np.where(kept, 0 - chosen, 0)  # 0 - 0 is 0, a bare minus would give -0.0


def token_loss_gradients(logits: ArrayLike, labels: ArrayLike, mask: ArrayLike | None = None) -> FloatArray:
    """softmax(logits) - onehot(label): the gradient of the sum of `token_losses` by the logits.

    Args:
        logits: (..., V).
        labels: integers (...).
        mask: True at positions that count; the gradient is 0 elsewhere.

    Raises:
        TypeError, ValueError: as `token_losses`.

    Example:
        >>> token_loss_gradients([0.0, np.log(2), np.log(3)], 2).round(6).tolist()
        [0.166667, 0.333333, -0.5]
    """
    scores, ids, kept = _labelled(logits, labels, mask)
    gradient = softmax(scores)
    np.put_along_axis(
        gradient, ids[..., None], np.take_along_axis(gradient, ids[..., None], axis=-1) - 1, axis=-1
    )
    return np.where(kept[..., None], gradient, 0)


def _labelled(
    logits: ArrayLike, labels: ArrayLike, mask: ArrayLike | None
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.bool_]]:
    """Checked logits, labels and mask; logits and labels are 0 where the mask is False."""
    scores, ids = as_floats("logits", logits), np.asarray(labels)
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., V) with V >= 1, got {scores.shape}")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"labels must be integers, got dtype {ids.dtype}")
    if ids.shape != scores.shape[:-1]:
        raise ValueError(f"labels must have shape {scores.shape[:-1]}, got {ids.shape}")
    kept = as_mask("mask", True if mask is None else mask, ids.shape)
    scores, ids = np.where(kept[..., None], scores, 0), np.where(kept, ids, 0).astype(np.int64)
    if not (scores < np.inf).all():
        raise ValueError("logits must be free of NaN and +inf where it counts")
    if ids.size and not (ids.min() >= 0 and ids.max() < scores.shape[-1]):
        wrong = ids[(ids < 0) | (ids >= scores.shape[-1])][0]
        raise ValueError(f"labels must lie in [0, {scores.shape[-1]}), got {wrong}")
    return scores, ids, kept


def numerical_gradient(f: Callable[[FloatArray], float], x: ArrayLike, eps: float = 1e-6) -> FloatArray:
    """Central differences (f(x + eps) - f(x - eps)) / (2 eps), one entry of `x` at a time.

    The error is of order eps² from the truncation and 1e-16 |f| / eps from the rounding, which is why
    the work is done in float64 whatever the dtype of `x`.

    Args:
        f: function of an array of the shape of `x`; returns one finite number. It gets a fresh array
            at every call, so it may change it.
        x: where to differentiate; finite, any shape.
        eps: step, positive.

    Returns:
        float64 gradient of the shape of `x`.

    Raises:
        TypeError: `x` is not real, `eps` not a number.
        ValueError: `x` is not finite, `eps` is not positive and finite or vanishes beside an entry of
            `x`, `f` does not return one finite number.

    Example:
        >>> numerical_gradient(lambda x: float((x**2).sum()), [1.0, -3.0]).round(6).tolist()
        [2.0, -6.0]
    """
    point = as_floats("x", x).astype(np.float64)
    if not np.isfinite(point).all():
        raise ValueError("x must be finite")
    if isinstance(eps, bool) or not isinstance(eps, Real):
        raise TypeError(f"eps must be a number, got {eps!r}")
    if not (isfinite(eps) and eps > 0):
        raise ValueError(f"eps must be positive and finite, got {eps}")
    gradient = np.empty_like(point)
    for index in np.ndindex(point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[index] += eps
        behind[index] -= eps
        step = ahead[index] - behind[index]  # as represented, which is not exactly 2 eps
        if step == 0:
            raise ValueError(f"eps = {eps} vanishes beside x = {point[index]} at index {index}")
        gradient[index] = (_value(f, ahead) - _value(f, behind)) / step
    return gradient


def _value(f: Callable[[FloatArray], float], x: FloatArray) -> float:
    value = np.asarray(f(x))
    if value.shape != () or value.dtype.kind not in "iuf" or not np.isfinite(value):
        raise ValueError(f"f must return one finite real number, got {value.tolist()!r}")
    return float(value)


def _scores(x: ArrayLike, axis: int, where: ArrayLike | None = None) -> FloatArray:
    """Checked scores, -inf where masked."""
    scores = as_floats("x", x)
    if scores.ndim == 0:
        raise ValueError("x must have at least one axis, got a scalar")
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise TypeError(f"axis must be an integer, got {axis!r}")
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(f"axis must be an axis of x, which has shape {scores.shape}; got {axis}")
    if where is not None:
        scores = np.where(as_mask("where", where, scores.shape), scores, -np.inf)
    if not (scores < np.inf).all():  # false for NaN too
        raise ValueError("x must be free of NaN and +inf where it counts")
    return scores


def _shift(scores: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    """(scores - top, top) with the maximum as top, or 0 where there is no finite maximum."""
    top = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(over="ignore"):  # a difference beyond the range becomes -inf: weight 0, as it should
        return scores - top, top
