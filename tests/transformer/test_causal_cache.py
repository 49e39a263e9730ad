"""What a model says on top of a cache is what it says without one, for every way of cutting a text up."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, KVCache
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache
from onesentence.cache.window import WindowCache
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM

V, N, WINDOW = 7, 9, 4
IDS = torch.tensor([[3, 1, 4, 1, 5, 2, 6, 5, 3]])


def compositions(n: int) -> list[list[int]]:
    """Return all ways of cutting n tokens into parts, as lengths."""
    return (
        [[]] if not n else [[first, *rest] for first in range(1, n + 1) for rest in compositions(n - first)]
    )


SPLITS = compositions(N)
CACHES: dict[str, Callable[[CacheSizes], KVCache]] = {
    "contiguous": lambda sizes: ContiguousCache(sizes, N),
    "growing": GrowingCache,
    "paged": lambda sizes: PagedCache(sizes, page_count=sizes.rows * 3, page_size=4),
    "window": lambda sizes: WindowCache(sizes, WINDOW),
}


def drawn(hostile: Any, kind: str, **settings: Any) -> CausalLM:
    """Two layers, width 8, two heads unless told otherwise."""
    design = {"d_model": 8, "n_head": 2, "d_ff": 12, "window": WINDOW if kind == "window" else None}
    model: CausalLM = hostile(CausalLM(CausalConfig(V, **design | settings)))
    return model.eval()


def made(kind: str, model: CausalLM, rows: int = 1) -> KVCache:
    return CACHES[kind](model.cache_sizes(rows))


def close(actual: Tensor, expected: Tensor, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def parts_of(split: list[int]) -> Iterator[slice]:
    ends = np.cumsum([0, *split]).tolist()
    return (slice(a, b) for a, b in itertools.pairwise(ends))


def test_splits_are_all_compositions() -> None:
    assert len({tuple(split) for split in SPLITS}) == 256
    assert all(sum(split) == N for split in SPLITS)


@torch.no_grad()
@pytest.mark.parametrize("kind", CACHES)
def test_extend_equals_forward_for_every_split(kind: str, hostile: Any) -> None:
    model = drawn(hostile, kind, n_kv_head=1)
    expected = model(IDS)
    for split in SPLITS:
        cache = made(kind, model)
        logits = torch.cat([model.extend(IDS[:, part], cache) for part in parts_of(split)], dim=1)
        close(logits, expected)


@torch.no_grad()
@pytest.mark.parametrize(
    "settings", [{"n_kv_head": G, "n_head": 4, "positions": p} for G in (1, 2, 4) for p in ("rope", "none")]
)
@pytest.mark.parametrize("kind", CACHES)
def test_extend_equals_forward_for_every_split_in_one_batch(
    kind: str, settings: dict[str, Any], hostile: Any
) -> None:
    """A row for each split, so that rows of all lengths stand beside each other, padded by turns left and right."""
    model = drawn(hostile, kind, **settings)
    expected, cache = model(IDS)[0], made(kind, model, len(SPLITS))
    done = torch.zeros(len(SPLITS), dtype=torch.int64)
    for turn in range(N):
        count = torch.tensor([split[turn] if turn < len(split) else 0 for split in SPLITS])
        T = int(count.max())
        place = torch.arange(T) - (T - count[:, None] if turn % 2 else 0)
        real = (place >= 0) & (place < count[:, None])
        places = (done[:, None] + place).masked_fill(~real, 0)
        ids = IDS[0][places].masked_fill(~real, 99)
        logits = model.extend(ids, cache, real=real)
        close(logits[real], expected[places[real]])
        done += count
    assert cache.lengths.tolist() == [N] * len(SPLITS)


@torch.no_grad()
@pytest.mark.parametrize("order", ["pre", "post"])
def test_extend_equals_forward_for_rows_of_different_lengths(order: Any, hostile: Any) -> None:
    model = drawn(hostile, "contiguous", order=order, tied=False)
    texts = [torch.tensor([3, 1, 4, 1, 5]), torch.tensor([2]), torch.tensor([6, 0, 6])]
    for side in ("left", "right"):
        real = torch.stack(
            [torch.arange(5) >= 5 - len(t) if side == "left" else torch.arange(5) < len(t) for t in texts]
        )
        ids = torch.zeros(3, 5, dtype=torch.int64)
        ids[real] = torch.cat(texts)
        cache = made("contiguous", model, 3)
        prefill = model.extend(ids, cache, real=real)
        close(prefill[real], model(ids, real=real)[real])
        new = torch.tensor([[1], [2], [3]])
        decoded = model.extend(new, cache)
        for row, text in enumerate(texts):
            close(prefill[row][real[row]], model(text[None])[0])
            close(decoded[row, 0], model(torch.cat([text, new[row]])[None])[0, -1])


@torch.no_grad()
@pytest.mark.parametrize("kind", CACHES)
def test_five_pads_are_no_pad(kind: str, hostile: Any) -> None:
    model = drawn(hostile, kind)
    ids = torch.cat([torch.full((1, 5), 6), IDS[:, :4]], dim=1)
    padded, plain = made(kind, model), made(kind, model)
    close(model.extend(ids, padded, real=torch.arange(9)[None] >= 5)[:, 5:], model.extend(IDS[:, :4], plain))
    assert padded.lengths.tolist() == plain.lengths.tolist() == [4]
    close(model.extend(IDS[:, 4:5], padded), model.extend(IDS[:, 4:5], plain))


@torch.no_grad()
@pytest.mark.parametrize("kind", sorted(set(CACHES) - {"window"}))
def test_stale_prefix_differs_and_truncation_mends_it(kind: str, hostile: Any) -> None:
    model, cache = (
        drawn(hostile, kind),
        made(kind, CausalLM(CausalConfig(V, d_model=8, n_head=2, d_ff=12)).double()),
    )
    edited = IDS.clone()
    edited[0, 2] = 0
    model.extend(IDS[:, :6], cache)
    stale = model.extend(edited[:, 6:], cache)
    assert (stale - model(edited)[:, 6:]).abs().amax(
        dim=-1
    ).min() > 1e-3  # each token has read what is no longer there
    cache.truncate(torch.tensor([2]))
    close(model.extend(edited[:, 2:], cache), model(edited)[:, 2:])


@torch.no_grad()
@pytest.mark.parametrize("kind", CACHES)
def test_extend_that_fails_leaves_the_cache(kind: str, hostile: Any) -> None:
    model = drawn(hostile, kind)
    cache = made(kind, model)
    model.extend(IDS[:, :3], cache)
    broken = model.blocks[1].register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.extend(IDS[:, 3:5], cache)  # the first layer has been put
    broken.remove()
    assert cache.lengths.tolist() == [3]
    close(model.extend(IDS[:, 3:], cache), model(IDS)[:, 3:])


@torch.no_grad()
@pytest.mark.parametrize("kind", CACHES)
def test_extend_refuses_changed_parameters(kind: str, hostile: Any) -> None:
    model = drawn(hostile, kind)
    cache, before = made(kind, model), model(IDS)
    model.extend(IDS[:, :3], cache)
    model.blocks[1].ffn.widen.bias[0] *= 2
    with pytest.raises(
        ValueError, match=r"cache must hold keys and values of the parameters .* that the model has now"
    ):
        model.extend(IDS[:, 3:], cache)
    model.blocks[1].ffn.widen.bias[0] /= 2
    assert cache.lengths.tolist() == [3]
    close(model.extend(IDS[:, 3:], cache), before[:, 3:])  # the same numbers again


@pytest.mark.parametrize("reader", ["reference", "tiled"])
def test_extend_by_another_reader(reader: str, hostile: Any) -> None:
    model = drawn(hostile, "growing", n_kv_head=1)
    cache, expected = made("growing", model), model(IDS).detach()
    close(model.extend(IDS[:, :5], cache, reader=reader), expected[:, :5])
    close(model.extend(IDS[:, 5:6], cache, reader=reader), expected[:, 5:6])
    with pytest.raises(ValueError, match=f"reader '{reader}' needs one mask for all queries"):
        model.extend(IDS[:, 6:], cache, reader=reader)
    assert cache.lengths.tolist() == [6]


def test_extend_gives_logits_without_gradients_that_may_be_used_in_training(hostile: Any) -> None:
    model = drawn(hostile, "growing")
    logits = model.extend(IDS, made("growing", model))
    assert not logits.requires_grad
    (model(IDS) * logits).sum().backward()  # keeps them for the way back


FITS = CacheSizes(2, 1, 2, 4, torch.float64)
BAD: list[tuple[KVCache, str]] = [
    (GrowingCache(CacheSizes(3, 1, 2, 4, torch.float64)), "cache must have layers = 2 like the model, got 3"),
    (GrowingCache(CacheSizes(2, 1, 1, 4, torch.float64)), "cache must have heads = 2 like the model, got 1"),
    (
        GrowingCache(CacheSizes(2, 1, 2, 8, torch.float64)),
        "cache must have head_size = 4 like the model, got 8",
    ),
    (
        GrowingCache(CacheSizes(2, 1, 2, 4)),
        r"cache must have dtype = torch\.float64 like the model, got torch\.float32",
    ),
    (WindowCache(FITS, 4), "cache must have window = None like the model, got 4"),
    (GrowingCache(CacheSizes(2, 2, 2, 4, torch.float64)), r"real must have shape \(2, T\)"),
    (ContiguousCache(FITS, 8), "capacity of 8 tokens"),
]


@pytest.mark.parametrize(("cache", "message"), BAD)
def test_extend_refuses_a_cache_that_does_not_fit(cache: KVCache, message: str, hostile: Any) -> None:
    model = drawn(hostile, "contiguous")
    with pytest.raises(ValueError, match=message):
        model.extend(IDS, cache)
    assert int(cache.lengths.sum()) == 0
    assert cache.owner is None


def test_extend_refuses_dropout() -> None:
    model = CausalLM(CausalConfig(V, d_model=8, n_head=2, dropout=0.1))
    cache = GrowingCache(model.cache_sizes(1))
    with pytest.raises(ValueError, match="model must be in evaluation mode to use a cache"):
        model.extend(IDS, cache)
    model.eval()
    close(model.extend(IDS, cache), model(IDS).detach(), 1e-5)
