"""Every kind of cache under one set of tests, a naive model of what it must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, KVCache, Seen, Step
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache
from onesentence.cache.window import WindowCache


@dataclass(frozen=True)
class Kind:
    """A cache under test, and what is to be known of it from outside.

    Attributes:
        make: returns an empty one.
        window: tokens that a query reads.
        room: whether rows of such lengths fit.
        allocated: bytes for sizes, None where they change.
    """

    make: Callable[[CacheSizes], KVCache]
    window: int | None = None
    room: Callable[[list[int]], bool] = lambda lengths: True
    allocated: Callable[[CacheSizes], int] | None = None

    def history(self, sizes: CacheSizes) -> History:
        """Return an empty model of it."""
        return History(sizes, self.window)


def paged(pages: int, size: int) -> Kind:
    return Kind(
        lambda sizes: PagedCache(sizes, pages, size),
        room=lambda lengths: sum(-(-length // size) for length in lengths) <= pages,
        allocated=lambda s: 2 * s.layers * pages * s.heads * size * s.head_size * s.dtype.itemsize,
    )


def windowed(window: int) -> Kind:
    return Kind(
        lambda sizes: WindowCache(sizes, window),
        window=window,
        allocated=lambda s: 2 * s.layers * s.rows * s.heads * window * s.head_size * s.dtype.itemsize,
    )


KINDS = {
    "contiguous": Kind(
        lambda sizes: ContiguousCache(sizes, 12),
        room=lambda lengths: max(lengths) <= 12,
        allocated=lambda s: 2 * s.layers * s.rows * s.heads * 12 * s.head_size * s.dtype.itemsize,
    ),
    "growing": Kind(GrowingCache),
    "window 1": windowed(1),
    "window 3": windowed(3),
    "window 16": windowed(16),
    "paged 1": paged(20, 1),
    "paged 4": paged(7, 4),
}
"""Small enough for steps to be refused."""


@dataclass
class History:
    """All that was ever committed, token by token: the model that caches are held against.

    Attributes:
        sizes: of the cache.
        window: tokens that a query reads.
        keys: of each layer and row, a list of (G, D).
        values: likewise.
        oldest: position of each row from which on a cache must still know.
        owner: of what is there.
    """

    sizes: CacheSizes
    window: int | None = None
    keys: list[list[list[Tensor]]] = field(init=False)
    values: list[list[list[Tensor]]] = field(init=False)
    oldest: list[int] = field(init=False)
    owner: str | None = None

    def __post_init__(self) -> None:
        empty: list[list[list[Tensor]]] = [
            [[] for _ in range(self.sizes.rows)] for _ in range(self.sizes.layers)
        ]
        self.keys, self.values = empty, [[list(row) for row in layer] for layer in empty]
        self.oldest = [0] * self.sizes.rows

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.keys[0]]

    def with_step(self, layer: int, row: int, real: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of a row, those of a step among them, (n, G, D)."""
        new = [t for t in range(real.shape[1]) if real[row, t]]
        keys = self.keys[layer][row] + [k[row, :, t] for t in new]
        values = self.values[layer][row] + [v[row, :, t] for t in new]
        none = torch.zeros(0, self.sizes.heads, self.sizes.head_size, dtype=self.sizes.dtype)
        return (torch.stack(keys), torch.stack(values)) if keys else (none, none)

    def commit(self, real: Tensor, parts: dict[int, tuple[Tensor, Tensor]], owner: str) -> None:
        for layer, (k, v) in parts.items():
            for row in range(self.sizes.rows):
                keys, values = self.with_step(layer, row, real, k, v)
                self.keys[layer][row], self.values[layer][row] = list(keys), list(values)
        if self.window is not None:
            self.oldest = [max(o, n - self.window) for o, n in zip(self.oldest, self.lengths, strict=True)]
        self.owner = owner if sum(self.lengths) else None

    def can_truncate(self, lengths: list[int]) -> bool:
        """Whether the next query of each row would find all that it reads."""
        if self.window is None:
            return True
        return all(
            all(position >= oldest for position in range(max(0, n - self.window + 1), n))
            for n, oldest in zip(lengths, self.oldest, strict=True)
        )

    def truncate(self, lengths: list[int]) -> None:
        for part in (self.keys, self.values):
            for layer in part:
                for row, n in enumerate(lengths):
                    del layer[row][n:]
        self.oldest = [min(o, n) for o, n in zip(self.oldest, lengths, strict=True)]
        self.owner = self.owner if sum(lengths) else None

    def expected(
        self, layer: int, row: int, position: int, real: Tensor, k: Tensor, v: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what a query at a position of a row reads, (n, G, D) each."""
        first = 0 if self.window is None else max(0, position - self.window + 1)
        keys, values = self.with_step(layer, row, real, k, v)
        return keys[first : position + 1], values[first : position + 1]

    def check(self, seen: Seen, layer: int, step: Step, k: Tensor, v: Tensor) -> None:
        """Hold what a step may read against all that was ever committed, bit by bit, and no NaN beside it."""
        assert seen.k.isfinite().all()
        assert seen.v.isfinite().all()
        may = visible(seen, step.real.shape[1])
        assert may.any(dim=-1).all(), "a query without anything to read"
        for row, column in step.real.nonzero().tolist():
            at = may[row, column]
            found = sorted_slots(seen.k[row][:, at].transpose(0, 1), seen.v[row][:, at].transpose(0, 1))
            position = int(step.positions[row, column])
            assert found == sorted_slots(*self.expected(layer, row, position, step.real, k, v))


def visible(seen: Seen, T: int) -> Tensor:
    """Return which slot each query may read, (B, T, S)."""
    B, _, S, _ = seen.k.shape
    if seen.causal:
        assert seen.mask is None
        assert S == T
        return torch.ones(T, S, dtype=torch.bool).tril().expand(B, T, S)
    return torch.ones(B, T, S, dtype=torch.bool) if seen.mask is None else seen.mask.expand(B, 1, T, S)[:, 0]


def sorted_slots(keys: Tensor, values: Tensor) -> list[list[float]]:
    """Return slots in an order of their own: caches may read them in any."""
    return sorted(torch.cat([keys.flatten(1), values.flatten(1)], dim=1).tolist())


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of cache in turn."""
    return KINDS[request.param]


@pytest.fixture
def drawn() -> Callable[[CacheSizes, Tensor, int], tuple[Tensor, Tensor]]:
    """Return what draws keys and values of a step from a seed, NaN at padding."""

    def draw(sizes: CacheSizes, real: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        shape = (2, sizes.rows, sizes.heads, real.shape[1], sizes.head_size)
        parts = torch.randn(shape, generator=generator, dtype=torch.float64).to(sizes.dtype)
        k, v = parts.masked_fill(~real[:, None, :, None], torch.nan)
        return k, v

    return draw


@pytest.fixture
def fill(drawn: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., list[Seen]]:
    """Return what takes a cache through one step of all layers and commits it, keys and values drawn."""

    def run(cache: KVCache, real: list[list[int]], owner: str = "model a", seed: int = 0) -> list[Seen]:
        tokens = torch.tensor(real, dtype=torch.bool)
        step = cache.open(tokens, owner)
        seen = [
            step.put(layer, *drawn(cache.sizes, tokens, 100 * seed + layer))
            for layer in range(cache.sizes.layers)
        ]
        step.commit()
        return seen

    return run
