"""How each cache stores: views and copies, when memory grows, which page is whose."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.cache import growing
from onesentence.cache.base import CacheSizes
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache
from onesentence.cache.window import WindowCache

SIZES = CacheSizes(layers=2, rows=2, heads=3, head_size=4)


@pytest.mark.parametrize("marks", [[[1, 1], [1, 1]], [[1, 1], [0, 1]]])
def test_contiguous_reads_are_views(fill: Any, marks: list[list[int]]) -> None:
    cache = ContiguousCache(SIZES, 8)
    for _ in range(2):
        for layer, seen in enumerate(fill(cache, marks)):
            assert seen.k.data_ptr() == cache.keys[layer].data_ptr()
            assert seen.v.data_ptr() == cache.values[layer].data_ptr()
            assert seen.k.stride() == cache.keys[layer].stride()


def test_contiguous_refuses_more_than_its_capacity(fill: Any) -> None:
    cache = ContiguousCache(SIZES, 4)
    fill(cache, [[1, 1, 1], [0, 0, 1]])
    message = r"capacity of 4 tokens: row 0 would hold 5"
    with pytest.raises(ValueError, match=message):
        cache.open(torch.ones(2, 2, dtype=torch.bool), "model a")
    with pytest.raises(ValueError, match=r"row 1 would hold 5"):
        cache.open(torch.tensor([[False] * 4, [True] * 4]), "model a")
    fill(cache, [[1, 0], [1, 1]])  # row 0 is full now, row 1 is not
    assert cache.lengths.tolist() == [4, 3]
    with pytest.raises(ValueError, match=r"capacity must be at least 1, got 0"):
        ContiguousCache(SIZES, 0)


def test_growing_doubles_or_takes_what_is_asked_and_keeps_it(fill: Any) -> None:
    cache, slots = GrowingCache(SIZES), []
    for T in (3, 1, 9, 1):
        fill(cache, [[1] * T] * 2)
        slots.append(cache.slots)
    assert slots == [3, 6, 13, 26]
    cache.truncate(torch.tensor([1, 1]))
    assert cache.allocated_bytes == 2 * 2 * 2 * 3 * 26 * 4 * 4
    assert cache.payload_bytes == 2 * 2 * 2 * 3 * 1 * 4 * 4


def test_growing_that_runs_out_of_memory_between_keys_and_values_goes_on(
    fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, calls, make = GrowingCache(SIZES), [], growing.zeros

    def zeros(*shape: Any) -> Any:
        calls.append(shape)
        if len(calls) == 2:
            raise RuntimeError("out of memory")
        return make(*shape)

    fill(cache, [[1, 1], [1, 1]])
    with monkeypatch.context() as patch:
        patch.setattr(growing, "zeros", zeros)
        with pytest.raises(RuntimeError, match="out of memory"):
            cache.open(torch.ones(2, 50, dtype=torch.bool), "model a")
    assert cache.lengths.tolist() == [2, 2]
    kept = cache.keys[:, :, :, :2].clone()
    seen = fill(cache, [[1], [1]])[1]  # fewer slots than the keys have already
    assert torch.equal(seen.k[:, :, :2], kept[1])
    assert seen.v.shape == seen.k.shape


def test_growing_step_outlives_an_enlargement_that_failed_half_way(
    fill: Any, drawn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, twin, real = GrowingCache(SIZES), GrowingCache(SIZES), torch.ones(2, 1, dtype=torch.bool)
    for one in (cache, twin):
        fill(one, [[1, 1, 1], [1, 1, 1]])
    steps = [one.open(real, "model a") for one in (cache, twin)]
    for step in steps:
        step.put(0, *drawn(SIZES, real, 1))
    enlarged, calls = GrowingCache._enlarged, []

    def failing(self: GrowingCache, part: Tensor, slots: int) -> Tensor:
        calls.append(slots)
        if len(calls) == 2:
            raise MemoryError
        return enlarged(self, part, slots)

    with monkeypatch.context() as patch:
        patch.setattr(GrowingCache, "_enlarged", failing)
        with pytest.raises(MemoryError):
            cache.open(torch.ones(2, 9, dtype=torch.bool), "model a")
    for step in steps:
        step.put(1, *drawn(SIZES, real, 2))
        step.commit()
    assert torch.equal(cache.keys[:, :, :, :4], twin.keys[:, :, :, :4])
    assert torch.equal(cache.values[:, :, :, :4], twin.values[:, :, :, :4])


def test_window_keeps_the_last_tokens_and_lets_one_be_taken_back(fill: Any) -> None:
    cache = WindowCache(SIZES, 3)
    fill(cache, [[1] * 7, [0] * 5 + [1] * 2])
    assert cache.held().tolist() == [[6, 4, 5], [0, 1, -1]]
    assert cache.payload_bytes == SIZES.token_bytes * 5
    message = r"lengths of row 0: 5 tokens need positions from 3 on in a window of 3, the oldest that is kept is 4: reset"
    step = cache.open(torch.ones(2, 1, dtype=torch.bool), "model a")
    with pytest.raises(ValueError, match=message):
        cache.truncate(torch.tensor([5, 2]))
    step.put(0, torch.ones(2, 3, 1, 4), torch.ones(2, 3, 1, 4))  # the refusal has not overtaken it
    cache.truncate(torch.tensor([6, 0]))
    assert cache.held().tolist() == [[-1, 4, 5], [-1, -1, -1]]
    with pytest.raises(ValueError, match=r"window must be at least 1, got 0"):
        WindowCache(SIZES, 0)


def test_window_reads_single_tokens_where_they_lie_and_several_in_order_of_positions(fill: Any) -> None:
    cache = WindowCache(SIZES, 4)
    for seed in range(6):
        seen = fill(cache, [[1], [1]], seed=seed)[1]
        assert seen.mask is None
        assert seen.k.shape[2] == min(seed + 1, 4)
        assert seen.k.data_ptr() == cache.keys[1].data_ptr()
    before = seen.k.clone()  # positions 4, 5, 2, 3
    after = fill(cache, [[1, 1], [1, 1]], seed=6)[1].k
    assert torch.equal(after[:, :, :3], before[:, :, [3, 0, 1]])


@pytest.mark.parametrize("marks", [[[1], [1]], [[1], [0]]])
def test_window_gives_back_what_an_aborted_token_has_replaced(fill: Any, drawn: Any, marks: Any) -> None:
    cache, real = WindowCache(SIZES, 3), torch.tensor(marks, dtype=torch.bool)
    fill(cache, [[1] * 4, [1] * 4])
    kept = cache.keys.clone(), cache.values.clone()
    step = cache.open(real, "model a")
    step._write(1, *drawn(SIZES, real, 6))  # as if it had failed in the end
    step.put(1, *drawn(SIZES, real, 5))
    assert not torch.equal(cache.keys, kept[0])
    cache.truncate(torch.tensor([3, 3]))  # its last token needs what the aborted one has pushed out
    slots = torch.arange(3) != 0  # of the token that was taken back
    for ring, part in zip((cache.keys, cache.values), kept, strict=True):
        assert torch.equal(ring[:, :, :, slots], part[:, :, :, slots])
        assert not ring[:, :, :, ~slots].any()


@pytest.mark.parametrize("kind", ["contiguous", "growing", "window", "paged"])
def test_single_tokens_read_the_first_slots_of_their_rows(kind: str, fill: Any) -> None:
    caches = {"contiguous": ContiguousCache(SIZES, 8), "growing": GrowingCache(SIZES)}
    cache = (caches | {"window": WindowCache(SIZES, 3), "paged": PagedCache(SIZES, 8, 2)})[kind]
    for seen in fill(cache, [[1, 1, 1], [0, 0, 1]]):
        assert seen.lengths is None
        assert seen.pages is None
    for after in ((4, 2), (5, 3)):
        for layer, seen in enumerate(fill(cache, [[1], [1]])):
            wanted = [min(n, 3) if kind == "window" else n for n in after]
            assert seen.lengths.tolist() == wanted
            if seen.mask is None:
                assert wanted == [3, 3]
            else:
                assert seen.mask.sum(dim=-1).flatten().tolist() == wanted
            assert (seen.pages is None) == (kind != "paged")
            if seen.pages is not None:
                assert seen.pages.k.data_ptr() == cache.keys[layer].data_ptr()
                assert seen.pages.v.data_ptr() == cache.values[layer].data_ptr()
                assert torch.equal(seen.pages.table, cache.table)


def test_window_step_holds_no_token_twice_for_one_slot(drawn: Any) -> None:
    cache, real = WindowCache(SIZES, 3), torch.tensor([[True] * 5, [True, False, True, False, True]])
    step = cache.open(real, "model a")
    step.put(1, *drawn(SIZES, real, 0))
    assert step._slots.tolist() == [2, 0, 1, 0, 1, 2]  # written in any order, the result is one
    assert [part.shape[0] for part in step._waiting[1]] == [6, 6]


def test_pages_go_from_row_to_row_while_the_rest_stays(fill: Any) -> None:
    cache = PagedCache(SIZES, page_count=5, page_size=2)
    fill(cache, [[1, 1, 1], [1, 1, 1]])
    assert cache.table.tolist() == [[0, 1], [2, 3]]
    assert cache.table.dtype == torch.int32
    stays = [part[:, [2, 3]].clone() for part in (cache.keys, cache.values)]
    cache.reset(0)
    assert cache.table.tolist() == [[-1, -1], [2, 3]]
    fill(cache, [[1] * 5, [0] * 5], seed=1)
    assert cache.table.tolist() == [[0, 1, 4], [2, 3, -1]]
    assert cache.free_pages == 0
    for part, kept in zip((cache.keys, cache.values), stays, strict=True):
        assert torch.equal(part[:, [2, 3], :, 0], kept[:, :, :, 0])
    cache.truncate(torch.tensor([2, 3]))
    assert (cache.table.tolist(), cache.free_pages) == ([[0, -1], [2, 3]], 2)


def test_pages_of_an_aborted_step_are_free_again(fill: Any) -> None:
    cache = PagedCache(SIZES, page_count=3, page_size=2)
    fill(cache, [[1], [1]])
    step = cache.open(torch.tensor([[True, True], [False, False]]), "model a")
    step.put(0, torch.ones(2, 3, 2, 4), torch.ones(2, 3, 2, 4))
    assert step.table.tolist() == [[0, 2], [1, -1]]
    assert (cache.table.tolist(), cache.free_pages) == ([[0], [1]], 1)
    message = r"pool of 3 pages of 2 tokens: the rows together would take 4"
    with pytest.raises(ValueError, match=message):
        cache.open(torch.ones(2, 2, dtype=torch.bool), "model a")
    fill(cache, [[0, 0], [1, 1]])
    assert (cache.table.tolist(), cache.free_pages) == ([[0, -1], [1, 2]], 0)


def test_pages_that_a_kernel_follows_are_what_put_gathers(fill: Any, drawn: Any) -> None:
    cache = PagedCache(SIZES, page_count=6, page_size=2)
    fill(cache, [[1, 1, 1], [1, 0, 0]])
    real = torch.tensor([[True, True], [False, True]])
    step = cache.open(real, "model a")
    gathered = step.put(1, *drawn(SIZES, real, 9))
    for pool, wanted in zip(cache.pages(1), (gathered.k, gathered.v), strict=True):
        for row, length in enumerate(step.lengths.tolist()):
            pages = [page for page in step.table[row].tolist() if page >= 0]
            found = torch.cat([pool[page] for page in pages], dim=1)[:, :length]
            assert torch.equal(found, wanted[row, :, :length])
    with pytest.raises(ValueError, match=r"layer must be less than 2, got 2"):
        cache.pages(2)
    with pytest.raises(ValueError, match=r"page_size must be at least 1, got 0"):
        PagedCache(SIZES, page_count=1, page_size=0)


def test_caches_refuse_sizes_that_are_none() -> None:
    with pytest.raises(TypeError, match=r"sizes must be CacheSizes, got int"):
        ContiguousCache(3, 2)  # type: ignore[arg-type]
