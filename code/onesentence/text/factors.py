"""Truncated singular value decomposition of a matrix of associations, and the word vectors taken from it.

    M ~ U_d Sigma_d V_d^T                        the nearest matrix of rank d (Eckart and Young 1936)
    vectors(p) = U_d Sigma_d^p                   p = 1 or p = 1/2 (section 1.14 of the course)
    contexts(p) = V_d Sigma_d^(1 - p)            so that vectors(p) @ contexts(p).T is always the same matrix

With p = 1 the dot products of the word vectors are those of the rows of the approximated matrix; with p = 1/2
words and contexts share the singular values evenly, and the leading directions weigh less. Levy, Goldberg and
Dagan 2015 (section 3.3) treat p as a hyperparameter that is tuned.

Symbols: `V` words, `K` contexts, `d` rank. The whole decomposition is computed and cut: these matrices are small.

Sign convention: a singular pair may be turned around, so each column of U is given the sign that makes its
largest entry in absolute value positive (the first one where several are as large up to rounding). Where two
singular values are equal, their directions are fixed only up to a rotation, and no sign convention helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray, as_floats


@dataclass(frozen=True, eq=False)  # arrays have no single truth value
class Factors:
    """The first d singular triples of a matrix.

    Attributes:
        u: (V, d), orthonormal columns.
        singular: (d,), non-negative, falling.
        v: (K, d), orthonormal columns.
    """

    u: FloatArray
    singular: FloatArray
    v: FloatArray

    def vectors(self, exponent: float) -> FloatArray:
        """Return the word vectors U Sigma^exponent, (V, d); 1 and 1/2 are the usual exponents.

        Raises:
            TypeError: `exponent` is no number.
            ValueError: `exponent` lies outside [0, 1].
        """
        return self.u * self.singular ** _checked_exponent(exponent)

    def contexts(self, exponent: float) -> FloatArray:
        """Return the context vectors V Sigma^(1 - exponent), (K, d), that belong to `vectors(exponent)`.

        Raises:
            TypeError, ValueError: as `vectors`.
        """
        return self.v * self.singular ** (1 - _checked_exponent(exponent))

    def matrix(self) -> FloatArray:
        """Return the matrix of rank d that the factors make, (V, K)."""
        return (self.u * self.singular) @ self.v.T


def truncated_svd(matrix: ArrayLike, rank: int) -> Factors:
    """Decompose a matrix and keep its largest singular values.

    Args:
        matrix: (V, K), finite: PPMI, not PMI.
        rank: d, 1 <= d <= min(V, K).

    Returns:
        The factors, signs fixed by the convention of this module.

    Raises:
        TypeError: `matrix` does not hold real numbers, `rank` is no integer.
        ValueError: `matrix` is no finite matrix, `rank` lies outside its range.

    Example:
        >>> factors = truncated_svd([[0, 2], [1, 0]], rank=1)
        >>> factors.vectors(1.0).tolist(), factors.vectors(0.5).round(6).tolist()
        ([[2.0], [0.0]], [[1.414214], [0.0]])
        >>> factors.matrix().tolist()
        [[0.0, 2.0], [0.0, 0.0]]
    """
    values = as_floats("matrix", matrix)
    if values.ndim != 2:
        raise ValueError(f"matrix must have two axes, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("matrix must be finite; PMI of a zero count is -inf, so factor PPMI")
    if checked_integer("rank", rank, 1) > min(values.shape):
        raise ValueError(f"rank must lie in [1, {min(values.shape)}] for shape {values.shape}, got {rank}")
    u, singular, vt = np.linalg.svd(values, full_matrices=False)
    u, singular, v = u[:, :rank], singular[:rank], vt[:rank].T
    sizes = np.abs(u)
    largest = (sizes >= sizes.max(axis=0) * (1 - 1e-9)).argmax(axis=0)
    signs = np.where(np.take_along_axis(u, largest[None], axis=0)[0] < 0, -1.0, 1.0)
    return Factors(u * signs + 0.0, singular, v * signs + 0.0)  # + 0.0 turns -0.0 into 0.0


def _checked_exponent(exponent: float) -> float:
    if isinstance(exponent, bool) or not isinstance(exponent, Real):
        raise TypeError(f"exponent must be a number, got {exponent!r}")
    if not 0 <= exponent <= 1:
        raise ValueError(f"exponent must lie in [0, 1], got {exponent}")
    return float(exponent)
