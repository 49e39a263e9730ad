"""Sequences that lie end to end are read as if each were alone."""

from __future__ import annotations

from itertools import accumulate

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")

from onesentence.kernels.gpu.blocks import Blocks
from onesentence.kernels.gpu.forward import forward_launch
from onesentence.kernels.gpu.gradients import Read, write_gradients
from onesentence.kernels.gpu.launch import Packing
from onesentence.kernels.gpu.packed import attention, longest_of
from onesentence.kernels.reference import attention as alone

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
BFLOAT16 = pytest.param(
    torch.bfloat16,
    marks=pytest.mark.skipif(not CUDA, reason="no CUDA, and the interpreter's bfloat16 is wrong"),
)
QUERIES, KEYS = (5, 0, 33, 1, 9), (7, 4, 64, 0, 3)


def starts_of(lengths: tuple[int, ...]) -> Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=DEVICE)


def drawn(D: int, dtype: torch.dtype, seed: int) -> list[Tensor]:
    """Return q, k, v and the gradients of output and log-sum-exp, 4 query heads to 2 key heads."""
    generator = torch.Generator().manual_seed(seed)
    N, M = sum(QUERIES), sum(KEYS)
    shapes = [(N, 4, D), (M, 2, D), (M, 2, D), (N, 4, D), (N, 4)]
    q, k, v, do, dlse = (torch.randn(shape, generator=generator).to(DEVICE) for shape in shapes)
    return [*(part.to(dtype) for part in (q, k, v, do)), dlse]


def one_by_one(parts: list[Tensor], causal: bool) -> tuple[Tensor, ...]:
    """Return output, log-sum-exp and gradients in float64, each sequence read alone by the reference."""
    q, k, v, do, dlse = (part.double() for part in parts)
    found = [torch.zeros_like(q), torch.full_like(dlse, -torch.inf), *map(torch.zeros_like, (q, k, v))]
    q_starts, k_starts = starts_of(QUERIES).tolist(), starts_of(KEYS).tolist()
    for i, (T, S) in enumerate(zip(QUERIES, KEYS, strict=True)):
        if T and S:
            rows, keys = slice(q_starts[i], q_starts[i] + T), slice(k_starts[i], k_starts[i] + S)
            own = [x.detach().transpose(0, 1)[None].requires_grad_() for x in (q[rows], k[keys], v[keys])]
            o, lse = alone(*own, causal=causal)
            some = lse > -torch.inf
            torch.autograd.backward(
                [o, lse[some]], [do[rows].transpose(0, 1)[None], dlse[rows].T[None][some]]
            )
            places = (rows, rows, rows, keys, keys)
            for whole, place, part in zip(found, places, (o, lse, *(x.grad for x in own)), strict=True):
                assert part is not None
                whole[place] = part.detach()[0].transpose(0, 1)
    return tuple(found)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, BFLOAT16])
@pytest.mark.parametrize(("D", "causal"), [(16, True), (48, False), (64, True)])
def test_attention_reads_each_sequence_as_if_it_were_alone(D: int, causal: bool, dtype: torch.dtype) -> None:
    parts = drawn(D, dtype, seed=D)
    q, k, v = (part.requires_grad_() for part in parts[:3])
    o, lse = attention(q, k, v, starts_of(QUERIES), starts_of(KEYS), causal=causal)
    torch.autograd.backward([o, lse], parts[3:])
    found = (o, lse, q.grad, k.grad, v.grad)
    for ours, theirs in zip(found, one_by_one([x.detach() for x in parts], causal), strict=True):
        assert ours is not None
        tolerance = torch.finfo(ours.dtype).eps * 8
        torch.testing.assert_close(ours.double(), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, BFLOAT16])
@pytest.mark.parametrize(("D", "causal"), [(48, True), (80, False)])
def test_attention_of_many_lengths_loses_no_more_than_torch(D: int, causal: bool, dtype: torch.dtype) -> None:
    """Against float64, sequence by sequence; bound: twice what the reference loses in the dtype, and four roundings."""
    lengths = (1, 7, 17, 63, 64, 65, 129, 257)
    q_starts, k_starts = starts_of(lengths), starts_of((1, 17, 7, 64, 63, 129, 257, 65))
    generator = torch.Generator().manual_seed(D)
    shapes = [(sum(lengths), H, D) for H in (2, 1, 1, 2)]
    *parts, do = (torch.randn(shape, generator=generator).to(DEVICE, dtype) for shape in shapes)
    q, k, v = (part.requires_grad_() for part in parts)
    o, _ = attention(q, k, v, q_starts, k_starts, causal=causal)
    found = (o, *torch.autograd.grad(o, (q, k, v), do))

    def one_by_one(dtype: torch.dtype) -> list[Tensor]:
        whole: list[list[Tensor]] = [[], [], [], []]
        for i in range(len(lengths)):
            rows, keys = slice(*q_starts[i : i + 2].tolist()), slice(*k_starts[i : i + 2].tolist())
            cut = (q[rows], k[keys], v[keys], do[rows])
            *own, upstream = (x.detach().to(dtype).transpose(0, 1)[None] for x in cut)
            own = [x.requires_grad_() for x in own]
            read, _ = alone(*own, causal=causal)
            for some, x in zip(whole, (read, *torch.autograd.grad(read, own, upstream)), strict=True):
                some.append(x.detach()[0].transpose(0, 1))
        return [torch.cat(some) for some in whole]

    for ours, theirs, exact in zip(found, one_by_one(dtype), one_by_one(torch.float64), strict=True):
        lost, floor = (theirs - exact).abs().max(), 4 * torch.finfo(dtype).eps * exact.abs().max()
        assert (ours - exact).abs().max() <= 2 * lost + floor  # NaN fails


