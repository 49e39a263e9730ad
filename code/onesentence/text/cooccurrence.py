"""Co-occurrence counts of a corpus, and PMI and its relatives from them. NumPy only.

For centre word i and context word j (section 1.14 of the course)

    C_ij                                     how often j stands within the window of i
    P(i, j) = C_ij / N,  N = sum_ij C_ij     joint probability
    P(i) = sum_j P(i, j),  P(j) = sum_i P(i, j)
    PMI_ij = log P(i, j) / (P(i) P(j))       in nats; -inf where C_ij = 0
    PPMI_ij = max(0, PMI_ij)

All four probabilities come from the one matrix C. Taking P(i) from the number of running words instead, as is
easily done, mixes two countings: the words in the middle of a sentence have more pairs than those at its ends.

Symbols: `V` size of the vocabulary. Rows are centre words, columns context words.

Sources: Church and Hanks 1990, "Word Association Norms, Mutual Information, and Lexicography"; shifted PPMI is
Levy and Goldberg 2014 (NeurIPS), section 4.1. Weights 1/distance are those of GloVe, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats

Side = Literal["both", "left", "right"]
Weighting = Literal["flat", "inverse"]


@dataclass(frozen=True)
class Window:
    """Which neighbours of a word are counted, and how much each counts.

    Attributes:
        radius: the farthest neighbour, in words, inclusive; at least 1.
        side: neighbours on both sides, or only those to the left or to the right of the centre word.
        weighting: `flat` counts each pair once, `inverse` counts a pair at distance d as 1/d.

    Raises:
        TypeError: `radius` is no integer.
        ValueError: `radius` is below 1, `side` or `weighting` is unknown.
    """

    radius: int
    side: Side = "both"
    weighting: Weighting = "flat"

    def __post_init__(self) -> None:
        checked_integer("radius", self.radius, 1)
        if self.side not in ("both", "left", "right"):
            raise ValueError(f"side must be 'both', 'left' or 'right', got {self.side!r}")
        if self.weighting not in ("flat", "inverse"):
            raise ValueError(f"weighting must be 'flat' or 'inverse', got {self.weighting!r}")


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class Cooccurrence:
    """The counts of one corpus under one window.

    Attributes:
        vocabulary: V different words; the names of the rows and of the columns.
        matrix: (V, V); `matrix[i, j]` is the weight of all pairs of centre word i with context word j.
    """

    vocabulary: tuple[str, ...]
    matrix: FloatArray

    def of(self, centre: str, context: str) -> float:
        """Return the count of one pair.

        Raises:
            ValueError: if one of the words is not in the vocabulary.
        """
        return float(self.matrix[self.index(centre), self.index(context)])

    def index(self, word: str) -> int:
        """Return the row of a word.

        Raises:
            ValueError: if the word is not in the vocabulary.
        """
        if word not in self.vocabulary:
            raise ValueError(f"word: {word!r} is not in the vocabulary of {len(self.vocabulary)} words")
        return self.vocabulary.index(word)


def count_pairs(
    sentences: Iterable[Sequence[str]], window: Window, vocabulary: Sequence[str] | None = None
) -> Cooccurrence:
    """Count the words that stand within a window of each other; no window reaches into the next sentence.

    Args:
        sentences: the corpus, each sentence cut into words.
        window: which neighbours count.
        vocabulary: different words to count, in this order; None takes all, in the order of their first
            occurrence. Other words keep their place in the sentence, so distances stay, and are not counted.

    Returns:
        The counts. With `side="both"` the matrix is symmetric; the one of `right` is that of `left` transposed.

    Raises:
        TypeError: a sentence is a text that has not been cut into words.
        ValueError: the corpus or the vocabulary holds no word, or the vocabulary repeats one.

    Example:
        >>> counts = count_pairs([["我", "给", "他"]], Window(radius=1))
        >>> counts.vocabulary, counts.matrix.tolist()
        (('我', '给', '他'), [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        >>> count_pairs([["我", "给", "他"]], Window(2, "right", "inverse")).of("我", "他")
        0.5
    """
    corpus = _checked_sentences(sentences)
    words = tuple(dict.fromkeys(word for sentence in corpus for word in sentence))
    if vocabulary is not None:
        words = tuple(vocabulary)
    if not words or len(set(words)) != len(words):
        raise ValueError(f"vocabulary must hold different words and at least one, got {list(words)}")
    index = {word: i for i, word in enumerate(words)}
    matrix = np.zeros((len(words), len(words)))
    for sentence in corpus:
        places = [index.get(word) for word in sentence]
        for at, centre in enumerate(places):
            for distance in range(1, min(window.radius, len(places) - 1 - at) + 1):
                right = places[at + distance]
                if centre is None or right is None:
                    continue
                weight = 1.0 if window.weighting == "flat" else 1.0 / distance
                if window.side != "left":
                    matrix[centre, right] += weight
                if window.side != "right":
                    matrix[right, centre] += weight
    return Cooccurrence(words, matrix)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Joint and marginal probabilities of one matrix of counts.

    Attributes:
        joint: P(i, j), the shape of the counts; sums to 1.
        centre: P(i), the sums of the rows.
        context: P(j), the sums of the columns.
    """

    joint: FloatArray
    centre: FloatArray
    context: FloatArray


def probabilities(counts: ArrayLike) -> Probabilities:
    """Probabilities of the pairs and of their two words, all from the one matrix of counts.

    Args:
        counts: (V, V), or any matrix of centre by context; non-negative, with a positive sum.

    Raises:
        TypeError: `counts` does not hold real numbers.
        ValueError: `counts` is no matrix, or holds a negative, infinite or NaN entry, or only zeros.

    Example:
        >>> p = probabilities([[0, 3], [1, 0]])
        >>> p.joint.tolist(), p.centre.tolist(), p.context.tolist()
        ([[0.0, 0.75], [0.25, 0.0]], [0.75, 0.25], [0.25, 0.75])
    """
    matrix = checked_counts(counts)
    total = matrix.sum()  # sums of whole counts are exact, so a symmetric matrix has equal marginals
    return Probabilities(matrix / total, matrix.sum(axis=1) / total, matrix.sum(axis=0) / total)


def pmi(counts: ArrayLike) -> FloatArray:
    """Pointwise mutual information log P(i, j) / (P(i) P(j)), in nats.

    0 says that the two words meet as often as if each came by itself. The bound is -log max(P(i), P(j)), which
    the rarest words reach with a single coincidence.

    Args:
        counts: (V, V); non-negative, with a positive sum.

    Returns:
        (V, V); `-inf` where the count is 0, also for words without any pair. Never NaN.

    Raises:
        TypeError, ValueError: as `probabilities`.

    Example:
        >>> pmi([[2, 1], [1, 0]]).round(6).tolist()
        [[-0.117783, 0.287682], [0.287682, -inf]]
    """
    joint = probabilities(counts)
    logs = [_log(part) for part in (joint.joint, joint.centre, joint.context)]
    result = np.full(joint.joint.shape, -np.inf)
    np.subtract(logs[0], np.add.outer(logs[1], logs[2]), out=result, where=joint.joint > 0)
    return result


def ppmi(counts: ArrayLike) -> FloatArray:
    """Positive PMI, max(0, PMI): pairs that never met get 0 and not minus infinity.

    Args:
        counts: (V, V); non-negative, with a positive sum.

    Returns:
        (V, V), finite and non-negative.

    Raises:
        TypeError, ValueError: as `probabilities`.

    Example:
        >>> ppmi([[2, 1], [1, 0]]).round(6).tolist()
        [[0.0, 0.287682], [0.287682, 0.0]]
    """
    return np.maximum(pmi(counts), 0.0)


def shifted_ppmi(counts: ArrayLike, negatives: float) -> FloatArray:
    """Shifted positive PMI, max(0, PMI - log k), of Levy and Goldberg 2014, section 4.1.

    Args:
        counts: (V, V); non-negative, with a positive sum.
        negatives: k > 0, the number of negative samples per pair in skip-gram; 1 gives PPMI.

    Returns:
        (V, V), finite and non-negative.

    Raises:
        TypeError: `counts` does not hold real numbers, `negatives` is no number.
        ValueError: as `probabilities`, and where `negatives` is not positive and finite.

    Example:
        >>> shifted_ppmi([[2, 1], [1, 0]], negatives=1.2).round(6).tolist()
        [[0.0, 0.105361], [0.105361, 0.0]]
    """
    if isinstance(negatives, bool) or not isinstance(negatives, Real):
        raise TypeError(f"negatives must be a number, got {negatives!r}")
    if not 0 < negatives < np.inf:
        raise ValueError(f"negatives must be positive and finite, got {negatives}")
    return np.maximum(pmi(counts) - np.log(float(negatives)), 0.0)


def checked_counts(counts: ArrayLike) -> FloatArray:
    """Return counts as a matrix of floats.

    Raises:
        TypeError, ValueError: as `probabilities`.
    """
    matrix = as_floats("counts", counts)
    if matrix.ndim != 2:
        raise ValueError(f"counts must be a matrix of centre by context words, got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("counts must be finite and non-negative")
    if not matrix.sum() > 0:
        raise ValueError(f"counts must have a positive sum, got 0 in shape {matrix.shape}")
    return matrix


def _log(values: FloatArray) -> FloatArray:
    """log, with 0 in the places of zeros, which the caller leaves out."""
    return np.log(values, out=np.zeros_like(values), where=values > 0)


def _checked_sentences(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    corpus = list(sentences)
    for sentence in corpus:
        if isinstance(sentence, str):
            raise TypeError(f"sentences must be cut into words, got the text {sentence[:20]!r}")
    if not any(len(sentence) for sentence in corpus):
        raise ValueError(f"sentences must hold at least one word, got {len(corpus)} empty sentences")
    return corpus
