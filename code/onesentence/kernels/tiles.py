"""How tiled attention walks through its score table: which heads, queries and keys one tile holds.

A tile is a rectangle of scores that fits into the processor's cache: a block of queries against a block of keys, for one or
several key heads at once. Queries of all heads that share a key head are rows of one tile, so keys and values are read as
they lie, never repeated. Tiles that a causal read closes, or that hold padding only, are not visited, and only those that
a mask cuts through are masked.

Symbols as in `kernels.sizes`; `n` key heads of one round, `R` rows of a tile, the block's queries of every head of a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

import torch
from torch import Tensor

from onesentence.checks import checked_integer
from onesentence.kernels.sizes import Sizes, spans

_SUMS = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}


def dtype_of_sums(dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that scores, weights and sums are computed in: float32 for half precision, else `dtype` itself.

    Raises:
        TypeError: if it is none of float16, bfloat16, float32, float64.
    """
    if dtype not in _SUMS:
        raise TypeError(f"q must hold float16, bfloat16, float32 or float64, got {dtype}")
    return _SUMS[dtype]


def weights_of(scores: Tensor, top: Tensor) -> Tensor:
    """Turn scores into exp(scores - top), in place; what would be below e^-70, in float64 e^-700, becomes 0.

    That much is no part of any sum that holds a 1. It is cut off because scores of a trained model go far lower, where
    PyTorch's `exp` on the CPU takes up to a hundred times longer, and products of numbers below 2^-126 ten times.

    Args:
        scores: -inf where nothing may be read, (n, R, columns).
        top: anything but -inf, (n, R, 1).

    Example:
        >>> weights_of(torch.tensor([[[3.0, 1.0, -80.0, -torch.inf]]]), torch.tensor([[[3.0]]]))
        tensor([[[1.0000, 0.1353, 0.0000, 0.0000]]])
    """
    least = -700.0 if scores.dtype == torch.float64 else -70.0
    weights = scores.sub_(top).clamp_(min=least).exp_()
    return torch.threshold_(weights, exp(least + 0.01), 0.0)


def by_group(part: Tensor, sizes: Sizes) -> Tensor:
    """Return (B, H, ...) as (B, G, group, ...): a view, whatever its strides."""
    return part.view(sizes.B, sizes.G, sizes.group, *part.shape[2:])


