"""What every cache does alike: refusing what does not fit, one open step at a time, lengths and owner.

A cache of its own says how it stores by two classes:

    StoredCache     `_check_room`: ValueError where there is none; `_step_of`: a step; `_drop`: tokens that go after a
                    truncation; `_wipe`: everything; `allocated_bytes`; `_kept`, where it keeps fewer tokens than it has
                    read
    StoredStep      `_write`: keys and values of one layer, out of sight; `_read`: what queries may read;
                    `_keep`: makes them part of the cache; `_clear`: undoes what an aborted step has left in slots

Symbols as in `cache.base`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, KVCache, Seen, Step
from onesentence.cache.new_tokens import NewTokens, new_tokens
from onesentence.checks import checked_integer


def zeros(sizes: CacheSizes, *shape: int) -> Tensor:
    """Return memory for keys or values that may be written to from anywhere, filled with 0.

    Made under `torch.inference_mode`, it could not be written to outside.

    Example:
        >>> with torch.inference_mode():
        ...     zeros(CacheSizes(1, 1, 1, 2), 1, 2).is_inference()
        False
    """
    with torch.inference_mode(mode=False):
        return torch.zeros(shape, dtype=sizes.dtype, device=sizes.device)


class StoredCache(KVCache):
    """A cache without its storage.

    Args:
        sizes: what it is made for.
    """

    def __init__(self, sizes: CacheSizes) -> None:
        if not isinstance(sizes, CacheSizes):
            raise TypeError(f"sizes must be CacheSizes, got {type(sizes).__name__}")
        self.sizes = sizes
        self.device = zeros(sizes, 0).device  # "cuda" has a number now
        self._lengths = torch.zeros(sizes.rows, dtype=torch.int64)
        self._owner: str | None = None
        self._changes = 0
        self._step: StoredStep | None = None

    @property
    def lengths(self) -> Tensor:
        """As `KVCache` says."""
        return self._lengths.clone()

    @property
    def owner(self) -> str | None:
        """As `KVCache` says."""
        return self._owner

    @property
    def changes(self) -> int:
        """As `KVCache` says."""
        return self._changes

    @property
    def payload_bytes(self) -> int:
        """As `KVCache` says."""
        return self.sizes.token_bytes * int(self._kept(self._lengths).sum())

    def check_room(self, lengths: Tensor) -> None:
        """As `KVCache` says."""
        asked = self._checked_lengths(lengths)
        if int(asked.min()) < 0:
            raise ValueError(f"lengths must be at least 0, got {int(asked.min())}")
        self._check_room(asked)

    def open(self, real: Tensor, owner: str) -> StoredStep:
        """As `KVCache` says."""
        self._check_real(real)
        if not isinstance(owner, str):
            raise TypeError(f"owner must be a string, got {owner!r}")
        if not owner:
            raise ValueError("owner must not be empty")
        if self._owner not in (None, owner):
            raise ValueError(f"owner must be {self._owner!r}, whose keys and values are here, got {owner!r}")
        new = new_tokens(self._lengths, real, self.device)
        self._check_room(new.after)
        step = self._step_of(new, owner)
        self._overtake()
        self._step = step
        return step

    def truncate(self, lengths: Tensor) -> None:
        """As `KVCache` says."""
        stay = self._checked_lengths(lengths)
        for row, (asked, length) in enumerate(zip(stay.tolist(), self._lengths.tolist(), strict=True)):
            if not 0 <= asked <= length:
                raise ValueError(f"lengths of row {row} must lie in [0, {length}], got {asked}")
        self._check_truncation(stay)
        self._overtake()
        with self._changing():
            self._drop(stay)
            self._set(stay, self._owner)

    def reset(self, row: int) -> None:
        """As `KVCache` says."""
        row = checked_integer("row", row, 0)
        if row >= self.sizes.rows:
            raise ValueError(f"row must be less than {self.sizes.rows}, got {row}")
        stay = self._lengths.clone()
        stay[row] = 0
        self.truncate(stay)

    def _set(self, lengths: Tensor, owner: str | None) -> None:
        """Take new lengths, with nobody as owner of nothing and no step open, all at once: nothing can come in between."""
        owner = owner if any(lengths.tolist()) else None
        self._lengths, self._owner, self._step, self._changes = lengths, owner, None, self._changes + 1

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Empty the cache if what is done to it ends half way, so that nobody reads one text by another's lengths."""
        try:
            yield
        except BaseException:
            self._wipe()
            self._set(torch.zeros_like(self._lengths), None)
            raise

    def _overtake(self) -> None:
        """Refuse the open step from now on and undo what it left."""
        if self._step is not None:
            self._step._clear()
        self._step = None

    def _check_real(self, real: Tensor) -> None:
        if not isinstance(real, Tensor) or real.dtype != torch.bool:
            kind = getattr(real, "dtype", type(real).__name__)
            raise TypeError(f"real must be a boolean tensor (True = a token), got {kind}")
        if real.ndim != 2 or real.shape[0] != self.sizes.rows or not real.shape[1]:
            raise ValueError(
                f"real must have shape ({self.sizes.rows}, T), T at least 1, as many rows as the cache has, "
                f"got {tuple(real.shape)}"
            )

    def _checked_lengths(self, lengths: Tensor) -> Tensor:
        """Return a copy on the CPU, (B,) int64."""
        if not isinstance(lengths, Tensor) or lengths.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"lengths must be int32 or int64, got {getattr(lengths, 'dtype', lengths)}")
        if tuple(lengths.shape) != (self.sizes.rows,):
            raise ValueError(f"lengths must have shape ({self.sizes.rows},), got {tuple(lengths.shape)}")
        return lengths.detach().to("cpu", torch.int64, copy=True)

    def _check_room(self, lengths: Tensor) -> None:
        """Refuse rows of such lengths; a cache without a limit has nothing to refuse."""

    def _kept(self, lengths: Tensor) -> Tensor:
        """Return how many tokens are kept of rows that have read so many."""
        return lengths

    def _check_truncation(self, lengths: Tensor) -> None:
        """Refuse lengths that name tokens that are no longer here; a cache that keeps all has nothing to refuse."""

    @abstractmethod
    def _step_of(self, new: NewTokens, owner: str) -> StoredStep:
        """Return a step, for which there is room. What is visible must stay as it is."""

    @abstractmethod
    def _drop(self, lengths: Tensor) -> None:
        """Give up what stands from `lengths` on, up to the present lengths."""

    @abstractmethod
    def _wipe(self) -> None:
        """Be as at the start, whatever state has been left."""


