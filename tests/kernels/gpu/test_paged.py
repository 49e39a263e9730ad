"""Decoding over pages against decoding over contiguous keys and the float64 reference."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.evidence.closure import cuda_present
from onesentence.kernels.reference import attention

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
from onesentence.kernels.gpu.decode import decode, decode_into
from onesentence.kernels.gpu.paged import decode_paged

DEVICE = "cuda" if cuda_present() else "cpu"
LENGTHS = (0, 1, 63, 64, 65, 257)
WILD = 10**6  # no page
HALF, FULL = torch.float16, torch.float32
needs_cuda = pytest.mark.skipif(not cuda_present(), reason="no CUDA here")
BFLOAT = pytest.param(
    torch.bfloat16,
    marks=pytest.mark.skipif(
        not cuda_present(), reason="no CUDA here, and the interpreter's bfloat16 is wrong"
    ),
)


def drawn(
    H: int, G: int, D: int, dtype: torch.dtype, lengths: tuple[int, ...] = LENGTHS
) -> dict[str, Tensor]:
    """Return q, k, v and lengths of a contiguous cache with as many slots as the longest row needs."""
    generator = torch.Generator().manual_seed(H * D)
    B, S = len(lengths), max(*lengths, 1)
    q, k, v = (
        torch.randn(shape, generator=generator).to(dtype) for shape in ((B, H, D), (B, G, S, D), (B, G, S, D))
    )
    parts = {"q": q, "k": k, "v": v, "lengths": torch.tensor(lengths)}
    return {name: part.to(DEVICE) for name, part in parts.items()}


def paged(
    q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, P: int, unused: int = -1, first: int = 0
) -> dict[str, Tensor]:
    """Lay the keys from `first` on out in pages of P, in random order among as many others; NaN wherever no key lies."""
    B, G, S, D = k.shape
    M = -(-S // P) + 1
    order = torch.randperm(2 * B * M, generator=torch.Generator().manual_seed(P)).tolist()
    table = torch.full((B, M), unused, dtype=torch.int32)
    pages = torch.full((2, 2 * B * M, G, P, D), torch.nan, dtype=k.dtype, device=k.device)
    for row, length in enumerate(lengths.tolist()):
        for entry in range(first // P, -(-length // P)):
            page = order.pop()
            table[row, entry] = page
            begin, end = max(first, entry * P), min(length, (entry + 1) * P)
            slots = slice(begin - entry * P, end - entry * P)
            pages[0, page, :, slots], pages[1, page, :, slots] = k[row, :, begin:end], v[row, :, begin:end]
    return {"q": q, "k_pages": pages[0], "v_pages": pages[1], "table": table.to(k.device), "lengths": lengths}


def assert_same(ours: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor]) -> None:
    """Hold two ways to the same steps together: to the last bit, if no compiler is free to fuse them differently."""
    torch.testing.assert_close(ours, theirs, **({} if cuda_present() else {"rtol": 0, "atol": 0}))


@pytest.mark.parametrize("dtype", [HALF, BFLOAT])
@pytest.mark.parametrize("P", [8, 64, 256])
def test_decode_paged_is_decode_of_the_same_keys(P: int, dtype: torch.dtype) -> None:
    parts = drawn(2, 2, 80, dtype, (0, 1, 64, 257))
    assert_same(decode_paged(**paged(**parts, P=P)), decode(**parts))


@pytest.mark.parametrize(
    ("H", "G", "D", "P"), [(1, 1, 16, 16), (8, 1, 256, 32), (4, 1, 128, 64), (20, 1, 48, 128)]
)
def test_decode_paged_of_other_groups_and_head_sizes(H: int, G: int, D: int, P: int) -> None:
    parts = drawn(H, G, D, HALF, (0, 7, 257))
    assert_same(decode_paged(**paged(**parts, P=P)), decode(**parts))


@pytest.mark.parametrize("dtype", [HALF, FULL, BFLOAT])
def test_decode_paged_is_as_good_as_naive_attention(dtype: torch.dtype) -> None:
    parts = drawn(4, 2, 64, dtype, (1, 64, 257))
    q, k, v, lengths = parts.values()
    real = torch.arange(k.shape[2], device=DEVICE) < lengths[:, None]
    exact = attention(q.double()[:, :, None], k.double(), v.double(), real=real)
    naive = attention(q[:, :, None], k, v, real=real)
    for ours, theirs, reference in zip(decode_paged(**paged(**parts, P=16)), naive, exact, strict=True):
        error = (ours - reference.squeeze(2)).abs().max()
        floor = 4 * torch.finfo(torch.float32).eps * reference.abs().max()  # as in `test_decode`
        assert error <= 2 * (theirs - reference).abs().max() + floor


@pytest.mark.parametrize("splits", [1, 3, 9])
def test_decode_paged_of_any_number_of_splits(splits: int) -> None:
    parts = drawn(2, 1, 128, HALF, (0, 65, 257))
    assert_same(decode_paged(**paged(**parts, P=16), splits=splits), decode(**parts, splits=splits))


@pytest.mark.parametrize("P", [8, 128])
def test_decode_paged_of_a_window_needs_no_page_in_front_of_it(P: int) -> None:
    parts = drawn(2, 1, 64, HALF, (257, 248))
    pages = paged(**parts, P=P, first=152)  # where a page of 8 begins
    assert (pages["table"][:, : 152 // P] == -1).all()
    assert_same(decode_paged(**pages, window=96), decode(**parts, window=96))


@pytest.mark.parametrize("P", [16, 256])
def test_decode_paged_does_not_follow_entries_beyond_the_length(P: int) -> None:
    parts = drawn(2, 1, 64, HALF)
    assert_same(decode_paged(**paged(**parts, P=P, unused=WILD)), decode(**parts))


def test_decode_paged_reads_views_where_they_lie() -> None:
    parts = drawn(4, 2, 48, HALF, (7, 257))
    pages = paged(**parts, P=16)
    wide = torch.full((2, 9, 16, 2, pages["k_pages"].shape[0], 48), torch.nan, dtype=HALF, device=DEVICE)
    k, v = (wide[i, 3:5].permute(3, 0, 1, 2, 4)[:, :, :, 1] for i in (0, 1))  # (N, G, P, D)
    k.copy_(pages["k_pages"])
    v.copy_(pages["v_pages"])
    apart = torch.full((2, 2 * pages["table"].shape[1]), WILD, dtype=torch.int32, device=DEVICE)
    apart[:, ::2] = pages["table"]
    views = {"k_pages": k, "v_pages": v, "table": apart[:, ::2]}
    assert_same(decode_paged(**{**pages, **views}), decode(**parts))


@pytest.mark.parametrize("P", [8, 128])
@pytest.mark.parametrize("wrong", [-1, WILD])
def test_decode_into_takes_an_entry_that_is_no_page_as_no_keys(P: int, wrong: int) -> None:
    parts = drawn(2, 1, 64, HALF, (257, 128))
    pages = paged(**parts, P=P)
    pages["table"][:, : 128 // P] = wrong
    renamed = {"k": pages["k_pages"], "v": pages["v_pages"]}
    inputs = {**{name: pages[name] for name in ("q", "table", "lengths")}, **renamed}
    o, lse = torch.full((2, 2, 64), torch.nan, dtype=HALF), torch.full((2, 2), torch.nan)
    o, lse = o.to(DEVICE), lse.to(DEVICE)
    decode_into(**inputs, o=o, lse=lse, scale=0.125, window=None, splits=None)
    wanted = decode(**parts, window=129)  # keys 128 to 256 of the first row; of the second no key is left
    torch.testing.assert_close((o[0], lse[0]), (wanted[0][0], wanted[1][0]), rtol=1e-3, atol=1e-3)
    assert (o[1] == 0).all()
    assert (lse[1] == -torch.inf).all()


def test_decode_paged_is_a_registered_operator() -> None:
    pages = paged(**drawn(2, 1, 16, HALF, (7, 0)), P=8)
    torch.library.opcheck(torch.ops.onesentence.decode_paged.default, (*pages.values(), 0.25, 5, 2))


@needs_cuda
def test_decode_paged_compiles() -> None:
    pages = paged(**drawn(2, 1, 64, HALF), P=16)
    compiled = torch.compile(decode_paged, fullgraph=True)
    assert_same(compiled(**pages), decode_paged(**pages))


def test_decode_paged_refuses_what_does_not_fit() -> None:
    pages = paged(**drawn(4, 2, 16, HALF, (3, 5)), P=16)
    k, table = pages["k_pages"], pages["table"]
    for changed, error, message in (
        (
            {"v_pages": k[1:]},
            ValueError,
            r"v_pages must have shape \(N, G, P, 16\), .* alike, got \(7, 2, 16, 16\)",
        ),
        (
            {"k_pages": k[:, :, :12], "v_pages": k[:, :, :12]},
            ValueError,
            "page size must be .* from 8, got 12",
        ),
        ({"k_pages": k[:, :, :4], "v_pages": k[:, :, :4]}, ValueError, "page size must be .* from 8, got 4"),
        ({"table": table.long()}, TypeError, "table must be int32, got torch.int64"),
        ({"table": table[:1]}, ValueError, r"table must have shape \(2, M\), M not 0, got \(1, 2\)"),
        ({"table": table[:, :0]}, ValueError, r"table must have shape \(2, M\), M not 0, got \(2, 0\)"),
        ({"table": table.to("meta")}, ValueError, "table must be on the device of q, .* got meta"),
        ({"v_pages": k.clone().requires_grad_()}, ValueError, "v_pages must not require a gradient"),
    ):
        arguments: dict[str, Any] = {**pages, **changed}
        with pytest.raises(error, match=message):
            decode_paged(**arguments)


@pytest.mark.skipif(cuda_present(), reason="lengths and table on CUDA are not read back")
def test_decode_paged_refuses_lengths_and_entries_that_it_can_see() -> None:
    pages = paged(**drawn(2, 1, 16, HALF, (3, 20)), P=8)
    with pytest.raises(ValueError, match=r"lengths must lie in \[0, 32\], got \[33, 0\]"):
        decode_paged(**{**pages, "lengths": torch.tensor([33, 0])})
    for wrong in (-1, pages["k_pages"].shape[0]):
        table = pages["table"].clone()
        table[1, 2] = wrong
        with pytest.raises(ValueError, match=rf"pages in \[0, 16\) .* got {wrong} at entry 2 of row 1"):
            decode_paged(**{**pages, "table": table})
        decode_paged(**{**pages, "table": table, "lengths": torch.tensor([3, 16])})
