"""Nearest words by cosine, and what an analogy and a set of word classes say about a table of vectors.

    cos(u, v) = u . v / (|u| |v|)
    a is to b as c is to the word d that maximises cos(v_d, v_b - v_a + v_c), a, b, c left out (3CosAdd)

Symbols: `V` words, `d` dimension; row i of `vectors` belongs to `vocabulary[i]`. Equal cosines are put in the
order of the vocabulary. The same functions serve every kind of vector, so that a comparison changes one thing.
Cosine looks at directions only: it survives a rotation and a common factor, not an arbitrary change of axes.

Sources: sections 1.5 and 1.14 of the course; analogies by vector arithmetic are Mikolov, Yih and Zweig 2013; that
leaving out a, b and c does part of the work is shown by Linzen 2016 (arXiv:1606.07736).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats


def cosines(vectors: ArrayLike) -> FloatArray:
    """Cosine of every vector with every other.

    Args:
        vectors: (V, d), finite, no row all 0.

    Returns:
        (V, V), symmetric, 1 on the diagonal.

    Raises:
        TypeError: `vectors` does not hold real numbers.
        ValueError: `vectors` is no finite matrix, or a row is all 0 and has no direction.

    Example:
        >>> cosines([[1, 0], [2, 0], [0, 3]]).tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    units = _units(vectors)
    return units @ units.T


def nearest(
    vectors: ArrayLike, vocabulary: Sequence[str], word: str, k: int
) -> tuple[tuple[str, float], ...]:
    """The k words whose vectors have the largest cosine with that of a word, itself left out.

    Args:
        vectors: (V, d), finite, no row all 0.
        vocabulary: V words.
        word: one of them.
        k: how many, 1 <= k < V.

    Returns:
        Words and cosines, the nearest first.

    Raises:
        TypeError: `vectors` does not hold real numbers, `k` is no integer.
        ValueError: as `cosines`; the vocabulary does not fit, the word is not in it, `k` is out of range.

    Example:
        >>> nearest([[1, 0], [2, 0], [0, 3]], ["茶", "水", "书"], "茶", k=1)
        (('水', 1.0),)
    """
    units, words = _units(vectors), _checked_vocabulary(vectors, vocabulary)
    at = _index(words, word)
    return _ranked(units @ units[at], words, {word}, _checked_k(k, len(words)))


def nearest_rows(vectors: ArrayLike, k: int) -> NDArray[np.intp]:
    """The k rows nearest to every row, itself left out; `nearest` for all words at once, without their names.

    Args:
        vectors: (V, d), finite, no row all 0.
        k: how many, 1 <= k < V.

    Returns:
        Row numbers, (V, k), the nearest first; equal cosines in the order of the rows.

    Raises:
        TypeError: `vectors` does not hold real numbers, `k` is no integer.
        ValueError: as `cosines`; `k` is out of range.

    Example:
        >>> nearest_rows([[1, 0], [0, 1], [1, 1], [2, 1]], 1).ravel().tolist()
        [3, 2, 3, 2]
    """
    scores = cosines(vectors)
    _checked_k(k, len(scores))
    np.fill_diagonal(scores, -np.inf)
    order: NDArray[np.intp] = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return order


def same_class_share(
    vectors: ArrayLike,
    vocabulary: Sequence[str],
    classes: Mapping[str, Iterable[str]],
    k: int,
    *,
    unscored: Iterable[str] = (),
) -> float:
    """Of the k nearest words of each classified word, the share that is of its own class.

    Only words of the vocabulary that belong to a class are looked at, as words and as neighbours. A word whose
    class has fewer than k others cannot reach 1; compare shares of one vocabulary and one k only.

    Args:
        vectors: (V, d), finite, no row all 0.
        vocabulary: V words.
        classes: name of a class to its words, no word in two classes; words beyond the vocabulary are passed over.
        k: neighbours per word, at least 1 and fewer than there are classified words.
        unscored: names of classes whose words may be neighbours and are not asked for theirs.

    Returns:
        A number from 0 to 1. Random vectors give about the share of pairs that are of one class.

    Raises:
        TypeError: `vectors` does not hold real numbers, `k` is no integer.
        ValueError: as `cosines`; a word in two classes, no word left to ask, `unscored` names no class, `k` out of
            range.

    Example:
        >>> words, table = ["茶", "水", "书", "报"], [[1, 0], [2, 0.1], [0, 3], [0.1, 1]]
        >>> same_class_share(table, words, {"喝": ["茶", "水"], "读": ["书", "报"]}, k=1)
        1.0
        >>> round(same_class_share(table, words, {"喝": ["茶", "书"], "读": ["水", "报"]}, k=3), 6)
        0.333333
    """
    table, words = as_floats("vectors", vectors), _checked_vocabulary(vectors, vocabulary)
    class_of: dict[str, str] = {}
    for name, members in classes.items():
        for word in members:
            if class_of.setdefault(word, name) != name:
                raise ValueError(f"classes: {word!r} is in {class_of[word]!r} and in {name!r}")
    left_out = set(unscored)
    if not left_out <= set(classes):
        raise ValueError(f"unscored: {sorted(left_out - set(classes))} are no names of classes")
    kept = [i for i, word in enumerate(words) if word in class_of]
    names = np.array([class_of[words[i]] for i in kept])
    asked = ~np.isin(names, list(left_out))
    if not asked.any():
        raise ValueError("classes: no word of the vocabulary belongs to a class that is scored")
    closest = nearest_rows(table[kept], k)
    return float((names[closest] == names[:, None])[asked].mean())


