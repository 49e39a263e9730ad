"""Triton's decode kernels on the model's caches, under Triton's interpreter or on CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, KVCache
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache, PagedStep
from onesentence.cache.window import WindowCache
from onesentence.evidence.closure import cuda_present
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
from onesentence.kernels.gpu import decode, paged

DEVICE = "cuda" if cuda_present() else "cpu"
WINDOW = 5
CACHES: dict[str, Callable[[CacheSizes], KVCache]] = {
    "contiguous": lambda sizes: ContiguousCache(sizes, 16),
    "growing": GrowingCache,
    "window": lambda sizes: WindowCache(sizes, WINDOW),
    "paged": lambda sizes: PagedCache(sizes, page_count=2 * sizes.rows, page_size=8),
}


def drawn(kind: str, **settings: Any) -> CausalLM:
    """Two layers, four query heads and two key heads of size 16."""
    design = {"d_model": 64, "n_head": 4, "n_kv_head": 2, "d_ff": 8}
    config = CausalConfig(7, window=WINDOW if kind == "window" else None, **design | settings)
    return CausalLM.initial(config, seed=1).eval().to(DEVICE)


def ids(rows: int, T: int, seed: int = 0) -> Tensor:
    return torch.randint(7, (rows, T), generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the decode kernels that have been called."""
    names: list[str] = []
    for module, name in ((decode, "decode"), (paged, "decode_paged")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *args, name=name, real=real: (names.append(name), real(*args))[1]
        )
    return names


@pytest.mark.parametrize("kind", CACHES)
def test_single_tokens_of_unequal_rows_by_triton_are_those_of_sdpa(
    kind: str, launched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = drawn(kind)
    cache, twin = (CACHES[kind](model.cache_sizes(3)) for _ in range(2))
    real = torch.tensor([[True] * 7, [True] * 3 + [False] * 4, [False] * 7])
    for one in (cache, twin):
        model.extend(ids(3, 7), one, real=real)
    some = torch.tensor([[True], [False], [True]])  # the second row waits
    for seed, marks in enumerate((some, None, None), start=1):
        expected = model.extend(ids(3, 1, seed), twin, real=marks)
        with monkeypatch.context() as patch:
            patch.setattr(PagedStep, "_gathered", None)
            found = model.extend(ids(3, 1, seed), cache, real=marks, reader="triton")
        at = torch.ones(3, dtype=torch.bool) if marks is None else marks[:, 0]
        close(found[at], expected[at])
    assert cache.lengths.tolist() == twin.lengths.tolist() == [10, 5, 3]
    assert launched == 6 * ["decode_paged" if kind == "paged" else "decode"]


@pytest.mark.parametrize("kind", CACHES)
def test_rows_of_one_length_by_triton_from_the_first_token_on(kind: str, launched: list[str]) -> None:
    model = drawn(kind, n_kv_head=1, layers=1)
    cache, text = CACHES[kind](model.cache_sizes(2)), ids(2, 7)
    found = [model.extend(part, cache, reader="triton") for part in text.split((4, 1, 1, 1), dim=1)]
    close(torch.cat(found, dim=1), model(text).detach())
    assert len(launched) == 3


@pytest.mark.parametrize(
    ("settings", "page", "T", "message"),
    [
        ({"d_model": 32}, 8, 1, r"the head size must be a multiple of 16 from 16 to 256, got 8"),
        ({}, 4, 1, r"the page size must be a power of two from 8, got 4"),
        ({}, 8, 2, r"reader 'triton' takes no mask, got one of shape \(1, 1, 2, 5\)"),
    ],
)
def test_triton_refuses_what_it_cannot_serve_and_the_cache_stays(
    settings: dict[str, Any], page: int, T: int, message: str
) -> None:
    model = drawn("paged", **settings)
    cache = PagedCache(model.cache_sizes(1), page_count=4, page_size=page)
    model.extend(ids(1, 3), cache)
    with pytest.raises(ValueError, match=message):
        model.extend(ids(1, T), cache, reader="triton")
    assert cache.lengths.tolist() == [3]
