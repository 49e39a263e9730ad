"""A cache whose memory is a pool of pages that rows take as they grow, and a table that says which page is whose.

    keys, values (L, N, G, P, D)      table (B, M) int32, -1 where there is no page
    position p of row b lies in page table[b, p // P], at place p mod P

All layers share one table: a page number is one page in every layer. Memory is 2 L N G P D s bytes for all rows together and
a row wastes less than one page, where a contiguous cache gives every row what the longest may need. Pages go from row to row,
so a sequence that has ended makes room for another while the rest goes on.

A step writes into the free part of a row's last page and into free pages, which become the row's at `commit`; an aborted step
has nothing to give back. Kwon et al. 2023 (arXiv:2309.06180), section 4; there a page is called a block. Symbols as in
`cache.base`, `N` pages, `P` tokens per page, `M` pages of the longest row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, Pages, Seen
from onesentence.cache.new_tokens import NewTokens, mask_of_run
from onesentence.cache.stepping import StoredCache, StoredStep, zeros
from onesentence.checks import checked_integer


class PagedCache(StoredCache):
    """Keys and values in pages.

    Args:
        sizes: what it is made for.
        page_count: N, for all rows together.
        page_size: P, tokens.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> cache = PagedCache(CacheSizes(layers=1, rows=2, heads=1, head_size=1), page_count=4, page_size=2)
        >>> step = cache.open(torch.tensor([[True, True, True], [True, False, False]]), "model a")
        >>> seen = step.put(0, torch.ones(2, 1, 3, 1), torch.ones(2, 1, 3, 1))
        >>> cache.free_pages, cache.table.tolist()
        (4, [[-1], [-1]])
        >>> step.commit()
        >>> cache.free_pages, cache.table.tolist()
        (1, [[0, 1], [2, -1]])
        >>> cache.reset(0)
        >>> cache.free_pages, cache.lengths.tolist()
        (3, [0, 1])
    """

    def __init__(self, sizes: CacheSizes, page_count: int, page_size: int) -> None:
        super().__init__(sizes)
        self.page_count = checked_integer("page_count", page_count, 1)
        self.page_size = checked_integer("page_size", page_size, 1)
        shape = (sizes.layers, self.page_count, sizes.heads, self.page_size, sizes.head_size)
        self.keys, self.values = zeros(sizes, *shape), zeros(sizes, *shape)
        self._heads = torch.arange(sizes.heads, device=self.device)
        self._wipe()

    def _wipe(self) -> None:
        self._free = list(range(self.page_count))[::-1]  # the next one last
        self._rows: list[list[int]] = [[] for _ in range(self.sizes.rows)]
        self._table = self._table_of(self._rows)
        self._blocks: tuple[Tensor, Tensor] | None = None  # with the table that they are of

    @property
    def table(self) -> Tensor:
        """Pages of each row in the order of its tokens, (B, M) int32 on the cache's device; -1 where there is none. A copy."""
        return self._table.clone()

    @property
    def free_pages(self) -> int:
        """Pages that no row has."""
        return len(self._free)

    @property
    def allocated_bytes(self) -> int:
        """2 L N G P D s; the table is not counted."""
        return self.sizes.token_bytes * self.page_count * self.page_size

    def pages(self, layer: int) -> tuple[Tensor, Tensor]:
        """Return the pool of one layer, for a kernel that follows the table itself.

        In an open step it goes with `PagedStep.table` and `PagedStep.lengths`, otherwise with those of the cache; `Seen.pages`
        has all of them together. Past the length of a row its last page holds anything, NaN perhaps: such places must not be
        multiplied with weights of 0.

        Args:
            layer: from 0.

        Returns:
            Keys and values, (N, G, P, D) each: the memory itself, not to be written to.

        Raises:
            TypeError: if `layer` is not an integer.
            ValueError: if there is no such layer.
        """
        if checked_integer("layer", layer, 0) >= self.sizes.layers:
            raise ValueError(f"layer must be less than {self.sizes.layers}, got {layer}")
        return self.keys[layer], self.values[layer]

    def open(self, real: Tensor, owner: str) -> PagedStep:
        """As `KVCache` says; there is no room if all rows together need more pages than there are."""
        step = super().open(real, owner)
        assert isinstance(step, PagedStep)
        return step

    def _check_room(self, lengths: Tensor) -> None:
        needed = sum(map(self._count, lengths.tolist()))
        if needed > self.page_count:
            raise ValueError(
                f"pool of {self.page_count} pages of {self.page_size} tokens: the rows together would take {needed}"
            )

    def _step_of(self, new: NewTokens, owner: str) -> PagedStep:
        missing = [
            self._count(after) - len(row) for after, row in zip(new.after.tolist(), self._rows, strict=True)
        ]
        fresh = iter(self._free[::-1])
        if not any(missing):
            return PagedStep(self, new, owner, self._rows, self._table)
        rows = [
            row + [next(fresh) for _ in range(count)] for count, row in zip(missing, self._rows, strict=True)
        ]
        return PagedStep(self, new, owner, rows, self._table_of(rows))

    def _drop(self, lengths: Tensor) -> None:
        for row, length in enumerate(lengths.tolist()):
            count = self._count(length)
            self._free.extend(self._rows[row][count:][::-1])
            self._rows[row] = self._rows[row][:count]
        self._table = self._table_of(self._rows)

    def _count(self, length: int) -> int:
        """Return how many pages so many tokens take."""
        return -(-length // self.page_size)

    def _table_of(self, rows: list[list[int]]) -> Tensor:
        width = max(1, *map(len, rows))
        full = [row + [-1] * (width - len(row)) for row in rows]
        return torch.tensor(full, dtype=torch.int32, device=self.device)

    def blocks_of(self, table: Tensor) -> Tensor:
        """Return the pages of each head as rows of a pool (N G, ...), (B G M,); kept until another table is asked for."""
        if self._blocks is None or self._blocks[0] is not table:
            pages = table.clamp(min=0).long()
            self._blocks = table, (pages[:, None] * self.sizes.heads + self._heads[:, None]).flatten()
        return self._blocks[1]


class GatheredSeen(Seen):
    """What a step may read, put in order of positions only if it is asked for.

    Args:
        gather: puts a pool in order.
        pages: of the layer.
        mask: as `Seen`.
        causal: likewise.
        lengths: likewise; where there are none, `pages` is None.
    """

    _gather: Callable[[Tensor], Tensor]
    _from: Pages

    def __init__(
        self,
        gather: Callable[[Tensor], Tensor],
        pages: Pages,
        mask: Tensor | None,
        causal: bool,
        lengths: Tensor | None,
    ) -> None:
        own = {
            "mask": mask,
            "causal": causal,
            "lengths": lengths,
            "pages": None if lengths is None else pages,
        }
        vars(self).update(own, _gather=gather, _from=pages)

    @cached_property
    def k(self) -> Tensor:
        """As `Seen`."""
        return self._gather(self._from.k)

    @cached_property
    def v(self) -> Tensor:
        """As `Seen`."""
        return self._gather(self._from.v)


class PagedStep(StoredStep):
    """A step that writes into pages.

    Args:
        cache: that is written to.
        new: tokens of the step.
        owner: fingerprint of the parameters.
        rows: pages of each row once the step is committed.
        table: the same as a table.

    Attributes:
        table: pages of each row, those that the step takes among them, (B, M) int32 on the cache's device.
    """

    cache: PagedCache

    def __init__(
        self, cache: PagedCache, new: NewTokens, owner: str, rows: list[list[int]], table: Tensor
    ) -> None:
        super().__init__(cache, new, owner)
        self.table = table
        self._pages_of_rows = rows
        self._mask = mask_of_run(new, 0, new.longest)
        first = (
            self._first_of_tokens()
        )  # slot of a token in its page's first head, counted through the whole pool
        self._slots = (first[:, None] + cache._heads * cache.page_size).flatten()  # (n G,)

    def _first_of_tokens(self) -> Tensor:
        new, size = self.new, self.cache.page_size
        page = self.cache.sizes.heads * size
        if new.even and new.T == 1:  # in Python this is a fifth of the time
            place = new.longest - 1
            slots = [row[place // size] * page + place % size for row in self._pages_of_rows]
            return torch.tensor(slots, device=self.cache.device)
        return self.table[new.where[0], new.places // size].long() * page + new.places % size

    def _write(self, layer: int, k: Tensor, v: Tensor) -> None:
        D = self.cache.sizes.head_size
        for pool, part in ((self.cache.keys, k), (self.cache.values, v)):
            pool[layer].view(-1, D).index_copy_(0, self._slots, self.new.tokens_of(part).flatten(0, 1))

    def _read(self, layer: int, k: Tensor, v: Tensor) -> Seen:
        pages = Pages(*self.cache.pages(layer), self.table)
        return GatheredSeen(self._gathered, pages, *self._mask, self._single)

    def _gathered(self, pool: Tensor) -> Tensor:
        """Return a copy in the order of positions, (B, G, S, D), 0 where a row has no token."""
        B, G, D = self.cache.sizes.rows, self.cache.sizes.heads, self.cache.sizes.head_size
        blocks = pool.flatten(0, 1).flatten(1).index_select(0, self.cache.blocks_of(self.table))
        out = blocks.view(B, G, -1, D)[:, :, : self.longest]
        if not self.new.even:
            out.masked_fill_(self._nothing[:, None, :, None], 0)
        return out

    @cached_property
    def _nothing(self) -> Tensor:
        """Slots past the length of each row, (B, S)."""
        return torch.arange(self.longest, device=self.cache.device) >= self.lengths[:, None]

    def _keep(self) -> None:
        taken = sum(map(len, self._pages_of_rows)) - sum(map(len, self.cache._rows))
        del self.cache._free[len(self.cache._free) - taken :]
        self.cache._rows, self.cache._table = self._pages_of_rows, self.table
