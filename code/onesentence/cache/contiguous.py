"""A cache with a fixed number of slots, all of them allocated at the start.

What it costs is known beforehand and does not change: 2 L B G capacity D s bytes, used or not. Reads are views. Section 7.4
of the course; symbols as in `cache.base`.
"""

from __future__ import annotations

from torch import Tensor

from onesentence.cache.base import CacheSizes
from onesentence.cache.slots import SlotCache
from onesentence.checks import checked_integer


class ContiguousCache(SlotCache):
    """Keys and values in (L, B, G, capacity, D), token after token.

    Args:
        sizes: what it is made for.
        capacity: tokens that a row can hold.

    Raises:
        TypeError: if `capacity` is not an integer.
        ValueError: if it is less than 1.

    Example:
        >>> import torch
        >>> cache = ContiguousCache(CacheSizes(layers=1, rows=1, heads=1, head_size=2), capacity=4)
        >>> step = cache.open(torch.tensor([[True, True]]), "model a")
        >>> seen = step.put(0, torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2))
        >>> seen.causal, cache.lengths.tolist()
        (True, [0])
        >>> step.commit()
        >>> cache.lengths.tolist(), cache.payload_bytes, cache.allocated_bytes
        ([2], 32, 64)
    """

    def __init__(self, sizes: CacheSizes, capacity: int) -> None:
        super().__init__(sizes, checked_integer("capacity", capacity, 1))

    @property
    def capacity(self) -> int:
        """Tokens that a row can hold."""
        return self.slots

    def _check_room(self, lengths: Tensor) -> None:
        longest = int(lengths.max())
        if longest > self.capacity:
            row = lengths.tolist().index(longest)
            raise ValueError(f"capacity of {self.capacity} tokens: row {row} would hold {longest}")
