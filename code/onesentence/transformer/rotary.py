"""Rotary positions for tensors; `attention.rotary` holds the formula, its pairs and its sources in NumPy.

Sines and cosines are computed in float64 and cast last, so a float32 model far into a text is not turned by rounded angles.
A table keeps them, up to a size: a text without an end, read through a window, asks for ever larger positions, and those past
the table are computed each time. One forward pass looks them up once, as `Turns`, for queries and keys of all layers.
Symbols: `B` batch, `T` tokens, `D` head size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onesentence.attention.positions import frequencies
from onesentence.attention.rotary import checked_pairs

LONGEST_TABLE = 1 << 17
"""Positions that a table may hold."""


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
        self.rates = torch.from_numpy(frequencies(checked_pairs(D), base=base))
        self.table = self._computed(torch.arange(1), torch.empty(0))

    def __call__(self, positions: Tensor, like: Tensor, *, last: int | None = None) -> Turns:
        """Return the factors of some positions.

        Args:
            positions: integers from 0, (B, T) or (T,).
            like: has the dtype and device that the factors get.
            last: at least the largest of them, from somebody who knows that none is negative: then nothing waits for the
                device that holds them. None means that they are looked at.

        Raises:
            TypeError: if positions are not integers.
            ValueError: if they have other axes, there are none, or one is negative.
        """
        if positions.ndim not in (1, 2) or not positions.numel():
            raise ValueError(f"positions must have shape (B, T) or (T,), got {tuple(positions.shape)}")
        if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
            raise TypeError(f"positions must hold integers, got {positions.dtype}")
        if last is None:
            first, last = map(int, positions.aminmax())
            if first < 0:
                raise ValueError(f"positions must be at least 0, got {first}")
        if last >= LONGEST_TABLE:
            factors = self._computed(positions.cpu(), like)  # (B, T, 2 D) or (T, 2 D)
        else:
            places = positions.to(like.device, torch.int64)
            factors = nn.functional.embedding(places, self._table(last, like))
        if positions.ndim == 2:
            factors = factors[:, None]  # the axis of heads
        own, partner = factors.chunk(2, dim=-1)
        return Turns(own, partner)

    def _table(self, last: int, like: Tensor) -> Tensor:
        """Return a table that reaches position `last`; another thread may put another one into its place meanwhile."""
        table = self.table
        if last >= len(table) or (table.dtype, table.device) != (like.dtype, like.device):
            with torch.inference_mode(mode=False):  # a table that decoding asks for serves training, too
                places = torch.arange(min(2 * last + 2, LONGEST_TABLE))  # twice as many as asked
                self.table = table = self._computed(places, like)
        return table

    def _computed(self, positions: Tensor, like: Tensor) -> Tensor:
        """Return the factors of positions (...), own and partner's side by side, (..., 2 D)."""
        angles = positions[..., None] * self.rates
        cosines, sines = angles.cos(), angles.sin()
        parts = torch.stack([cosines, cosines], dim=-1), torch.stack([-sines, sines], dim=-1)
        return torch.cat([part.flatten(-2) for part in parts], dim=-1).to(like)
