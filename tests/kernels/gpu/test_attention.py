"""Triton's attention against the float64 reference; bound: what naive torch loses in the same dtype.

CPU builds of PyTorch have no attention of their own worth the name in float16, so "torch's own" is `kernels.reference` run
in the dtype under test: its largest error against float64, times two. On top come one rounding of the largest
value and four of it (of 1 at least) in float32, in which the kernels add up: which sum is lucky differs between processors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")

from onesentence.kernels.gpu.attention import attention
from onesentence.kernels.gpu.blocks import Blocks
from onesentence.kernels.gpu.forward import forward_launch
from onesentence.kernels.gpu.gradients import Read, write_gradients
from onesentence.kernels.gpu.launch import can_be_described, describe, operand
from onesentence.kernels.reference import attention as reference

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
BFLOAT16 = pytest.param(
    torch.bfloat16,
    marks=pytest.mark.skipif(not CUDA, reason="no CUDA, and the interpreter's bfloat16 is wrong"),
)
DTYPES = [torch.float16, torch.float32, BFLOAT16]
CASES = [  # B, H, G, T, S, D, causal
    (1, 1, 1, 1, 1, 16, True),
    (2, 2, 1, 7, 17, 48, True),
    (1, 4, 2, 64, 129, 80, True),
    (1, 2, 1, 65, 65, 128, True),
    (1, 2, 2, 129, 7, 64, True),
    (1, 1, 1, 257, 257, 64, True),
    (1, 2, 2, 63, 64, 64, False),
    (1, 1, 1, 17, 257, 256, False),
    (1, 6, 2, 1, 63, 96, False),
]


def drawn(B: int, H: int, G: int, T: int, S: int, D: int, dtype: torch.dtype, seed: int) -> list[Tensor]:
    """Return q, k, v, and gradients of output and log-sum-exp."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(B, H, T, D), (B, G, S, D), (B, G, S, D), (B, H, T, D), (B, H, T)]
    q, k, v, do, dlse = (torch.randn(shape, generator=generator).to(DEVICE) for shape in shapes)
    return [*(part.to(dtype) for part in (q, k, v, do)), dlse]


def results(read: Any, parts: list[Tensor], dtype: torch.dtype, **options: Any) -> tuple[Tensor, ...]:
    """Return output, log-sum-exp and the gradients of q, k and v of one read, in one dtype."""
    q, k, v = (part.detach().to(dtype).requires_grad_() for part in parts[:3])
    o, lse = read(q, k, v, **options)
    some = lse > -torch.inf
    torch.autograd.backward([o, lse[some]], [parts[3].to(o.dtype), parts[4].to(lse.dtype)[some]])
    return tuple(part for part in (o.detach(), lse.detach(), q.grad, k.grad, v.grad) if part is not None)


def error(found: Tensor, true: Tensor) -> float:
    """Return the largest error of numbers that have to be infinite in the same places."""
    assert torch.equal(found == -torch.inf, true == -torch.inf)
    return (
        (found.double() - true).masked_fill(true == -torch.inf, 0.0).abs().nan_to_num(torch.inf).max().item()
    )


def assert_as_good_as_torch(found: tuple[Tensor, ...], parts: list[Tensor], **options: Any) -> None:
    true = results(reference, parts, torch.float64, **options)
    theirs = results(reference, parts, parts[0].dtype, **options)
    for name, ours, naive, exact in zip(("o", "lse", "dq", "dk", "dv"), found, theirs, true, strict=True):
        largest = exact.masked_fill(exact == -torch.inf, 0.0).abs().max().item()
        floor = torch.finfo(ours.dtype).eps * largest + 4 * torch.finfo(torch.float32).eps * max(largest, 1)
        bound = 2 * error(naive, exact) + floor
        assert error(ours, exact) <= bound, name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "H", "G", "T", "S", "D", "causal"), CASES)
def test_attention_loses_no_more_than_torch(
    B: int, H: int, G: int, T: int, S: int, D: int, causal: bool, dtype: torch.dtype
) -> None:
    parts = drawn(B, H, G, T, S, D, dtype, seed=T)
    found = results(attention, parts, dtype, causal=causal)
    assert found[0].dtype == dtype
    assert found[1].dtype == torch.float32
    assert_as_good_as_torch(found, parts, causal=causal)


@pytest.mark.parametrize(("scale", "seed"), [(0.0, 1), (-0.7, 2), (0.4, 3)])
def test_attention_takes_any_scale(scale: float, seed: int) -> None:
    parts = drawn(1, 2, 1, 9, 21, 32, torch.float32, seed)
    found = results(attention, parts, torch.float32, causal=True, scale=scale)
    assert_as_good_as_torch(found, parts, causal=True, scale=scale)


