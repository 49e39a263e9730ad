"""The table of word vectors: what a lookup is, and where the gradient of a row comes from.

Symbols: `V` words, `d` coordinates, `E` the table (V, d) with one row per word, `ids` integers in [0, V) of any
shape `...`. A lookup is a product: with e_i the one-hot vector of word i

    e_i^T E = E[i]             (section 1.3)
    dL/dE = onehot^T G         G holds dL/dx of every occurrence, so occurrences of one word add up

and neither product is carried out: one copies a row, the other adds rows. Sections 1.3 to 1.5 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import as_ids
from onesentence.numerics import FloatArray, as_floats


def one_hot(ids: ArrayLike, size: int) -> FloatArray:
    """Vectors with a single 1 at the place of the word.

    Args:
        ids: integers in [0, size), any shape.
        size: V, the number of words.

    Returns:
        float64, (..., V).

    Raises:
        TypeError: `ids` does not hold integers.
        ValueError: an ID outside [0, size).

    Example:
        >>> one_hot([2, 0], 3).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    index = as_ids("ids", ids, size)
    vectors = np.zeros((*index.shape, size))
    np.put_along_axis(vectors, index[..., None], 1.0, axis=-1)
    return vectors


def lookup(table: ArrayLike, ids: ArrayLike) -> FloatArray:
    """The rows of the words, copied: equal to one_hot(ids, V) @ table without the product.

    Args:
        table: (V, d), finite.
        ids: integers in [0, V), any shape.

    Returns:
        (..., d), a copy: changing it leaves the table as it is.

    Raises:
        TypeError: `table` does not hold real numbers or `ids` no integers.
        ValueError: `table` is not a finite matrix, an ID outside the table.

    Example:
        >>> lookup([[1, 0], [0, 1], [1, 1]], [2, 2]).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    rows = as_matrix("table", table)
    return rows[as_ids("ids", ids, len(rows))]


def accumulate_gradient(ids: ArrayLike, gradients: ArrayLike, size: int) -> FloatArray:
    """The gradient of a table from those of the looked-up vectors: onehot^T G, by adding rows.

    Args:
        ids: integers in [0, size), any shape.
        gradients: G, (..., d): dL/dx of every occurrence, finite.
        size: V, the number of words.

    Returns:
        (V, d). The row of a word that did not occur is 0.

    Raises:
        TypeError: `ids` does not hold integers, `gradients` no real numbers.
        ValueError: shapes that do not fit, an ID outside [0, size).

    Example:
        >>> accumulate_gradient([2, 0, 2], [[1, 0], [0, 5], [1, 3]], size=3).tolist()
        [[0.0, 5.0], [0.0, 0.0], [2.0, 3.0]]
    """
    index, g = as_ids("ids", ids, size), as_floats("gradients", gradients)
    if g.ndim != index.ndim + 1 or g.shape[:-1] != index.shape:
        raise ValueError(f"gradients must have shape {index.shape} + (d,) for these ids, got {g.shape}")
    total = np.zeros((size, g.shape[-1]), dtype=g.dtype)
    np.add.at(total, index, g)  # total[index] += g would keep one of several equal indices
    return total


def change_axes(table: ArrayLike, downstream: ArrayLike, matrix: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Other coordinates for the same model: the table times A, what reads it times the inverse of A.

    Args:
        table: E, (V, d).
        downstream: W, (d, m), which turns a vector x into x @ W.
        matrix: A, (d, d), invertible.

    Returns:
        E A and A^-1 W; their product is E W up to rounding.

    Raises:
        TypeError: an argument that does not hold real numbers.
        ValueError: shapes that do not fit, `matrix` singular or so near to it that float64 loses the product.

    Example:
        >>> E, W = change_axes([[1, 0], [1, 1]], [[3], [4]], [[0, 2], [1, 0]])
        >>> E.tolist(), (E @ W).tolist()
        ([[0.0, 2.0], [1.0, 2.0]], [[3.0], [7.0]])
    """
    e, w, a = as_matrix("table", table), as_matrix("downstream", downstream), as_matrix("matrix", matrix)
    d = e.shape[1]
    if w.shape[0] != d:
        raise ValueError(f"downstream must have shape ({d}, m) for a table of shape {e.shape}, got {w.shape}")
    if a.shape != (d, d):
        raise ValueError(f"matrix must have shape ({d}, {d}) for a table of shape {e.shape}, got {a.shape}")
    if np.linalg.matrix_rank(a) < d:
        raise ValueError("matrix must be invertible, got a singular one")
    return e @ a, np.linalg.solve(a, w)


def mean_vector(table: ArrayLike, ids: ArrayLike) -> FloatArray:
    """The mean of the vectors of a sequence; any order of the same words gives the same mean.

    The rows are added by word, not by place, so the result is the same to the last bit as well.

    Args:
        table: (V, d), finite.
        ids: (T,) integers in [0, V), T >= 1.

    Returns:
        (d,).

    Raises:
        TypeError: `table` does not hold real numbers or `ids` no integers.
        ValueError: `ids` is not a vector with at least one entry, or an ID lies outside the table.

    Example:
        >>> mean_vector([[1, 0], [0, 1], [1, 1]], [2, 0]).tolist()
        [1.0, 0.5]
    """
    rows = as_matrix("table", table)
    index = as_ids("ids", ids, len(rows))
    if index.ndim != 1 or index.size == 0:
        raise ValueError(f"ids must have shape (T,) with T >= 1, got {index.shape}")
    counts = np.bincount(index, minlength=len(rows))
    mean: FloatArray = counts @ rows / index.size
    return mean


def as_matrix(name: str, value: ArrayLike) -> FloatArray:
    """Returns `value` as a finite matrix with at least one row and one column.

    Args:
        name: what error messages call the argument.
        value: real numbers, (rows, columns).

    Raises:
        TypeError: if `value` does not hold real numbers.
        ValueError: if it has another shape, or an entry is not finite.

    Example:
        >>> as_matrix("table", [[1, 2]])
        array([[1., 2.]])
    """
    matrix = as_floats(name, value)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} must be a matrix with rows and columns, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in shape {matrix.shape}")
    return matrix
