"""Storage in one block of memory per layer where the token at position p of a row lies in slot p.

    keys, values (L, B, G, slots, D)

A step writes past the lengths, where nobody looks, and reads a view: nothing is copied. Slots past a row's length hold 0
between steps; where rows have different lengths, the shorter ones are read with such slots, masked, and 0 times weight 0 is
0 while 0 times NaN would not be. Symbols as in `cache.base`.
"""

from __future__ import annotations

from torch import Tensor

from onesentence.cache.base import CacheSizes, Seen
from onesentence.cache.new_tokens import NewTokens, mask_of_run
from onesentence.cache.stepping import StoredCache, StoredStep, zeros


class SlotCache(StoredCache):
    """A cache whose slots are positions.

    Args:
        sizes: what it is made for.
        slots: of each row at the start.
    """

    def __init__(self, sizes: CacheSizes, slots: int) -> None:
        super().__init__(sizes)
        shape = (sizes.layers, sizes.rows, sizes.heads, slots, sizes.head_size)
        self.keys, self.values = zeros(sizes, *shape), zeros(sizes, *shape)

    @property
    def slots(self) -> int:
        """Slots of each row."""
        return self.values.shape[3]  # which are enlarged after the keys

    @property
    def allocated_bytes(self) -> int:
        """2 L B G slots D s."""
        return self.sizes.token_bytes * self.sizes.rows * self.slots

    def _step_of(self, new: NewTokens, owner: str) -> StoredStep:
        self._make_room(new.longest)
        return SlotStep(self, new, owner)

    def _make_room(self, slots: int) -> None:
        """See to it that each row has so many slots; nothing to do where their number is fixed."""

    def _drop(self, lengths: Tensor) -> None:
        self._empty(lengths, self._lengths)

    def _wipe(self) -> None:
        for part in (self.keys, self.values):
            part.zero_()

    def _empty(self, start: Tensor, stop: Tensor) -> None:
        """Write 0 into the slots of each row from `start` up to `stop`."""
        for row, (first, last) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):
            if first < last:
                for part in (self.keys, self.values):
                    part[:, row, :, first:last] = 0


class SlotStep(StoredStep):
    """A step that writes into slots."""

    cache: SlotCache

    def __init__(self, cache: SlotCache, new: NewTokens, owner: str) -> None:
        super().__init__(cache, new, owner)
        self._mask = mask_of_run(new, 0, new.longest)

    def _write(self, layer: int, k: Tensor, v: Tensor) -> None:
        new = self.new
        for part, own in zip(self._parts(layer), (k, v), strict=True):
            if new.even:
                part[:, :, new.longest - new.T :].copy_(own)
            else:
                part[new.where[0], :, new.places] = new.tokens_of(own)

    def _read(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        return Seen(*self._parts(layer), *self._mask, self._single)

    def _parts(self, layer: int) -> tuple[Tensor, Tensor]:
        """Return views of the slots that the step reads; cut anew, as an `open` that failed may have moved them."""
        S = self.new.longest
        return self.cache.keys[layer, :, :, :S], self.cache.values[layer, :, :, :S]

    def _clear(self) -> None:
        self.cache._empty(self.new.before, self.new.after)