def framed(part: Tensor, frame: int, fill: float) -> tuple[Tensor, Tensor]:
    """Return a larger tensor full of one value, and a copy of `part` that lies inside of it."""
    outer = part.new_full([size + 2 * frame for size in part.shape], fill)
    inner = outer[(slice(frame, -frame),) * part.ndim]
    inner.copy_(part)
    return outer, inner


@pytest.mark.parametrize("blocks", [Blocks(16, 32), Blocks(64, 16)])
@pytest.mark.parametrize(("dtype", "frame"), [(torch.float16, 8), (torch.float32, 3)], ids=str)
@pytest.mark.parametrize(
    ("T", "S", "D", "causal"), [(33, 47, 16, True), (50, 35, 40, True), (17, 33, 16, False)]
)
def test_kernels_read_and_write_nothing_outside(
    T: int, S: int, D: int, causal: bool, dtype: torch.dtype, frame: int, blocks: Blocks
) -> None:
    parts = drawn(1, 2, 1, T, S, D, dtype, seed=T)
    q, k, v, do, dlse = (framed(part, frame, torch.nan)[1] for part in parts)
    assert describe(q, k, v, do) == (frame == 8)
    poison = [torch.full_like(part, torch.nan) for part in (q, dlse, q, k, v)]
    frames, (o, lse, dq, dk, dv) = zip(*(framed(part, 4, 7.0) for part in poison), strict=True)
    forward_launch(q, k, v, o, lse, causal=causal, scale=D**-0.5, blocks=blocks).run()
    read = Read(q, k, v, o, lse, do, dlse, causal, D**-0.5)
    write_gradients(read, dq, dk, dv, keys_blocks=blocks, queries_blocks=blocks)
    assert_as_good_as_torch((o, lse, dq, dk, dv), parts, causal=causal)
    for outer, inner in zip(frames, (o, lse, dq, dk, dv), strict=True):
        inner.fill_(7.0)
        assert (outer == 7.0).all()


def test_can_be_described_wants_steps_of_16_bytes() -> None:
    x = torch.zeros(2, 3, 5, 24, dtype=torch.float16)
    assert can_be_described(x)
    assert can_be_described(x[..., :16])
    assert can_be_described(x[:1, :1].expand(1, 1, 5, 24))
    assert not can_be_described(x[..., :12])
    assert not can_be_described(x[..., 4:20])
    assert not can_be_described(x[:, :, :1].expand(-1, -1, 4, -1))
    assert not can_be_described(x.mT)
    alone = x.as_strided((1, 1, 5, 24), (3, 7, 24, 1))  # axes of one entry, never stepped along
    assert can_be_described(alone)
    assert operand(alone, 16, described=True).strides == [8, 8, 24, 1]
    assert not can_be_described(torch.zeros(2, 3, 5, 20, dtype=torch.float16)[..., :16])


