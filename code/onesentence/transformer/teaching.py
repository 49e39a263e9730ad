"""One encoder block with every intermediate value, in NumPy; `block.EncoderBlock` is the one that trains.

    A = MultiHead(X, X) + b_O,  R = X + A,  U = LN_1(R)
    h = relu(U W_1 + b_1),  F = h W_2 + b_2,  Z = LN_2(U + F)

Symbols: `T` positions, `C` width, `F` width inside the FFN; U_i is the row of position i, U_{i,r} one entry of it. Order
as in Vaswani et al. 2017 (arXiv:1706.03762), section 3.1: the norm stands after the addition. No dropout. Sections 4.8
to 4.10 of the course, whose worked example is in `block_example`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.inputs import finite
from onesentence.attention.multi_head import MultiHead, MultiHeadRead
from onesentence.checks import checked_number
from onesentence.numerics import FloatArray, as_floats
from onesentence.transformer.layer_norm import layer_norm


@dataclass(frozen=True, eq=False)
class BlockTrace:
    """What one pass through a block computed, in this order.

    Attributes:
        x: inputs, (..., T, C).
        attention: everything that the heads computed; its `output` is A without b_O.
        residual: X + A, (..., T, C).
        u: LN_1 of it.
        hidden: after the ReLU, (..., T, F).
        ffn: (..., T, C).
        residual_2: U + FFN(U).
        z: LN_2 of it, the block's output.
    """

    x: FloatArray
    attention: MultiHeadRead
    residual: FloatArray
    u: FloatArray
    hidden: FloatArray
    ffn: FloatArray
    residual_2: FloatArray
    z: FloatArray

    def named(self) -> dict[str, FloatArray]:
        """Return everything under the names of the formulas, in the order of the computation."""
        read = self.attention
        return {
            "X": self.x,
            "Q": read.q,
            "K": read.k,
            "V": read.v,
            "scores": read.scores,
            "weights": read.weights,
            "heads": read.heads,
            "joined": read.joined,
            "joined W_O": read.output,
            "R": self.residual,
            "U": self.u,
            "h": self.hidden,
            "F": self.ffn,
            "U + F": self.residual_2,
            "Z": self.z,
        }


@dataclass(frozen=True, eq=False)
class TeachingBlock:
    """A post-norm encoder block.

    Attributes:
        heads: the multi-head attention.
        w_1: (C, F).
        w_2: (F, C).
        b_1: (F,); None means 0.
        b_2: (C,); None means 0.
        gamma: scales of the two norms, (2, C); None means 1.
        beta: shifts of the two norms, (2, C); None means 0.
        b_o: added to the merged heads, (C,); None means 0.
        eps: of both norms.
    """

    heads: MultiHead
    w_1: FloatArray
    w_2: FloatArray
    b_1: FloatArray = None  # type: ignore[assignment]  # filled below
    b_2: FloatArray = None  # type: ignore[assignment]  # filled below
    gamma: FloatArray = None  # type: ignore[assignment]  # filled below
    beta: FloatArray = None  # type: ignore[assignment]  # filled below
    b_o: FloatArray = None  # type: ignore[assignment]  # filled below
    eps: float = 1e-5

    def __post_init__(self) -> None:
        if checked_number("eps", self.eps) <= 0:
            raise ValueError(f"eps must be positive, got {self.eps}")
        C = self.heads.w_o.shape[1]
        w_1 = finite("w_1", self.w_1)
        if w_1.ndim != 2 or w_1.shape[0] != C or not w_1.shape[1]:
            raise ValueError(f"w_1 must have shape ({C}, F), got {w_1.shape}")
        F = w_1.shape[1]
        shapes: dict[str, tuple[tuple[int, ...], float]] = {
            "w_1": ((C, F), 0.0),
            "w_2": ((F, C), 0.0),
            "b_1": ((F,), 0.0),
            "b_2": ((C,), 0.0),
            "gamma": ((2, C), 1.0),
            "beta": ((2, C), 0.0),
            "b_o": ((C,), 0.0),
        }
        for name, (shape, default) in shapes.items():
            value = getattr(self, name)
            array = np.full(shape, default) if value is None else finite(name, value)
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
            object.__setattr__(self, name, array)

    def __call__(self, x: ArrayLike, *, mask: ArrayLike | None = None) -> BlockTrace:
        """Run the block.

        Args:
            x: (..., T, C).
            mask: `True = may read`, broadcastable to (..., H, T, T).

        Raises:
            TypeError, ValueError: as `MultiHead`.
        """
        x = as_floats("x", x)
        attention = self.heads(x, mask=mask)
        residual = x + attention.output + self.b_o
        u = layer_norm(residual, self.gamma[0], self.beta[0], eps=self.eps)
        hidden = np.maximum(u @ self.w_1 + self.b_1, 0)
        ffn = hidden @ self.w_2 + self.b_2
        residual_2 = u + ffn
        z = layer_norm(residual_2, self.gamma[1], self.beta[1], eps=self.eps)
        return BlockTrace(x, attention, residual, u, hidden, ffn, residual_2, z)