def test_kernels_keep_to_their_rows() -> None:
    blocks = Blocks(32, 16)
    parts = drawn(24, torch.float32, seed=3)
    poison = [torch.full_like(part, torch.nan) for part in (parts[0], parts[4], *parts[:3])]
    frames = [torch.full((x.shape[0] + 6, *x.shape[1:]), 7.0, device=DEVICE) for x in poison]
    inner = [frame[3:-3] for frame in frames]
    for into, part in zip(inner, poison, strict=True):
        into.copy_(part)
    packing = Packing(starts_of(QUERIES), starts_of(KEYS), max(QUERIES), max(KEYS))
    q, k, v, do, dlse, o, lse, dq, dk, dv = (x.transpose(0, 1)[None] for x in (*parts, *inner))
    forward_launch(q, k, v, o, lse, causal=False, scale=24**-0.5, packing=packing, blocks=blocks).run()
    read = Read(q, k, v, o, lse, do, dlse, False, 24**-0.5, packing)
    write_gradients(read, dq, dk, dv, keys_blocks=blocks, queries_blocks=blocks)
    for ours, theirs in zip(inner, one_by_one(parts, causal=False), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=2e-6, atol=2e-6)
    assert all((frame[:3] == 7.0).all() and (frame[-3:] == 7.0).all() for frame in frames)


def test_attention_does_not_see_other_sequences() -> None:
    q, k, v, *_ = drawn(16, torch.float32, seed=1)
    before, _ = attention(q, k, v, starts_of(QUERIES), starts_of(KEYS))
    k[7:], v[7:] = torch.nan, torch.nan
    after, _ = attention(q, k, v, starts_of(QUERIES), starts_of(KEYS))
    assert torch.equal(before[:5], after[:5])


def test_attention_of_no_rows_at_all() -> None:
    q, k, _, *_ = drawn(16, torch.float32, seed=1)
    none = starts_of((0, 0))
    o, lse = attention(q[:0], k, k, none, starts_of((40, 38)))
    assert o.shape == (0, 4, 16)
    o, lse = attention(q, k[:0], k[:0], starts_of((40, 8)), none)
    assert (o == 0).all()
    assert (lse == -torch.inf).all()


def test_attention_passes_opcheck() -> None:
    parts = [part.requires_grad_() for part in drawn(16, torch.float32, seed=0)[:3]]
    q, k, v = (part.detach()[:12, : part.shape[1] // 2].requires_grad_() for part in parts)
    starts = starts_of((4, 0, 8)), starts_of((5, 1, 6))
    options = (8, 6, True, 0.25)
    torch.library.opcheck(torch.ops.onesentence.attention_packed.default, (q, k, v, *starts, *options))


def test_attention_refuses_what_does_not_fit() -> None:
    q, k, v, *_ = drawn(16, torch.float32, seed=0)
    q_starts, k_starts = starts_of(QUERIES), starts_of(KEYS)
    with pytest.raises(ValueError, match=r"q must have shape \(rows, heads, D\), got \(1, 48, 4, 16\)"):
        attention(q[None], k, v, q_starts, k_starts)
    with pytest.raises(
        ValueError, match=r"v must have shape \(78, G, 16\), as q and k say, got \(77, 2, 16\)"
    ):
        attention(q, k, v[1:], q_starts, k_starts)
    with pytest.raises(ValueError, match="q must have a multiple of the 2 heads of k, got 3"):
        attention(q[:, :3], k, v, q_starts, k_starts)
    with pytest.raises(TypeError, match=r"k must have the dtype of q, torch\.float32, got torch\.float16"):
        attention(q, k.half(), v, q_starts, k_starts)
    with pytest.raises(ValueError, match="k_starts must have 6 entries as q_starts has, got 3"):
        attention(q, k, v, q_starts, starts_of((70, 8)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 3, 2, 48], r"starts must rise from 0 to 48, the number of rows, got \[0, 3, 2, 48\]"),
        ([1, 48], "starts must rise from 0 to 48"),
        ([0, 5, *range(6, 20), 47], r"got \[0, 5, 6, 7, …, 47\]"),
        ([0], r"starts must have shape \(B \+ 1,\) for B of at least 1 sequences, got \(1,\)"),
        ([[0, 48]], r"starts must have shape \(B \+ 1,\)"),
    ],
)
def test_longest_of_refuses_starts_that_do_not_rise(values: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        longest_of("starts", torch.tensor(values, dtype=torch.int32), 48, torch.device("cpu"))


def test_longest_of_refuses_other_integers() -> None:
    with pytest.raises(TypeError, match=r"starts must be int32, got torch.int64"):
        longest_of("starts", torch.tensor([0, 4]), 4, torch.device("cpu"))