def test_attention_takes_transposed_and_expanded_parts() -> None:
    generator = torch.Generator().manual_seed(5)
    q = torch.randn(2, 19, 4, 24, generator=generator).transpose(1, 2).to(DEVICE)
    k = torch.randn(1, 2, 24, 30, generator=generator).mT.expand(2, -1, -1, -1).to(DEVICE)
    v = torch.randn(2, 2, 1, 24, generator=generator).expand(-1, -1, 30, -1).to(DEVICE)
    do = torch.ones((), device=DEVICE).expand(2, 4, 19, 24)
    dlse = torch.zeros((), device=DEVICE).expand(2, 4, 19)
    parts = [q, k, v, do, dlse]
    o, lse = torch.empty_like(q), torch.empty(2, 4, 19, device=DEVICE)
    forward_launch(q, k, v, o, lse, causal=True, scale=24**-0.5).run()
    gradients = tuple(torch.empty(part.shape, device=DEVICE) for part in (q, k, v))
    write_gradients(Read(q, k, v, o, lse, do, dlse, True, 24**-0.5), *gradients)
    assert_as_good_as_torch((o, lse, *gradients), parts, causal=True)
    assert_as_good_as_torch(results(attention, parts, torch.float32, causal=True), parts, causal=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_without_anything_to_read_is_zero_and_passes_no_gradient(dtype: torch.dtype) -> None:
    q, k, v, do, dlse = drawn(1, 2, 1, 40, 25, 16, dtype, seed=0)
    q, k, v = (part.requires_grad_() for part in (q, k, v))
    o, lse = attention(q, k, v, causal=True)
    assert (o[:, :, :15] == 0).all()
    assert (lse[:, :, :15] == -torch.inf).all()
    dlse[:, :, :15] = torch.nan  # what a function of -inf may well have
    torch.autograd.backward([o, lse], [do, dlse])
    assert q.grad is not None
    assert (q.grad[:, :, :15] == 0).all()
    assert torch.isfinite(q.grad).all()
    changed = do.clone()
    changed[:, :, :15] += 1
    again = results(attention, [q, k, v, changed, dlse], dtype, causal=True)
    assert k.grad is not None
    assert torch.equal(again[3], k.grad)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of rows beyond the last key, which are never written
@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_very_low_scores_stays_finite(causal: bool) -> None:
    parts = drawn(1, 2, 1, 20, 21, 16, torch.float32, seed=0)
    parts[0] += (
        10  # scores about -400: what stands in for a key beyond the end, score 0, would be e^400 times as heavy
    )
    parts[1] -= 10
    found = results(attention, parts, torch.float32, causal=causal)
    for ours, exact in zip(found, results(reference, parts, torch.float64, causal=causal), strict=True):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_does_not_see_the_future(dtype: torch.dtype) -> None:
    q, k, v, *_ = drawn(1, 2, 2, 70, 70, 16, dtype, seed=0)
    before = attention(q, k, v, causal=True)
    k[:, :, 50:] += 3.0
    v[:, :, 50:] -= 5.0
    for old, new in zip(before, attention(q, k, v, causal=True), strict=True):
        assert torch.equal(old[:, :, :50], new[:, :, :50])
        assert not torch.equal(old[:, :, 50:], new[:, :, 50:])


def test_attention_passes_opcheck() -> None:
    q, k, v, *_ = drawn(1, 2, 1, 9, 7, 16, torch.float32, seed=0)
    q, k, v = (part.requires_grad_() for part in (q, k, v))
    torch.library.opcheck(torch.ops.onesentence.attention.default, (q, k, v, True, 0.25))


@pytest.mark.parametrize(
    "backend",
    [
        "aot_eager",
        pytest.param("inductor", marks=pytest.mark.skipif(not CUDA, reason="no CUDA to compile for")),
    ],
)
def test_attention_is_one_op_to_torch_compile(backend: str) -> None:
    parts = drawn(1, 2, 1, 20, 20, 16, torch.float32, seed=0)
    compiled = torch.compile(attention, fullgraph=True, backend=backend)
    found = results(compiled, parts, torch.float32, causal=True)
    for ours, eager in zip(found, results(attention, parts, torch.float32, causal=True), strict=True):
        torch.testing.assert_close(ours, eager)


def test_attention_refuses_what_it_cannot_read() -> None:
    q, k, v, *_ = drawn(1, 2, 1, 3, 4, 16, torch.float32, seed=0)
    with pytest.raises(ValueError, match=r"v must have shape \(1, G, 4, 16\)"):
        attention(q, k, v[:, :, :2])
    with pytest.raises(TypeError, match=r"q must be float16, bfloat16 or float32, got torch.float64"):
        attention(q.double(), k.double(), v.double())
    with pytest.raises(ValueError, match=r"q must have a head size of at most 256, got 257"):
        attention(*(torch.zeros(1, 1, 1, 257, device=DEVICE),) * 3)
    with pytest.raises(ValueError, match="scale must be finite"):
        attention(q, k, v, scale=float("inf"))
    with pytest.raises(ValueError, match=r"k must be on the device of q, .*, got meta"):
        attention(q, k.to("meta"), v)


@pytest.mark.skipif(CUDA, reason="CUDA's bfloat16 is right")
def test_attention_refuses_the_interpreters_bfloat16() -> None:
    q = torch.zeros(1, 1, 1, 16, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match="whose bfloat16 is wrong"):
        attention(q, q, q)


def test_attention_refuses_the_cpu_without_the_interpreter_and_says_so_without_triton() -> None:
    script = (
        "import torch, sys\n"
        "from onesentence.kernels.gpu.runtime import check_kernel_takes\n"
        "try: check_kernel_takes(torch.zeros(1, 16))\n"
        "except ValueError as error: print(error)\n"
        "for name in [name for name in sys.modules if name.startswith(('triton', 'onesentence'))]: del sys.modules[name]\n"
        "sys.modules['triton'] = None\n"
        "import onesentence.kernels.gpu\n"
        "try: import onesentence.kernels.gpu.attention\n"
        "except ImportError as error: print(error)\n"
    )
    env = {**os.environ, "TRITON_INTERPRET": "0"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    first, second = run.stdout.splitlines()
    assert first.startswith(
        "q must be on CUDA, got cpu; Triton's interpreter would take it, but TRITON_INTERPRET=1"
    )
    assert second.startswith("onesentence.kernels.gpu needs Triton 3.6 or later")
