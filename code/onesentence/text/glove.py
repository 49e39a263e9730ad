"""GloVe: word vectors whose dot products, with biases, fit the logarithms of co-occurrence counts.

    J = sum over C_ij > 0 of f(C_ij) (w_i . c_j + b_i + a_j - log C_ij)^2      equation 8 of the paper
    f(x) = (x / x_max)^alpha for x < x_max, else 1                            equation 9

The sum runs over pairs that were seen: a zero count has no logarithm, and f(0) = 0 leaves it out. So nothing in J
says that a pair which never met should score low.

Symbols: `V` words, `d` dimension; w, b are `words`, `word_biases`; c, a (written with a tilde in the paper) are
`contexts`, `context_biases`.

Source: Pennington, Socher and Manning 2014, "GloVe: Global Vectors for Word Representation", sections 3 and 4.2;
section 1.14 of the course. Differences: the authors' program takes one pair after the other in random order;
here each step uses the exact gradient of J over all pairs, which is cheap for a small vocabulary and leaves the
starting values as the only random choice. As there, AdaGrad's sums of squares start at 1, the starting values
are uniform in +-1/(2 d), and the word vectors to use are w + c.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats
from onesentence.text.cooccurrence import checked_counts


@dataclass(frozen=True)
class GloveConfig:
    """How GloVe is trained.

    Attributes:
        dimension: d, at least 1.
        x_max: the count from which on a pair has full weight; positive. The paper has 100 for billions of words.
        alpha: exponent of the weight below `x_max`; the paper has 3/4.
        learning_rate: AdaGrad's step, positive; the paper has 0.05.
        steps: full passes over all pairs, at least 1.

    Raises:
        TypeError: a value that is no number, or no integer where one is needed.
        ValueError: a value that is not positive and finite.
    """

    dimension: int
    x_max: float = 100.0
    alpha: float = 0.75
    learning_rate: float = 0.05
    steps: int = 500

    def __post_init__(self) -> None:
        for name in ("dimension", "steps"):
            checked_integer(name, getattr(self, name), 1)
        for name in ("x_max", "alpha", "learning_rate"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise TypeError(f"{name} must be a number, got {value!r}")
            if not 0 < float(value) < inf:
                raise ValueError(f"{name} must be positive and finite, got {value}")


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class Parameters:
    """The four parameters, or their gradients.

    Attributes:
        words: w, (V, d).
        contexts: c, (V, d).
        word_biases: b, (V,).
        context_biases: a, (V,).
    """

    words: FloatArray
    contexts: FloatArray
    word_biases: FloatArray
    context_biases: FloatArray


@dataclass(frozen=True, eq=False)
class Trained:
    """What a run of GloVe left.

    Attributes:
        parameters: the fitted parameters.
        losses: (steps + 1,), J before the first step, after each, and so at the end.
    """

    parameters: Parameters
    losses: FloatArray

    @property
    def vectors(self) -> FloatArray:
        """The word vectors to use, w + c, (V, d); section 4.2 of the paper."""
        return self.parameters.words + self.parameters.contexts


def pair_weights(counts: ArrayLike, x_max: float, alpha: float) -> FloatArray:
    """The weight f of each count, equation 9.

    Args:
        counts: non-negative, any shape.
        x_max: positive.
        alpha: positive.

    Returns:
        Weights in [0, 1], the shape of `counts`; 0 for a count of 0.

    Raises:
        TypeError: `counts` does not hold real numbers.
        ValueError: a negative count, or `x_max` or `alpha` that is not positive.

    Example:
        >>> pair_weights([0, 1, 16, 40], x_max=16, alpha=0.75).tolist()
        [0.0, 0.125, 1.0, 1.0]
    """
    values = as_floats("counts", counts)
    if not (values >= 0).all():
        raise ValueError("counts must be non-negative and not NaN")
    for name, value in (("x_max", x_max), ("alpha", alpha)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    weights: FloatArray = np.minimum(values / x_max, 1.0) ** alpha
    return weights


def loss_and_gradients(
    parameters: Parameters, counts: ArrayLike, x_max: float, alpha: float
) -> tuple[float, Parameters]:
    """The objective J of equation 8 and its derivatives, written out by hand.

    Args:
        parameters: w, c, b, a.
        counts: C, (V, V); non-negative, with a positive sum.
        x_max: see `pair_weights`.
        alpha: see `pair_weights`.

    Returns:
        J, and dJ by w, c, b and a.

    Raises:
        TypeError: `counts` does not hold real numbers.
        ValueError: counts or weights as in `cooccurrence.probabilities` and `pair_weights`.

    Example:
        >>> zero = Parameters(*(np.zeros(shape) for shape in ((2, 1), (2, 1), 2, 2)))
        >>> J, gradients = loss_and_gradients(zero, [[0, np.e], [1, 0]], x_max=1, alpha=0.75)
        >>> J, gradients.word_biases.tolist()
        (1.0, [-2.0, 0.0])
    """
    matrix = checked_counts(counts)
    return _loss_and_gradients(parameters, _log_counts(matrix), pair_weights(matrix, x_max, alpha))


def train(counts: ArrayLike, config: GloveConfig, rng: np.random.Generator) -> Trained:
    """Fit GloVe to a matrix of counts with AdaGrad.

    Args:
        counts: C, (V, V); non-negative, with a positive sum.
        config: dimension, weights and budget.
        rng: source of the starting values, the only random choice.

    Returns:
        The parameters and the curve of J.

    Raises:
        TypeError: `counts` does not hold real numbers, `rng` is no Generator.
        ValueError: `counts` is not square, negative, infinite or all 0; the loss leaves the range of floats.

    Example:
        >>> run = train([[4, 2], [2, 1]], GloveConfig(dimension=1, steps=50), np.random.default_rng(0))
        >>> run.vectors.shape, bool(run.losses[-1] < run.losses[0])
        ((2, 1), True)
    """
    matrix = checked_counts(counts)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"counts must be square, words by words, got shape {matrix.shape}")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    logs, weights = _log_counts(matrix), pair_weights(matrix, config.x_max, config.alpha)
    size, d = matrix.shape[0], config.dimension
    values = [rng.uniform(-0.5, 0.5, shape) / d for shape in ((size, d), (size, d), size, size)]
    squares = [np.ones_like(value) for value in values]
    losses = np.empty(config.steps + 1)
    for step in range(config.steps):
        losses[step], gradients = _loss_and_gradients(Parameters(*values), logs, weights)
        for value, square, field in zip(values, squares, fields(gradients), strict=True):
            gradient = getattr(gradients, field.name)
            square += gradient**2
            value -= config.learning_rate * gradient / np.sqrt(square)
    losses[-1], _ = _loss_and_gradients(Parameters(*values), logs, weights)
    if not np.isfinite(losses).all():
        raise ValueError(f"learning_rate {config.learning_rate} makes the loss leave the range of floats")
    return Trained(Parameters(*values), losses)


def _log_counts(counts: FloatArray) -> FloatArray:
    """Log C where C > 0, and 0 elsewhere, where the weight is 0 too."""
    return np.log(counts, out=np.zeros_like(counts), where=counts > 0)


def _loss_and_gradients(
    parameters: Parameters, logs: FloatArray, weights: FloatArray
) -> tuple[float, Parameters]:
    w, c = parameters.words, parameters.contexts
    error = w @ c.T
    error += parameters.word_biases[:, None]
    error += parameters.context_biases
    error -= logs
    slope = weights * error
    J = float(np.vdot(slope, error))
    slope *= 2  # dJ / d(score of the pair)
    return J, Parameters(slope @ c, slope.T @ w, slope.sum(axis=1), slope.sum(axis=0))
