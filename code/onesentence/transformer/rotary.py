"""Rotary positions for tensors; `attention.rotary` holds the formula, its pairs and its sources in NumPy.

Angles, sines and cosines are computed in float64 and then cast, so a float32 model far into a text is not turned by rounded
angles. One forward pass computes them once, as `Turns`, for queries and keys of all layers. Symbols: `B` batch, `T` tokens,
`D` head size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from onesentence.attention.positions import frequencies
from onesentence.attention.rotary import checked_pairs


@dataclass(frozen=True, eq=False)
class Turns:
    """Factors of one rotation.

    Attributes:
        own: cosines, each twice in a row, (B, 1, T, D), or (1, T, D) where all rows have the same positions.
        partner: -sine for the even component of a pair and sine for the odd one, alike.
    """

    own: Tensor
    partner: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Turn x, (B, H, T, D), each token by its position."""
        exchanged = x.view(*x.shape[:-1], x.shape[-1] // 2, 2).flip(-1).flatten(-2)
        return torch.addcmul(x * self.own, exchanged, self.partner)


class Rotary:
    """Positions to `Turns`.

    Args:
        D: head size, even.
        base: of the frequencies, larger than 1.

    Raises:
        TypeError: if D is not an integer or `base` no number.
        ValueError: if D is odd or less than 2, or `base` no finite number above 1.

    Example:
        >>> turn = Rotary(2)(torch.tensor([0, 1]), torch.zeros(()))
        >>> turn(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])).round(decimals=4)[0, 0].tolist()
        [[1.0, 0.0], [0.5403000116348267, 0.8414999842643738]]
    """

    def __init__(self, D: int, *, base: float = 10000.0) -> None:
        self.rates = torch.from_numpy(
            frequencies(checked_pairs(D), base=base)
        )  # float64, also in a half model

    def __call__(self, positions: Tensor, like: Tensor) -> Turns:
        """Return the factors of some positions.

        Args:
            positions: integers, (B, T) or (T,).
            like: has the dtype and device that the factors get.

        Raises:
            TypeError: if positions are not integers.
            ValueError: if they have other axes.
        """
        if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
            raise TypeError(f"positions must hold integers, got {positions.dtype}")
        if positions.ndim not in (1, 2):
            raise ValueError(f"positions must have shape (B, T) or (T,), got {tuple(positions.shape)}")
        if self.rates.device != like.device:
            self.rates = self.rates.to(like.device)
        angles = positions.to(like.device)[..., None] * self.rates  # (B, T, D / 2) or (T, D / 2)
        cosines, sines = angles.cos(), angles.sin()
        pairs = torch.stack([cosines, cosines], dim=-1), torch.stack([-sines, sines], dim=-1)
        first = 1 if positions.ndim == 2 else 0  # where the axis of heads goes; (T,) needs no axis of rows
        own, partner = (each.flatten(-2).to(like.dtype).unsqueeze(first) for each in pairs)
        return Turns(own, partner)
