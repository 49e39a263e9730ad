"""Decoding over contiguous keys against the float64 reference, under Triton's interpreter or on CUDA."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.evidence.closure import cuda_present
from onesentence.kernels.reference import attention

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
from onesentence.kernels.gpu import decode as module
from onesentence.kernels.gpu.decode import decode, decode_into

DEVICE = "cuda" if cuda_present() else "cpu"
LENGTHS = (0, 1, 7, 17, 63, 64, 65, 129, 257)
S = 260
HALF, FULL = torch.float16, torch.float32
BFLOAT = pytest.param(
    torch.bfloat16,
    marks=pytest.mark.skipif(
        not cuda_present(), reason="no CUDA here, and the interpreter's bfloat16 is wrong"
    ),
)


def drawn(
    H: int, G: int, D: int, dtype: torch.dtype, lengths: tuple[int, ...] = LENGTHS
) -> dict[str, Tensor]:
    """Return q, k, v and lengths; keys and values beyond the lengths are NaN."""
    generator = torch.Generator().manual_seed(H * D)
    B = len(lengths)
    q, k, v = (
        torch.randn(shape, generator=generator).to(dtype) for shape in ((B, H, D), (B, G, S, D), (B, G, S, D))
    )
    for row, length in enumerate(lengths):
        k[row, :, length:] = v[row, :, length:] = torch.nan
    parts = {"q": q, "k": k, "v": v, "lengths": torch.tensor(lengths)}
    return {name: part.to(DEVICE) for name, part in parts.items()}


def check(
    o: Tensor,
    lse: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    window: int = S,
    scale: float | None = None,
) -> None:
    """Hold against float64: the error is at most twice that of naive attention in the same dtype.

    On top come four float32 roundings of the largest value, so that it is no matter of luck in which order either adds up.
    """
    keys = torch.arange(k.shape[2], device=q.device)
    real = (keys < lengths[:, None]) & (keys >= lengths[:, None] - window)
    k, v = (torch.where(real[:, None, :, None], part, 0) for part in (k, v))
    options: dict[str, Any] = {"real": real, "scale": scale}
    exact = attention(q.double()[:, :, None], k.double(), v.double(), **options)
    naive = attention(q[:, :, None], k, v, **options)
    empty = lengths == 0
    assert (o[empty] == 0).all()
    assert (lse[empty] == -torch.inf).all()
    assert o.dtype == q.dtype
    assert lse.dtype == FULL
    for ours, theirs, reference in zip((o, lse), naive, exact, strict=True):
        reference = reference[~empty].squeeze(2)
        allowed = 2 * (theirs[~empty].squeeze(2) - reference).abs().max().item()
        floor = 4 * torch.finfo(FULL).eps * reference.abs().max().item()
        error = (ours[~empty] - reference).abs().max().item()  # NaN fails
        assert error <= allowed + floor


@pytest.mark.parametrize("dtype", [HALF, FULL, BFLOAT])
@pytest.mark.parametrize(
    ("H", "G", "D"), [(2, 2, 16), (4, 2, 48), (8, 2, 64), (8, 1, 80), (2, 1, 128), (1, 1, 256)]
)
def test_decode_is_as_good_as_naive_attention(H: int, G: int, D: int, dtype: torch.dtype) -> None:
    parts = drawn(H, G, D, dtype)
    check(*decode(**parts), **parts)


@pytest.mark.parametrize("splits", [1, 3, 9])
def test_decode_of_any_number_of_splits(splits: int) -> None:
    parts = drawn(2, 1, 128, HALF, (0, 7, 65, 257))  # 64 keys a step, so some of 9 splits are empty
    check(*decode(**parts, splits=splits), **parts)


@pytest.mark.parametrize("window", [1, 64, 100, 10**10])
def test_decode_of_a_window_reads_the_last_keys_only(window: int) -> None:
    parts = drawn(2, 1, 128, HALF, (0, 7, 65, 257))
    for row, length in enumerate((0, 7, 65, 257)):
        parts["k"][row, :, : max(0, length - window)] = parts["v"][row, :, : max(0, length - window)] = (
            torch.nan
        )
    check(*decode(**parts, window=window, splits=3), **parts, window=window)


@pytest.mark.parametrize(("group", "dtype"), [(20, HALF), (9, FULL)])
def test_decode_of_a_group_larger_than_a_tile(group: int, dtype: torch.dtype) -> None:
    parts = drawn(2 * group, 2, 16, dtype, (65, 0, 63))
    check(*decode(**parts, scale=-0.3), **parts, scale=-0.3)


def test_decode_by_hand() -> None:
    q = torch.ones(1, 1, 16, device=DEVICE)
    k = (torch.tensor([1.0, 2.0, 3.0], device=DEVICE).log() / 16)[None, None, :, None].expand(1, 1, 3, 16)
    v = torch.tensor([2.0, 4.0, 8.0], device=DEVICE)[None, None, :, None].expand(1, 1, 3, 16)
    o, lse = decode(q, k, v, torch.tensor([3], device=DEVICE), scale=1.0)
    assert o[0, 0].tolist() == pytest.approx([17 / 3] * 16, rel=1e-6)
    assert lse.item() == pytest.approx(math.log(6), rel=1e-6)


def test_decode_reads_views_where_they_lie() -> None:
    parts = drawn(4, 2, 48, HALF, (7, 257))
    wanted = decode(**parts)
    cache = torch.full(
        (3, 300, 2, 2, 2, 48), torch.nan, dtype=HALF, device=DEVICE
    )  # (row, key, layer, k or v, G, D)
    k, v = (cache[1:, 9 : 9 + S, 1, i].transpose(1, 2) for i in (0, 1))
    k.copy_(parts["k"])
    v.copy_(parts["v"])
    apart = torch.full((2, 4, 96), torch.nan, dtype=HALF, device=DEVICE)
    apart[..., ::2] = parts["q"]
    lengths = parts["lengths"].repeat_interleave(2).int()[::2]
    torch.testing.assert_close(decode(apart[..., ::2], k, v, lengths), wanted, rtol=1e-3, atol=1e-3)
    dims_apart = torch.full(
        (2, 2, 48, 2 * S), torch.nan, dtype=HALF, device=DEVICE
    )  # neighbours in D lie 2 S apart
    dims_apart[..., ::2] = parts["k"].mT
    apart_too = {**parts, "k": dims_apart[..., ::2].mT}
    torch.testing.assert_close(decode(**apart_too), wanted, rtol=1e-3, atol=1e-3)


def test_decode_reads_one_cache_for_all_rows() -> None:
    parts = drawn(2, 1, 16, HALF, (257, 257, 257))
    shared = {"k": parts["k"][:1].expand(3, -1, -1, -1), "v": parts["v"][:1].expand(3, -1, -1, -1)}
    check(*decode(**{**parts, **shared}), **{**parts, **shared})


def test_decode_into_writes_its_outputs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    bands: list[Tensor] = []

    def guarded(*shape: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        flat = torch.full((math.prod(shape) + 256,), 7.0, dtype=dtype, device=device)
        bands.append(flat)
        return flat[128:-128].fill_(torch.nan).view(shape)

    parts = drawn(6, 2, 48, HALF)
    device = parts["q"].device
    o, lse = (
        guarded(len(LENGTHS), 6, 48, dtype=HALF, device=device),
        guarded(len(LENGTHS), 6, dtype=FULL, device=device),
    )
    monkeypatch.setattr(module.torch, "empty", guarded)
    decode_into(**parts, table=None, o=o, lse=lse, scale=48**-0.5, window=None, splits=5)
    monkeypatch.undo()
    check(o, lse, **parts)
    assert len(bands) == 4
    for flat in bands:
        assert (flat[:128] == 7).all()
        assert (flat[-128:] == 7).all()


def test_decode_into_takes_lengths_outside_as_the_nearest() -> None:
    parts = drawn(2, 1, 16, HALF, (0, S))
    wanted = decode(**parts)
    o, lse = torch.empty_like(wanted[0]), torch.empty_like(wanted[1])
    wild = torch.tensor([-5, 10**12], device=DEVICE)
    decode_into(**{**parts, "lengths": wild}, table=None, o=o, lse=lse, scale=0.25, window=None, splits=None)
    torch.testing.assert_close((o, lse), wanted, rtol=0, atol=0)


def test_decode_is_a_registered_operator() -> None:
    parts = drawn(2, 1, 16, HALF, (7, 0))
    torch.library.opcheck(torch.ops.onesentence.decode.default, (*parts.values(), 0.25, None, None))


def test_decode_compiles_as_one_graph() -> None:
    parts = drawn(2, 1, 16, HALF, (7, 0))
    compiled = torch.compile(decode, fullgraph=True, backend="inductor" if cuda_present() else "aot_eager")
    torch.testing.assert_close(compiled(**parts), decode(**parts), rtol=0, atol=0)


def test_decode_refuses_what_does_not_fit() -> None:
    parts = drawn(4, 2, 16, HALF, (3, 5))
    q, k, lengths = parts["q"], parts["k"], parts["lengths"]
    for changed, error, message in (
        ({"q": q[0]}, ValueError, r"q must have shape \(B, H, D\), none of them 0, got \(4, 16\)"),
        ({"k": k[..., :8]}, ValueError, r"k must have shape \(2, G, S, 16\), .* got \(2, 2, 260, 8\)"),
        ({"v": k[:, :, :9]}, ValueError, r"v must have shape \(2, G, S, 16\), .* got \(2, 2, 9, 16\)"),
        ({"q": q[:1], "lengths": lengths[:1]}, ValueError, "k must have 1 rows, as q has, got 2"),
        ({"q": q[:, :3]}, ValueError, "q must have a multiple of the 2 key heads, got 3"),
        ({"k": k.float()}, TypeError, "k must have the dtype of q, torch.float16, got torch.float32"),
        ({"q": q.double()}, TypeError, "q must be float16, bfloat16 or float32, got torch.float64"),
        ({"lengths": lengths.float()}, TypeError, "lengths must be int32 or int64, got torch.float32"),
        ({"lengths": lengths[:1]}, ValueError, r"lengths must have shape \(2,\), got \(1,\)"),
        ({"lengths": lengths.to("meta")}, ValueError, "lengths must be on the device of q, .* got meta"),
        ({"window": 0}, ValueError, "window must be at least 1, got 0"),
        ({"splits": 0}, ValueError, "splits must be at least 1, got 0"),
        ({"splits": 65536}, ValueError, "splits must be at most 65535, got 65536"),
        ({"scale": math.inf}, ValueError, "scale must be finite"),
        ({"k": k.clone().requires_grad_()}, ValueError, "k must not require a gradient"),
    ):
        arguments: dict[str, Any] = {**parts, **changed}
        with pytest.raises(error, match=message):
            decode(**arguments)
    with torch.no_grad():
        decode(q.clone().requires_grad_(), k, parts["v"], lengths)


@pytest.mark.parametrize("D", [8, 20, 272])
def test_decode_refuses_other_head_sizes(D: int) -> None:
    q, k = torch.zeros(1, 1, D, device=DEVICE), torch.zeros(1, 1, 4, D, device=DEVICE)
    with pytest.raises(ValueError, match=f"head size .* 256, got {D}"):
        decode(q, k, k, torch.tensor([4], device=DEVICE))


@pytest.mark.skipif(cuda_present(), reason="lengths on CUDA are not read back")
@pytest.mark.parametrize("length", [-1, S + 1])
def test_decode_refuses_lengths_that_it_can_see(length: int) -> None:
    parts = drawn(1, 1, 16, HALF, (3,))
    with pytest.raises(ValueError, match=rf"lengths must lie in \[0, {S}\], got \[{length}\]"):
        decode(**{**parts, "lengths": torch.tensor([length])})
