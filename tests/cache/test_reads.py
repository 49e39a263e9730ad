"""Attention over a cache equals attention over the whole text, however the text is cut and wherever padding stands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, Seen

LAYERS, G, H, D = 2, 2, 4, 3


def texts(rows: int, length: int, seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries (L, B, H, N, D), keys and values (L, B, G, N, D) of whole texts."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn((LAYERS, rows, heads, length, D), generator=generator, dtype=torch.float64)
        for heads in (H, G, G)
    )
    return q, k, v


def whole(q: Tensor, k: Tensor, v: Tensor, window: int | None) -> Tensor:
    """Return attention of every query over all keys that it may read, query by query."""
    k, v = (part.repeat_interleave(H // G, dim=2) for part in (k, v))
    out = torch.empty_like(q)
    for p in range(q.shape[3]):
        first = 0 if window is None else max(0, p - window + 1)
        scores = torch.einsum("lbhd,lbhsd->lbhs", q[:, :, :, p], k[:, :, :, first : p + 1]) / D**0.5
        out[:, :, :, p] = torch.einsum("lbhs,lbhsd->lbhd", scores.softmax(-1), v[:, :, :, first : p + 1])
    return out


def read(seen: Seen, q: Tensor) -> Tensor:
    """Return PyTorch's attention over what a step may read."""
    out: Tensor = torch.nn.functional.scaled_dot_product_attention(
        q, seen.k, seen.v, attn_mask=seen.mask, is_causal=seen.causal, enable_gqa=True
    )
    return out


def cuts(length: int) -> Iterator[list[int]]:
    """Every way to cut a text into steps."""
    for ends in product((False, True), repeat=length - 1):
        steps, at = [], 0
        for place, end in enumerate((*ends, True)):
            if end:
                steps.append(place + 1 - at)
                at = place + 1
        yield steps


def test_reads_are_those_of_the_whole_text_for_every_cut(kind: Any) -> None:
    q, k, v = texts(2, 6)
    expected = whole(q, k, v, kind.window)
    for steps in cuts(6):
        cache = kind.make(CacheSizes(LAYERS, 2, G, D, dtype=torch.float64))
        at = 0
        for T in steps:
            step = cache.open(torch.ones(2, T, dtype=torch.bool), "model a")
            here = slice(at, at + T)
            assert step.positions.tolist() == [list(range(at, at + T))] * 2
            for layer in range(LAYERS):
                out = read(step.put(layer, k[layer, :, :, here], v[layer, :, :, here]), q[layer, :, :, here])
                torch.testing.assert_close(out, expected[layer, :, :, here], rtol=0, atol=1e-12)
            step.commit()
            at += T


SCRIPTS = {
    "right": ["1111 1100 1110", "1 1 1", "1 1 1"],
    "left": ["1111 0011 0111", "1 1 1", "111 001 011"],
    "between": ["1011 0110 1101", "101 111 010", "1 1 1"],
    "rows without tokens": ["000 110 011", "11 00 01", "1 0 0", "0 0 0", "1 1 1"],
    "all rows without tokens": ["00 00 00", "110 011 101", "1 1 1"],
    "uneven, then even": ["11 10 01", "00 01 10", "1 1 1", "11 11 11"],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_reads_are_those_of_each_row_alone_with_padding(kind: Any, script: str) -> None:
    q, k, v = texts(3, 12)
    expected = whole(q, k, v, kind.window)
    cache = kind.make(CacheSizes(LAYERS, 3, G, D, dtype=torch.float64))
    read_so_far = [0, 0, 0]
    for line in SCRIPTS[script]:
        real = torch.tensor([[mark == "1" for mark in row] for row in line.split()])
        step = cache.open(real, "model a")
        places = torch.zeros_like(real, dtype=torch.int64)
        for row, column in real.nonzero().tolist():
            places[row, column] = read_so_far[row]
            read_so_far[row] += 1
        assert torch.equal(step.positions, places)
        at = places[:, None, :, None]
        for layer in range(LAYERS):
            asked, key, value, wanted = (
                part[layer].gather(2, at.expand(-1, part.shape[2], -1, D)) for part in (q, k, v, expected)
            )
            padding = ~real[:, None, :, None]
            seen = step.put(layer, *(part.masked_fill(padding, torch.nan) for part in (key, value)))
            out = read(seen, asked)
            assert out.isfinite().all()
            torch.testing.assert_close(
                out.masked_fill(padding, 0), wanted.masked_fill(padding, 0), rtol=0, atol=1e-12
            )
        step.commit()
    assert cache.lengths.tolist() == read_so_far


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_keys_are_kept_bit_by_bit_in_every_dtype(kind: Any, dtype: torch.dtype, drawn: Any) -> None:
    sizes = CacheSizes(1, 2, G, D, dtype=dtype)
    cache, history = kind.make(sizes), kind.history(sizes)
    for seed, marks in enumerate(([[1, 1, 1], [0, 1, 1]], [[1], [1]])):
        real = torch.tensor(marks, dtype=torch.bool)
        step, parts = cache.open(real, "model a"), drawn(sizes, real, seed)
        history.check(step.put(0, *parts), 0, step, *parts)
        step.commit()
        history.commit(real, {0: parts}, "model a")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_keys_are_kept_on_cuda(kind: Any, drawn: Any) -> None:
    there, here = (CacheSizes(1, 2, G, D, device=device) for device in ("cuda", "cpu"))
    cache, twin = kind.make(there), kind.make(here)
    for seed, marks in enumerate(([[1, 1, 1], [0, 1, 1]], [[1], [1]])):
        real = torch.tensor(marks, dtype=torch.bool)
        step, plain = cache.open(real, "model a"), twin.open(real, "model a")
        k, v = drawn(here, real, seed)
        seen, wanted = step.put(0, k.cuda(), v.cuda()), plain.put(0, k, v)
        assert step.positions.is_cuda
        for one, other in ((seen.k, wanted.k), (seen.v, wanted.v), (seen.mask, wanted.mask)):
            assert (one is None and other is None) or torch.equal(one.cpu(), other)
        step.commit()
        plain.commit()
