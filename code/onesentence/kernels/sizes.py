"""The one layout of attention's inputs, what does not fit it, and how a length is cut into blocks.

    q (B, H, T, D)      k, v (B, G, S, D)      H = G * group: query head h reads key head h // group

The T queries stand at the end of the S keys: query i at key S - T + i. `causal` lets it read keys up to its own place, so
with T > S the first T - S queries read nothing. `real` (B, S) is True at keys that count; padding may stand anywhere. A
query that may read nothing gets output 0, log-sum-exp -inf and gradient 0. Every function of `kernels` keeps this.

Symbols: `B` batch, `T` query length, `S` key length, `H` query heads, `G` key heads, `D` head size. Grouped queries:
Ainslie et al. 2023 (arXiv:2305.13245), section 2.2; sections 7.5 and 7.10 of the course.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onesentence.checks import checked_number


@dataclass(frozen=True)
class Sizes:
    """Lengths of the axes of one read.

    Attributes:
        B: batch.
        H: query heads.
        G: key heads, a divisor of H.
        T: queries.
        S: keys.
        D: head size.
    """

    B: int
    H: int
    G: int
    T: int
    S: int
    D: int

    @property
    def group(self) -> int:
        """Query heads that share one key head."""
        return self.H // self.G

    @property
    def shift(self) -> int:
        """S - T: query i stands at key i + shift."""
        return self.S - self.T


def sizes_of(q: Any, k: Any, v: Any, real: Any = None) -> Sizes:
    """Return the sizes of a read after checking that its parts fit; NumPy arrays and torch tensors alike.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: as k.
        real: boolean, (B, S); None means that every key counts.

    Raises:
        TypeError: if dtypes differ or are not floating, or `real` is not boolean.
        ValueError: if a shape does not fit, an axis is empty, or H is no multiple of G.

    Example:
        >>> import numpy as np
        >>> sizes_of(np.zeros((1, 4, 2, 8)), np.zeros((1, 2, 3, 8)), np.zeros((1, 2, 3, 8)))
        Sizes(B=1, H=4, G=2, T=2, S=3, D=8)
    """
    for name, part in (("q", q), ("k", k), ("v", v)):
        if len(part.shape) != 4 or 0 in part.shape:
            raise ValueError(
                f"{name} must have shape (B, heads, length, D), none of them 0, got {tuple(part.shape)}"
            )
    (B, H, T, D), (_, G, S, _) = q.shape, k.shape
    for name, part in (("k", k), ("v", v)):
        if tuple(part.shape) != (B, G, S, D):
            raise ValueError(
                f"{name} must have shape ({B}, G, {S}, {D}), as q and k say, got {tuple(part.shape)}"
            )
        if part.dtype != q.dtype:
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}, got {part.dtype}")
    if "float" not in str(q.dtype):
        raise TypeError(f"q must hold floating-point numbers, got {q.dtype}")
    if H % G:
        raise ValueError(f"q must have a multiple of the {G} heads of k, got {H}")
    if real is not None:
        if "bool" not in str(real.dtype):
            raise TypeError(f"real must be boolean (True = a key that counts), got {real.dtype}")
        if tuple(real.shape) != (B, S):
            raise ValueError(f"real must have shape ({B}, {S}), got {tuple(real.shape)}")
    return Sizes(B, H, G, T, S, D)


def spans(length: int, block: int) -> Iterator[slice]:
    """Yield blocks that together are `range(length)`; the last one may be shorter.

    Example:
        >>> [(s.start, s.stop) for s in spans(5, 2)]
        [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, length, block):
        yield slice(start, min(start + block, length))


def scale_of(scale: float | None, D: int) -> float:
    """Return what scores are multiplied with: 1 / sqrt(D) unless another number is given.

    Raises:
        TypeError: if it is no number.
        ValueError: if it is not finite.

    Example:
        >>> scale_of(None, 16)
        0.25
    """
    return float(D**-0.5) if scale is None else checked_number("scale", scale)