class StoredStep(Step):
    """A step without its storage.

    Args:
        cache: that is written to.
        new: tokens of the step.
        owner: fingerprint of the parameters.
    """

    def __init__(self, cache: StoredCache, new: NewTokens, owner: str) -> None:
        self.cache, self.new = cache, new
        self.positions, self.real = new.positions, new.real
        self.lengths, self.longest = new.after.to(cache.device), new.longest
        self._single = self.lengths if new.T == 1 else None  # what `Seen.lengths` says of slots in order
        self._shape = (cache.sizes.rows, cache.sizes.heads, new.T, cache.sizes.head_size)
        self._owner = owner
        self._layers: set[int] = set()
        self._over = False

    def put(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        """As `Step` says."""
        self._take(layer, k, v)
        return self._read(layer, k, v)

    def commit(self) -> None:
        """As `Step` says."""
        self._check_open()
        missing = sorted(set(range(self.cache.sizes.layers)) - self._layers)
        if missing:
            raise ValueError(f"commit needs every layer, {', '.join(map(str, missing))} not put")
        with self.cache._changing():
            self._keep()
            self.cache._set(self.new.after, self._owner)
        self._over = True

    def _take(self, layer: int, k: Tensor, v: Tensor) -> None:
        """Check keys and values of a layer and write them."""
        self._check_open()
        layers = self.cache.sizes.layers
        if checked_integer("layer", layer, 0) >= layers:
            raise ValueError(f"layer must be less than {layers}, got {layer}")
        if layer in self._layers:
            raise ValueError(f"layer must not have been put in this step, {layer} has")
        for name, part in (("k", k), ("v", v)):
            self._check_part(name, part)
        self._write(layer, k, v)
        self._layers.add(layer)

    def _check_open(self) -> None:
        if self._over:
            raise ValueError("step is over: it has been committed")
        if self.cache._step is not self:
            raise ValueError("step has been overtaken: the cache was opened, truncated or reset after it")

    def _check_part(self, name: str, part: Tensor) -> None:
        sizes = self.cache.sizes
        if part.dtype != sizes.dtype:
            raise TypeError(f"{name} must have the dtype of the cache, {sizes.dtype}, got {part.dtype}")
        if part.shape != self._shape:
            raise ValueError(f"{name} must have shape (B, G, T, D) = {self._shape}, got {tuple(part.shape)}")
        if part.device != self.cache.device:
            raise ValueError(f"{name} must lie on {self.cache.device}, got {part.device}")
        if part.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} must not require gradients, which do not flow through a cache: use torch.no_grad()"
            )

    @abstractmethod
    def _write(self, layer: int, k: Tensor, v: Tensor) -> None:
        """Store keys and values out of sight."""

    @abstractmethod
    def _read(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        """Return what the queries may read in a layer that has been written."""

    def _keep(self) -> None:
        """Make what was written part of the cache; nothing to do where lengths say it all."""

    def _clear(self) -> None:
        """Undo what was written; nothing to do where nobody would meet it."""
