"""A cache that starts empty and enlarges itself when a step asks for more slots than there are.

It doubles: enlarging copies everything, so n tokens that come one by one cost about log2 n copies, less than two slots
copied per token all in all, where enlarging by exactly what is asked for would copy n / 2 slots per token. The price is
memory, up to twice the longest row, and old and new block side by side while it copies (keys and values in turn). It never
shrinks. A step that enlarged it and was aborted leaves the larger block, with the same tokens in it. Symbols as in
`cache.base`.
"""

from __future__ import annotations

from torch import Tensor

from onesentence.cache.base import CacheSizes
from onesentence.cache.slots import SlotCache
from onesentence.cache.stepping import zeros


class GrowingCache(SlotCache):
    """Keys and values in (L, B, G, slots, D), token after token, without a limit of its own.

    Args:
        sizes: what it is made for.

    Example:
        >>> import torch
        >>> cache, slots = GrowingCache(CacheSizes(layers=1, rows=1, heads=1, head_size=1)), []
        >>> for T in (3, 1, 1, 1, 1):
        ...     step = cache.open(torch.ones(1, T, dtype=torch.bool), "model a")
        ...     _ = step.put(0, torch.ones(1, 1, T, 1), torch.ones(1, 1, T, 1))
        ...     step.commit()
        ...     slots.append(cache.slots)
        >>> slots, cache.payload_bytes, cache.allocated_bytes
        ([3, 6, 6, 6, 12], 56, 96)
    """

    def __init__(self, sizes: CacheSizes) -> None:
        super().__init__(sizes, 0)

    def _make_room(self, slots: int) -> None:
        """As `SlotCache` says."""
        if slots > self.slots:
            slots = max(slots, 2 * self.slots)
            self.keys = self._enlarged(self.keys, slots)
            self.values = self._enlarged(self.values, slots)

    def _enlarged(self, part: Tensor, slots: int) -> Tensor:
        """Return a copy with more slots, the new ones 0; keys may have more than values if memory ran out between them."""
        large = zeros(self.sizes, *part.shape[:3], slots, part.shape[4])
        large[:, :, :, : self.slots] = part[:, :, :, : self.slots]
        return large