def analogy(
    vectors: ArrayLike,
    vocabulary: Sequence[str],
    question: tuple[str, str, str],
    k: int = 1,
    *,
    leave_out: bool = True,
    unit: bool = True,
) -> tuple[tuple[str, float], ...]:
    """Answer "a is to b as c is to ...?" with the words nearest to b - a + c.

    Args:
        vectors: (V, d), finite, no row all 0.
        vocabulary: V words.
        question: a, b, c.
        k: how many answers.
        leave_out: whether a, b and c are not allowed as answers, which is the custom.
        unit: whether a, b and c are added at length 1, which is the custom, or at their own lengths, which gives
            the longest of them more say.

    Returns:
        Words and cosines, the nearest first.

    Raises:
        TypeError: `vectors` does not hold real numbers, `k` is no integer.
        ValueError: as `nearest`; b - a + c is 0.

    Example:
        >>> words, table = ["男", "女", "王", "后"], [[1, 0, 0], [0, 1, 0], [1, 0, 2], [0, 1, 2]]
        >>> [word for word, _ in analogy(table, words, ("男", "女", "王"))]
        ['后']
    """
    units, words = _units(vectors), _checked_vocabulary(vectors, vocabulary)
    added = units if unit else as_floats("vectors", vectors)
    a, b, c = (added[_index(words, word)] for word in question)
    target = b - a + c
    length = np.linalg.norm(target)
    if length < 1e-12:
        raise ValueError(f"question: b - a + c is 0 for {question}")
    left_out = set(question) if leave_out else set()
    _checked_k(k, len(words) - len(left_out) + 1)
    return _ranked(units @ (target / length), words, left_out, k)


def solved_share(
    vectors: ArrayLike, vocabulary: Sequence[str], questions: Iterable[tuple[str, str, str, str]]
) -> float:
    """The share of analogies "a is to b as c is to d" whose first answer is d.

    Args:
        vectors: (V, d), finite, no row all 0.
        vocabulary: V words.
        questions: a, b, c and the right answer d; at least one question.

    Returns:
        A number from 0 to 1.

    Raises:
        TypeError, ValueError: as `analogy`; there is no question.

    Example:
        >>> words, table = ["男", "女", "王", "后"], [[1, 0, 0], [0, 1, 0], [1, 0, 2], [0, 1, 2]]
        >>> solved_share(table, words, [("男", "女", "王", "后"), ("王", "后", "男", "后")])
        0.5
    """
    asked = list(questions)
    if not asked:
        raise ValueError("questions must hold at least one analogy, got none")
    return float(np.mean([analogy(vectors, vocabulary, (a, b, c))[0][0] == d for a, b, c, d in asked]))


def _ranked(
    scores: FloatArray, words: tuple[str, ...], left_out: set[str], k: int
) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-scores, kind="stable")
    return tuple((words[i], float(scores[i])) for i in order if words[i] not in left_out)[:k]


def _units(vectors: ArrayLike) -> FloatArray:
    values = as_floats("vectors", vectors)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"vectors must be a finite matrix (V, d), got shape {values.shape}")
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"vectors: row {int((lengths == 0).argmax())} is all 0 and has no direction")
    units: FloatArray = values / lengths
    return units


def _checked_vocabulary(vectors: ArrayLike, vocabulary: Sequence[str]) -> tuple[str, ...]:
    words, size = tuple(vocabulary), len(np.asarray(vectors))
    if len(words) != size or len(set(words)) != size:
        raise ValueError(f"vocabulary must hold {size} different words, one per row, got {len(set(words))}")
    return words


def _index(words: tuple[str, ...], word: str) -> int:
    if word not in words:
        raise ValueError(f"word: {word!r} is not in the vocabulary of {len(words)} words")
    return words.index(word)


def _checked_k(k: int, size: int) -> int:
    if checked_integer("k", k, 1) >= size:
        raise ValueError(f"k must lie in [1, {size - 1}], got {k}")
    return int(k)