@dataclass(frozen=True)
class Blocks:
    """Size of a tile.

    Short reads do not fill it: then a tile holds several heads, as many as have room. The largest default takes half a
    megabyte in float32, so that backward's two lie in a second-level cache of 2 MB; fewer queries were slower, and among 256
    or 512 queries by 256 to 1024 keys no size was faster by more than the noise of the measurement.

    Attributes:
        queries: R at most; with grouped queries `queries // group` of each head, one at least.
        keys: columns.

    Raises:
        TypeError: if a size is not an integer.
        ValueError: if one is less than 1.
    """

    queries: int = 256
    keys: int = 512

    def __post_init__(self) -> None:
        for name in ("queries", "keys"):
            checked_integer(name, getattr(self, name), 1)

    @classmethod
    def of(cls, T: int) -> Blocks:
        """Return the default for T queries: fewer in a tile of a short read, as in PyTorch's own attention.

        Gradients of keys and values are summed over the queries of a tile at once: over more numbers than PyTorch sums, they
        would lose more than twice as much in float32. In a long read that goes under in the sum over tiles.

        Example:
            >>> [Blocks.of(T).queries for T in (65, 512, 4096)]
            [32, 128, 256]
        """
        return cls(32 if T < 320 else 128 if T < 768 else 256)

    def rows(self, sizes: Sizes) -> int:
        """Return how many queries of one head a tile holds."""
        return min(max(1, self.queries // sizes.group), sizes.T)

    def heads(self, sizes: Sizes) -> int:
        """Return how many key heads a tile holds."""
        one = sizes.group * self.rows(sizes) * min(self.keys, sizes.S)
        return min(max(1, self.queries * self.keys // one), sizes.B * sizes.G)

    def buffer(self, sizes: Sizes, like: Tensor) -> Tensor:
        """Return room for the scores of one tile, flat, in the dtype of sums."""
        room = self.heads(sizes) * sizes.group * self.rows(sizes) * min(self.keys, sizes.S)
        return torch.empty(room, dtype=dtype_of_sums(like.dtype), device=like.device)


@dataclass(frozen=True)
class Round:
    """Key heads that are worked on together: all of some rows of the batch, or some of one row.

    Attributes:
        batch: rows of the batch.
        heads: key heads.
    """

    batch: slice
    heads: slice

    def keys(self, part: Tensor, dtype: torch.dtype) -> Tensor:
        """Return this round's part of (B, G, S, D) as (n, S, D); copied only where strides or dtype ask for it."""
        return part[self.batch, self.heads].flatten(0, 1).to(dtype)

    def queries(self, part: Tensor, queries: slice, dtype: torch.dtype) -> Tensor:
        """Return a block of queries of (B, G, group, T, D), or (B, G, group, T), as (n, R, D), or (n, R)."""
        return part[self.batch, self.heads, :, queries].to(dtype).flatten(2, 3).flatten(0, 1)

    def put_queries(self, whole: Tensor, queries: slice, part: Tensor) -> None:
        """Write what `queries` reads."""
        place = whole[self.batch, self.heads, :, queries]
        place.copy_(part.view(place.shape))

    def real(self, real: Tensor | None) -> Tensor | None:
        """Return which keys count, (n, S), of (B, S)."""
        heads = self.heads.stop - self.heads.start
        return None if real is None else real[self.batch].repeat_interleave(heads, dim=0)


def rounds(sizes: Sizes, heads: int) -> Iterator[Round]:
    """Yield rounds of at most `heads` key heads that together are all of them.

    Example:
        >>> [(r.batch.start, r.heads.start, r.heads.stop) for r in rounds(Sizes(2, 3, 3, 1, 1, 1), 2)]
        [(0, 0, 2), (0, 2, 3), (1, 0, 2), (1, 2, 3)]
    """
    together = max(1, heads // sizes.G)
    for batch in spans(sizes.B, together):
        for some in spans(sizes.G, heads):
            yield Round(batch, some)


@dataclass(frozen=True)
class Tile:
    """Keys that a block of queries meets next.

    Attributes:
        keys: columns of the tile.
        biases: what to add to the scores of its last columns, 0 or -inf where a query may not read, each broadcastable to
            (n, group, queries, columns); none where all of the tile is open.
    """

    keys: slice
    biases: tuple[Tensor, ...] = ()

    def room(self, buffer: Tensor, n: int, R: int) -> Tensor:
        """Return room for this tile's scores, (n, R, columns), out of a flat buffer."""
        columns = self.keys.stop - self.keys.start
        return buffer[: n * R * columns].view(n, R, columns)

    def close(self, scores: Tensor, group: int) -> None:
        """Set scores (n, R, columns) that may not be read to -inf."""
        n, R, columns = scores.shape
        for bias in self.biases:
            scores.view(n, group, R // group, columns)[..., -bias.shape[-1] :].add_(bias)


class TileWalk:
    """The tiles that one round visits, block of queries by block of queries.

    Args:
        sizes: of the read.
        blocks: size of a tile.
        causal: a query reads keys up to its own place.
        real: True at keys that count, (n, S), or None.
        like: a tensor on the device and in the dtype of the scores.
    """

    def __init__(
        self, sizes: Sizes, blocks: Blocks, *, causal: bool, real: Tensor | None, like: Tensor
    ) -> None:
        self._sizes, self._causal = sizes, causal
        self._blocks = [(block, *_some_and_all(real, block)) for block in spans(sizes.S, blocks.keys)]
        if real is not None:
            self._padding = like.new_zeros(real.shape).masked_fill_(~real, -torch.inf)[:, None, None]
        rows = blocks.rows(sizes)
        # of the keys behind the first query's own: the block's query i may not read the i-th and later ones
        self._later = like.new_full((rows, rows - 1), -torch.inf).triu_() if causal else None

    def of(self, queries: slice) -> Iterator[Tile]:
        """Yield the tiles that some query of a block may read from."""
        first, last = queries.start + self._sizes.shift + 1, queries.stop + self._sizes.shift
        for block, some, every in self._blocks:
            keys = slice(block.start, min(block.stop, last) if self._causal else block.stop)
            if keys.stop <= keys.start:
                return
            if not some:
                continue
            biases = [] if every else [self._padding[..., keys]]
            if self._later is not None and keys.stop > first:
                rows = queries.stop - queries.start
                biases.append(self._later[:rows, max(keys.start - first, 0) : keys.stop - first])
            yield Tile(keys, tuple(biases))


def _some_and_all(real: Tensor | None, block: slice) -> tuple[bool, bool]:
    """Return whether any key of a block counts in any row, and whether every one does in all rows."""
    if real is None:
        return True, True
    part = real[:, block]
    return bool(part.any()), bool(part.all())
