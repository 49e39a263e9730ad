"""Every cache against a naive list of tokens, over random scripts of all that can be done to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from onesentence.cache.base import CacheSizes
from onesentence.cache.paged import PagedCache

ROWS = 3
SIZES = CacheSizes(layers=2, rows=ROWS, heads=2, head_size=2, dtype=torch.float64)


def columns(longest: int) -> st.SearchStrategy[list[list[bool]]]:
    """Tokens and padding of a step, column by column; padding may stand anywhere."""
    column = st.lists(st.booleans(), min_size=ROWS, max_size=ROWS)
    full = st.integers(1, longest).map(lambda T: [[True] * ROWS] * T)
    return full | st.lists(column, min_size=1, max_size=longest)


class Contract(RuleBasedStateMachine):
    """A cache and its model, side by side."""

    def __init__(self, kind: Any, drawn: Callable[..., Any]) -> None:
        super().__init__()
        self.kind, self.drawn = kind, drawn
        self.cache, self.history = kind.make(SIZES), kind.history(SIZES)
        self.seed = 0
        self.stale: Any = None  # a step that must take nothing more

    @initialize(step=columns(6))
    def begin(self, step: list[list[bool]]) -> None:
        self.step(step, 2, True)

    @rule(
        step=columns(5), layers=st.sampled_from((2, 2, 2, 1, 0)), commit=st.sampled_from((True, True, False))
    )
    def step(self, step: list[list[bool]], layers: int, commit: bool) -> None:
        """Go through a step, or leave it after some layers."""
        real = torch.tensor(step).T
        lengths = [n + int(row.sum()) for n, row in zip(self.history.lengths, real, strict=True)]
        if not self.kind.room(lengths):
            with pytest.raises(ValueError, match=r"(capacity|pool) of .* would"):
                self.cache.open(real, "model a")
            return
        opened = self.cache.open(real, "model a")
        self.refuse_stale()
        self.stale = opened
        assert opened.lengths.tolist() == lengths
        parts = {}
        for layer in (1, 0)[:layers]:
            self.seed += 1
            parts[layer] = self.drawn(SIZES, real, self.seed)
            seen = opened.put(layer, *parts[layer])
            self.history.check(seen, layer, opened, *parts[layer])
        if commit and layers == 2:
            opened.commit()
            self.history.commit(real, parts, "model a")
            self.refuse_stale()

    @rule(back=st.lists(st.integers(0, 2), min_size=ROWS, max_size=ROWS))
    def truncate(self, back: list[int]) -> None:
        """Take back some of the last tokens of each row."""
        lengths = [max(0, n - gone) for n, gone in zip(self.history.lengths, back, strict=True)]
        if self.history.can_truncate(lengths):
            self.cache.truncate(torch.tensor(lengths))
            self.history.truncate(lengths)
            self.refuse_stale()
        else:
            with pytest.raises(ValueError, match=r"the oldest that is kept is"):
                self.cache.truncate(torch.tensor(lengths))

    @rule(row=st.integers(0, ROWS - 1))
    def reset(self, row: int) -> None:
        self.cache.reset(row)
        self.history.truncate([0 if r == row else n for r, n in enumerate(self.history.lengths)])
        self.refuse_stale()

    @rule()
    def refuse_other_parameters(self) -> None:
        if self.history.owner is not None:
            with pytest.raises(ValueError, match=r"owner must be 'model a'"):
                self.cache.open(torch.ones(ROWS, 1, dtype=torch.bool), "model b")

    def refuse_stale(self) -> None:
        if self.stale is not None:
            with pytest.raises(ValueError, match=r"step (is over|has been overtaken)"):
                self.stale.commit()

    @invariant()
    def holds(self) -> None:
        """Sizes and names are those of the model, whatever step is open."""
        history, cache = self.history, self.cache
        kept = sum(history.lengths) - sum(history.oldest)
        assert cache.lengths.tolist() == history.lengths
        assert cache.owner == history.owner
        assert cache.payload_bytes == 2 * 2 * kept * 2 * 2 * 8  # 2 L n G D s
        assert cache.payload_bytes <= cache.allocated_bytes
        if self.kind.allocated:
            assert cache.allocated_bytes == self.kind.allocated(SIZES)
        if isinstance(cache, PagedCache):
            self.no_page_is_lost(cache)

    def no_page_is_lost(self, cache: PagedCache) -> None:
        pages = [[page for page in row if page >= 0] for row in cache.table.tolist()]
        used = [page for row in pages for page in row]
        assert len(set(used)) == len(used)
        assert len(used) + cache.free_pages == cache.page_count
        assert [len(row) for row in pages] == [-(-n // cache.page_size) for n in self.history.lengths]

    def teardown(self) -> None:
        """At the end all that is there is read once more, and the place of what is gone is used again."""
        if self.kind.room([n + 1 for n in self.history.lengths]):
            self.step([[True] * ROWS], 2, True)
        for row in range(ROWS):
            self.reset(row)
        assert self.cache.payload_bytes == 0
        self.step([[True] * ROWS] * 4, 2, True)


def test_cache_keeps_what_a_list_of_tokens_keeps(kind: Any, drawn: Callable[..., Any]) -> None:
    run_state_machine_as_test(
        lambda: Contract(kind, drawn), settings=settings(max_examples=60, stateful_step_count=15)
    )
