"""Which words lie near which, by cosine, and how many neighbours belong to the same class.

Symbols: `V` words, `d` coordinates. Cosine looks at directions only: it survives a rotation and a common factor,
and does not survive an arbitrary change of axes. Section 1.5 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.embed.table import as_matrix
from onesentence.numerics import FloatArray


def cosine_similarities(vectors: ArrayLike) -> FloatArray:
    """Cosines of all pairs of rows.

    Args:
        vectors: (V, d), no row of zeros.

    Returns:
        (V, V), symmetric, 1 on the diagonal.

    Raises:
        TypeError: `vectors` does not hold real numbers.
        ValueError: not a finite matrix, or a row of zeros, which has no direction.

    Example:
        >>> cosine_similarities([[2, 0], [0, 3], [-1, 0]]).tolist()
        [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    rows = as_matrix("vectors", vectors)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise ValueError("vectors must not hold a row of zeros, which has no direction")
    unit = rows / lengths
    cosines: FloatArray = unit @ unit.T
    return cosines


def nearest(vectors: ArrayLike, count: int) -> NDArray[np.intp]:
    """The nearest other rows of every row, nearest first; equally near ones by their position.

    Args:
        vectors: (V, d), no row of zeros.
        count: how many, 1 <= count < V.

    Returns:
        (V, count) row numbers; a row is never its own neighbour.

    Raises:
        TypeError: `vectors` does not hold real numbers.
        ValueError: not a matrix of directions, or a count outside the range.

    Example:
        >>> nearest([[1, 0], [0, 1], [1, 1], [2, 1]], 1).ravel().tolist()
        [3, 2, 3, 2]
    """
    cosines = cosine_similarities(vectors)
    if not 1 <= count < len(cosines):
        raise ValueError(f"count must lie in [1, {len(cosines)}), got {count}")
    np.fill_diagonal(cosines, -np.inf)
    order: NDArray[np.intp] = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return order


def same_class_fraction(
    vectors: ArrayLike, classes: Sequence[str], count: int, leave_out: Sequence[str] = ()
) -> float:
    """Share of nearest neighbours that are of the word's own class, over all words that are scored.

    Args:
        vectors: (V, d), no row of zeros.
        classes: class of each row, V names.
        count: neighbours looked at per word, 1 <= count < V.
        leave_out: classes whose words are not scored; they may still be somebody's neighbours.

    Returns:
        Between 0 and 1.

    Raises:
        ValueError: another number of classes than rows, no word left to score, or as `nearest`.

    Example:
        >>> same_class_fraction([[1, 0], [2, 1], [0, 1], [0, 2]], ["a", "a", "b", "b"], 1)
        1.0
    """
    around = nearest(vectors, count)
    names = np.array(classes)
    if names.shape != (len(around),):
        raise ValueError(f"classes must name each of {len(around)} rows, got {len(classes)} names")
    scored = ~np.isin(names, list(leave_out))
    if not scored.any():
        raise ValueError("leave_out must leave at least one word to score")
    return float((names[around] == names[:, None])[scored].mean())


def analogy(vectors: ArrayLike, a: int, b: int, c: int, *, exclude: bool = True) -> int:
    """The row nearest by cosine to b - a + c: "a is to b as c is to ...".

    Args:
        vectors: (V, d), no row of zeros.
        a: row of the first word.
        b: row of the second word.
        c: row of the third word.
        exclude: whether the three words of the question may not be the answer, as is usual.

    Returns:
        A row number.

    Raises:
        ValueError: not a matrix of directions.

    Example:
        >>> table = [[1, 0], [1, 1], [3, 0], [3, 1]]
        >>> analogy(table, 0, 1, 2), analogy(table, 0, 1, 2, exclude=False)
        (3, 3)
    """
    rows = as_matrix("vectors", vectors)
    aim = rows[b] - rows[a] + rows[c]
    scores = rows @ aim / np.linalg.norm(rows, axis=1)
    if exclude:
        scores[[a, b, c]] = -np.inf
    return int(scores.argmax())
