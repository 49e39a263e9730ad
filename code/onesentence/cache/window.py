"""A cache of the latest tokens of each row, for a model whose queries read no further back.

    keys, values (L, B, G, window, D)       the token at position p lies in slot p mod window

Positions go on, memory does not: 2 L B G window D s bytes however long the text. A query at p reads positions p - window + 1
to p. One new token takes the slot of the one that it need not read; what stood there is kept until `commit`, and a read is a
view. A step of several tokens needs keys that its last tokens push out, so they wait in the step, are read behind the old
ones, and only the last `window` of a row are written at `commit`; such reads are copies of at most window + T slots.

Truncating to n tokens leaves a query at n that reads n - window + 1 to n - 1: once a row is longer than the window, only its
last token can be taken back, because what came before the kept ones is gone. Symbols as in `cache.base`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, Seen
from onesentence.cache.new_tokens import NewTokens, mask_of_lengths, mask_of_run, mask_of_slots
from onesentence.cache.stepping import StoredCache, StoredStep, zeros
from onesentence.checks import checked_integer


class WindowCache(StoredCache):
    """Keys and values of the last `window` tokens of each row, in a ring.

    Args:
        sizes: what it is made for.
        window: tokens that a query reads, itself among them.

    Raises:
        TypeError: if `window` is not an integer.
        ValueError: if it is less than 1.

    Example:
        >>> cache = WindowCache(CacheSizes(layers=1, rows=1, heads=1, head_size=1), window=2)
        >>> step = cache.open(torch.ones(1, 3, dtype=torch.bool), "model a")
        >>> seen = step.put(0, torch.ones(1, 1, 3, 1), torch.ones(1, 1, 3, 1))
        >>> seen.mask.int().tolist()
        [[[[1, 0, 0], [1, 1, 0], [0, 1, 1]]]]
        >>> step.commit()
        >>> cache.lengths.tolist(), cache.payload_bytes
        ([3], 16)
    """

    window: int

    def __init__(self, sizes: CacheSizes, window: int) -> None:
        super().__init__(sizes)
        self.window = checked_integer("window", window, 1)
        shape = (sizes.layers, sizes.rows, sizes.heads, self.window, sizes.head_size)
        self.keys, self.values = zeros(sizes, *shape), zeros(sizes, *shape)
        self._first = torch.zeros_like(self._lengths)  # oldest position of each row that is still here

    @property
    def allocated_bytes(self) -> int:
        """2 L B G window D s."""
        return self.sizes.token_bytes * self.sizes.rows * self.window

    def held(self) -> Tensor:
        """Return the position that each slot holds, -1 if none, (B, window) on the CPU.

        Example:
            >>> WindowCache(CacheSizes(layers=1, rows=1, heads=1, head_size=1), window=3).held().tolist()
            [[-1, -1, -1]]
        """
        last = self._lengths[:, None] - 1
        latest = last - (last - torch.arange(self.window)) % self.window  # at most `last`, in this slot
        return latest.masked_fill(latest < self._first[:, None], -1)

    def _kept(self, lengths: Tensor) -> Tensor:
        return lengths - self._first

    def _step_of(self, new: NewTokens, owner: str) -> StoredStep:
        return SingleStep(self, new, owner) if new.T == 1 else WindowStep(self, new, owner)

    def _check_truncation(self, lengths: Tensor) -> None:
        oldest = (lengths - self.window + 1).clamp(min=0)  # that the next query will read
        for row, (stay, needed, first) in enumerate(
            zip(lengths.tolist(), oldest.tolist(), self._first.tolist(), strict=True)
        ):
            if needed < min(first, stay):
                raise ValueError(
                    f"lengths of row {row}: {stay} tokens need positions from {needed} on in a window of {self.window}, "
                    f"the oldest that is kept is {first}: reset the row and read it anew"
                )

    def _drop(self, lengths: Tensor) -> None:
        first = torch.minimum(self._first, lengths)
        for row, (start, stop) in enumerate(
            zip(torch.maximum(self._first, lengths).tolist(), self._lengths.tolist(), strict=True)
        ):
            slots = torch.arange(start, stop, device=self.device) % self.window
            for part in (self.keys, self.values):
                part[:, row, :, slots] = 0
        self._first = first

    def _wipe(self) -> None:
        for part in (self.keys, self.values):
            part.zero_()
        self._first = torch.zeros_like(self._lengths)


class SingleStep(StoredStep):
    """A step of at most one token per row, which is written at once and taken back if the step is aborted."""

    cache: WindowCache

    def __init__(self, cache: WindowCache, new: NewTokens, owner: str) -> None:
        super().__init__(cache, new, owner)
        window, S = cache.window, min(cache.window, new.longest)
        self._lengths = self.lengths.clamp(max=window)
        self._mask = None if new.even else mask_of_lengths(self._lengths, S)
        self._keys, self._values = (part[:, :, :, :S].unbind() for part in (cache.keys, cache.values))
        self._slot = (new.longest - 1) % window  # if rows are even
        self._replaced: dict[int, tuple[Tensor, Tensor]] = {}

    def _write(self, layer: int, k: Tensor, v: Tensor) -> None:
        """As `StoredStep`; a second attempt, after one that failed half way, must not take its rest for what was replaced."""
        rings = self._keys[layer], self._values[layer]
        if self.new.even:
            slots = [ring[:, :, self._slot : self._slot + 1] for ring in rings]
            self._replaced.setdefault(layer, (slots[0].clone(), slots[1].clone()))
            for slot, part in zip(slots, (k, v), strict=True):
                slot.copy_(part)
        else:
            at = self._at()
            self._replaced.setdefault(layer, (rings[0][at], rings[1][at]))
            for ring, part in zip(rings, (k, v), strict=True):
                ring[at] = self.new.tokens_of(part)

    def _at(self) -> tuple[Tensor, slice, Tensor]:
        """Return where the token of each row that has one lies."""
        return self.new.where[0], slice(None), self.new.places % self.cache.window

    def _read(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        return Seen(self._keys[layer], self._values[layer], self._mask, lengths=self._lengths)

    def _keep(self) -> None:
        self.cache._first = torch.maximum(self.cache._first, self.new.after - self.cache.window)

    def _clear(self) -> None:
        for layer, parts in self._replaced.items():
            for ring, part in zip((self._keys[layer], self._values[layer]), parts, strict=True):
                if self.new.even:
                    ring[:, :, self._slot : self._slot + 1].copy_(part)
                else:
                    ring[self._at()] = part


class WindowStep(StoredStep):
    """A step whose tokens wait until they are committed."""

    cache: WindowCache

    def __init__(self, cache: WindowCache, new: NewTokens, owner: str) -> None:
        super().__init__(cache, new, owner)
        window = cache.window
        rows, columns = new.where
        stays = new.places >= self.lengths[rows] - window
        self._rows, self._columns = rows[stays], columns[stays]
        self._slots = new.places[stays] % window
        self._waiting: dict[int, tuple[Tensor, Tensor]] = {}
        self._mask: tuple[Tensor | None, bool]
        if new.even:
            first = int(new.before[0])
            self._start = max(0, first - window + 1)
            self._mask = mask_of_run(new, self._start, first + new.T - self._start, window)
        else:
            held = cache.held().to(cache.device)
            held = torch.cat([held, new.positions.masked_fill(~new.real, -1)], dim=1)
            self._mask = mask_of_slots(new.positions, new.real, held, window), False

    def _write(self, layer: int, k: Tensor, v: Tensor) -> None:
        self._waiting[layer] = k[self._rows, :, self._columns], v[self._rows, :, self._columns]

    def _read(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        read = self._run if self.new.even else self._all
        return Seen(read(self.cache.keys[layer], k), read(self.cache.values[layer], v), *self._mask)

    def _run(self, ring: Tensor, part: Tensor) -> Tensor:
        """Return what the step reads in order of positions; all rows are alike."""
        count = int(self.new.before[0]) - self._start  # old tokens, less than the window
        at = self._start % self.cache.window
        return torch.cat(
            [ring[:, :, at : at + count], ring[:, :, : max(0, at + count - ring.shape[2])], part], 2
        )

    def _all(self, ring: Tensor, part: Tensor) -> Tensor:
        """Return the whole ring and the step behind it, nothing of which is at padding."""
        return torch.cat([ring, part.masked_fill(~self.new.real[:, None, :, None], 0)], dim=2)

    def _keep(self) -> None:
        for layer, parts in self._waiting.items():
            for ring, part in zip((self.cache.keys, self.cache.values), parts, strict=True):
                ring[layer][self._rows, :, self._slots] = part
        self.cache._first = torch.maximum(self.cache._first, self.new.after - self.cache.window)
