"""What every cache of keys and values promises, and how a model writes into one.

A cache holds, for each layer and each row of a batch, keys and values of the tokens that the row has read: (G, D) each,
token after token, padding left out. The place of a token in its row is its position, so a batch padded on the left, on the
right or in between, and rows of different lengths, are one case.

One forward pass over T new tokens is a `Step`:

    step = cache.open(real, owner)       real (B, T), True at tokens; refuses what does not fit, before anything is written
    step.positions                       (B, T): what RoPE turns the new queries and keys by
    seen = step.put(layer, k, v)         every layer once, in any order; what the new queries may read, themselves among it
    step.commit()                        only now do `lengths` grow

A pass that fails on its way commits nothing: the cache is as before, and the next `open` starts there again. One step is
open at a time: `open`, `truncate` and `reset` overtake the step before, which then takes nothing more. What ends `commit`,
`truncate` or `reset` half way, an interruption or want of memory, leaves the cache empty. One thread at a time. `owner` is the
fingerprint of the parameters that computed keys and values: the first step that is committed writes it into the cache, a
later one with another is refused. No gradient flows through a cache: keys and values that require one are refused where
gradients are recorded, because detaching them would train on wrong gradients without a word.

`stepping` holds what every cache does alike, `new_tokens` positions and masks; the other modules say only how they store.
Symbols: `B` rows, `T` new tokens, `S` slots that are read, `G` key heads, `D` head size, `L` layers. Sections 7.1 to 7.4 of
the course.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from onesentence.checks import checked_integer


@dataclass(frozen=True)
class CacheSizes:
    """What a cache is made for.

    Attributes:
        layers: L.
        rows: B.
        heads: G, key heads.
        head_size: D.
        dtype: of keys and values.
        device: where they lie, as PyTorch names it.

    Raises:
        TypeError: if a size is not an integer or `dtype` no floating-point dtype.
        ValueError: if a size is less than 1 or PyTorch knows no such device.

    Example:
        >>> CacheSizes(layers=2, rows=1, heads=8, head_size=64, dtype=torch.bfloat16).token_bytes
        4096
    """

    layers: int
    rows: int
    heads: int
    head_size: int
    dtype: torch.dtype = torch.float32
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("layers", "rows", "heads", "head_size"):
            checked_integer(name, getattr(self, name), 1)
        if not isinstance(self.dtype, torch.dtype) or not self.dtype.is_floating_point:
            raise TypeError(f"dtype must be a floating-point dtype of torch, got {self.dtype}")
        try:
            torch.device(self.device)
        except RuntimeError as error:
            raise ValueError(f"device must be one that torch knows, got {self.device!r}") from error

    @property
    def token_bytes(self) -> int:
        """Bytes that keys and values of one token of one row take, all layers together: 2 L G D s."""
        return 2 * self.layers * self.heads * self.head_size * self.dtype.itemsize


@dataclass(frozen=True, eq=False)
class Pages:
    """Keys and values of one layer where a paged cache keeps them; the memory itself, not to be written to.

    Attributes:
        k: (N, G, P, D). Past the length of a row its last page holds anything, NaN perhaps.
        v: (N, G, P, D).
        table: pages of each row in the order of its tokens, (B, M) int32; -1 where there is none.
    """

    k: Tensor
    v: Tensor
    table: Tensor


@dataclass(frozen=True, eq=False)
class Seen:
    """What the queries of one step may read in one layer; to be read before the cache is written to again.

    Attributes:
        k: (B, G, S, D); may be a view of the cache's own memory, or a copy that is made when it is asked for. Slots that hold
            no token of a row hold 0.
        v: (B, G, S, D).
        mask: `True = may read`, broadcastable to (B, 1, T, S); None if every query may read every slot. The query of a
            padding reads something, too, so that no row of it is empty.
        causal: instead of a mask: query i reads slots 0 to i. Only where S = T, so that it means the same to those who align
            queries to the start of the keys, as PyTorch does, and to those who align them to the end.
        lengths: of a step with one column, for kernels without masks: the token of row b reads slots 0 to lengths[b] - 1,
            just those that the mask lets through, (B,) int64; what a row without a token reads is of no account. Else None.
        pages: where k and v come from, for kernels that follow a table to the first `lengths` tokens of each row; None unless
            the cache is paged and the step has one column.
    """

    k: Tensor
    v: Tensor
    mask: Tensor | None = None
    causal: bool = False
    lengths: Tensor | None = None
    pages: Pages | None = None


class Step(ABC):
    """One pass over new tokens, of `KVCache.open`.

    Attributes:
        positions: place of each new token in its row, (B, T) int64 on the cache's device; 0 at padding, which nobody reads.
        real: True at tokens, (B, T), on the cache's device.
        lengths: tokens of each row, those of the step among them, (B,) int64 on the cache's device.
        longest: the largest of them, or 1; no position is larger or equal. Known without waiting for a device.
    """

    positions: Tensor
    real: Tensor
    lengths: Tensor
    longest: int

    @abstractmethod
    def put(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        """Hand over keys and values of the new tokens and get what their queries may read.

        Args:
            layer: from 0; each once.
            k: (B, G, T, D), turned by their positions where the model does so; what stands at padding is not looked at.
            v: (B, G, T, D).

        Raises:
            TypeError: if `layer` is not an integer or a dtype differs from the cache's.
            ValueError: if there is no such layer, it has been put already, a shape or device does not fit, a gradient is
                required while gradients are recorded, or the step is over or has been overtaken.
        """

    @abstractmethod
    def commit(self) -> None:
        """Make the new tokens part of the cache.

        Raises:
            ValueError: if a layer has not been put, or the step is over or overtaken.
        """


class KVCache(ABC):
    """Keys and values of the tokens read so far, layer by layer.

    Attributes:
        sizes: what it is made for.
        window: number of latest tokens that a query reads, itself among them; None means all.
    """

    sizes: CacheSizes
    window: int | None = None

    @property
    @abstractmethod
    def lengths(self) -> Tensor:
        """Tokens that each row has read, (B,) int64 on the CPU: the position of its next token. A copy."""

    @property
    @abstractmethod
    def owner(self) -> str | None:
        """Fingerprint of the parameters that filled it; None while it is empty."""

    @property
    @abstractmethod
    def changes(self) -> int:
        """Number that grows whenever a step is committed or tokens are taken back: two equal ones mean the same tokens."""

    @abstractmethod
    def check_room(self, lengths: Tensor) -> None:
        """Refuse what would not fit, whatever is here now: an edit truncates before it reads, and asks before both.

        Args:
            lengths: tokens that each row is to hold, (B,), from 0.

        Raises:
            TypeError: if they are not integers.
            ValueError: if they have another shape, one is negative, or there is no room for so many.
        """

    @abstractmethod
    def open(self, real: Tensor, owner: str) -> Step:
        """Start a pass over new tokens.

        Args:
            real: True at tokens, False at padding, (B, T). A row may have none. On the CPU it saves a wait for the device.
            owner: fingerprint of the parameters that will compute keys and values, not empty.

        Raises:
            TypeError: if `real` is not boolean or `owner` no string.
            ValueError: if `real` has another number of rows or no column, if the cache has no room for so many tokens, or
                other parameters filled it. The cache stays as it was, and so does a step that is open.
        """

    @abstractmethod
    def truncate(self, lengths: Tensor) -> None:
        """Forget the tokens of each row from a place on, after an edit.

        Args:
            lengths: tokens that stay, (B,), each from 0 to the row's length.

        Raises:
            TypeError: if they are not integers.
            ValueError: if they have another shape, are out of range, or name tokens that the cache no longer has. The
                cache stays as it was.
        """

    @abstractmethod
    def reset(self, row: int) -> None:
        """Empty one row for another sequence; the others stay as they are.

        Args:
            row: from 0.

        Raises:
            TypeError: if it is not an integer.
            ValueError: if there is no such row.
        """

    @property
    @abstractmethod
    def allocated_bytes(self) -> int:
        """Bytes of memory that keys and values occupy between steps, whether filled or not."""

    @property
    @abstractmethod
    def payload_bytes(self) -> int:
        """Bytes of keys and values that it holds: `sizes.token_bytes` for each token that is kept."""
