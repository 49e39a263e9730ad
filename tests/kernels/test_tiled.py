"""Tiled attention against the reference, PyTorch's own attention and finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from onesentence.kernels import reference
from onesentence.kernels.tiled import attention
from onesentence.kernels.tiles import Blocks

LENGTHS = (1, 7, 17, 63, 64, 65, 129, 257)
SHAPES = [  # B, H, G, T, S, D
    (1, 1, 1, 1, 1, 1),
    (2, 4, 4, 7, 7, 5),
    (3, 6, 2, 5, 17, 3),
    (2, 4, 1, 17, 4, 2),
    (1, 2, 2, 1, 33, 8),
]


def drawn(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Draw q, k, v and the gradients of both results."""
    B, H, G, T, S, D = sizes
    shapes = ((B, H, T, D), (B, G, S, D), (B, G, S, D), (B, H, T, D), (B, H, T))
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def drawn_real(B: int, S: int, seed: int = 0) -> Tensor:
    """Draw which keys count; the first row has none."""
    real = torch.rand(B, S, generator=torch.Generator().manual_seed(seed)) < 0.6
    real[0] = False
    return real


def results(call: Callable[..., Any], parts: list[Tensor], **options: Any) -> list[Tensor]:
    """Return o and lse, and the gradients of q, k and v from both."""
    q, k, v = (part.detach().clone().requires_grad_() for part in parts[:3])
    o, lse = call(q, k, v, **options)
    found = lse > -torch.inf
    loss = (o * parts[3]).sum() + (lse[found] * parts[4][found]).sum()
    return [o.detach(), lse.detach(), *torch.autograd.grad(loss, (q, k, v))]


@pytest.mark.parametrize(
    "blocks", [None, Blocks(1, 1), Blocks(4, 3), Blocks(6, 100), Blocks(100, 7)], ids=str
)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_attention_and_its_gradients_are_the_references(
    sizes: tuple[int, ...], causal: bool, padded: bool, blocks: Blocks | None
) -> None:
    parts = drawn(*sizes)
    options = {"causal": causal, "real": drawn_real(sizes[0], sizes[4]) if padded else None, "scale": 0.7}
    theirs = results(reference.attention, parts, **options)
    for mine, exact in zip(results(attention, parts, **options, blocks=blocks), theirs, strict=True):
        torch.testing.assert_close(mine, exact, atol=1e-12, rtol=1e-12)


def errors(
    sizes: tuple[int, ...], causal: bool, dtype: torch.dtype, blocks: Blocks | None
) -> Iterator[tuple[str, float, float, float]]:
    """Yield the largest errors over three seeds, against float64: of tiles and of PyTorch's attention.

    By name of the output and of each gradient, with one rounding of the largest exact value.
    """
    T, S = sizes[3:5]
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal and T != S else None
    square = causal and T == S

    def theirs(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        o = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=square, enable_gqa=True)
        return o, q.new_zeros(q.shape[:-1])

    runs = []
    for seed in range(3):
        parts = drawn(*sizes, seed=seed, dtype=dtype)
        parts[4].zero_()
        exact = results(reference.attention, [part.double() for part in parts], causal=causal)
        mine = results(attention, parts, causal=causal, blocks=blocks)
        runs.append((exact, mine, results(theirs, parts)))
    for place, name in ((0, "o"), (2, "dq"), (3, "dk"), (4, "dv")):
        worst = [max(float((run[i][place] - run[0][place]).abs().max()) for run in runs) for i in (1, 2)]
        largest = max(float(run[0][place].abs().max()) for run in runs)
        yield name, worst[0], worst[1], torch.finfo(dtype).eps * largest


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("D", [48, 80])
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("N", LENGTHS)
def test_attention_errs_at_most_twice_as_much_as_pytorchs(N: int, D: int, causal: bool, small: bool) -> None:
    """On top comes one rounding of the largest exact value, for PyTorch may make no error at all.

    One key has weight 1: gradients of q and k are exactly 0, and what either leaves is the rounding of two sums over D.
    """
    blocks = None if not small else Blocks(16, 24) if N < 129 else Blocks(32, 48)
    for name, mine, theirs, one in errors((1, 2, 2, N, N, D), causal, torch.float32, blocks):
        nothing = D * torch.finfo(torch.float32).eps if N == 1 and name in ("dq", "dk") else 0.0
        assert mine <= 2 * theirs + one + nothing, (name, mine, theirs, one)


@pytest.mark.parametrize("N", LENGTHS)
def test_attention_with_one_number_per_head_errs_by_few_roundings(N: int) -> None:
    """Of so few numbers, one product each, the largest error is luck, softmax by hand has up to five times PyTorch's."""
    for name, mine, theirs, one in errors((1, 2, 2, N, N, 1), False, torch.float32, Blocks(16, 24)):
        assert mine <= max(2 * theirs, 8 * one), (name, mine, theirs, one)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize(
    ("sizes", "causal"), [((2, 4, 2, 65, 129, 48), False), ((1, 4, 1, 33, 80, 16), True)]
)
def test_attention_grouped_and_in_half_precision_errs_at_most_twice_as_much_as_pytorchs(
    sizes: tuple[int, ...], causal: bool, dtype: torch.dtype
) -> None:
    for name, mine, theirs, one in errors(sizes, causal, dtype, Blocks(32, 40)):
        assert mine <= 2 * theirs + one, (name, mine, theirs, one)


def test_gradients_of_half_precision_are_summed_in_float32() -> None:
    large = torch.full((1, 1, 2, 4), 300.0, dtype=torch.float16)  # 300 * 300 has no place in float16
    q = torch.ones_like(large).requires_grad_()
    attention(q, q.detach(), large)[0].backward(large)
    assert q.grad is not None
    assert (q.grad == 0).all()


def test_attention_of_half_precision_keeps_the_log_sum_exp_in_float32() -> None:
    q, k, v, *_ = drawn(1, 2, 1, 5, 6, 4, dtype=torch.bfloat16)
    o, lse = attention(q, k, v)
    assert (o.dtype, lse.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(lse, reference.attention(q.float(), k.float(), v.float())[1])


def test_attention_takes_any_strides() -> None:
    B, H, G, T, S, D = 2, 4, 2, 9, 11, 6
    q = torch.randn(B, T, H, D, dtype=torch.float64).transpose(1, 2)
    k = torch.randn(B, G, D, S, dtype=torch.float64).mT
    v = torch.randn(1, 1, S, 2 * D, dtype=torch.float64)[..., ::2].expand(B, G, S, D)
    do, dlse = (
        torch.ones((), dtype=torch.float64).expand(B, H, T, D),
        torch.randn(B, H, T, dtype=torch.float64),
    )
    laid_out = [part.contiguous() for part in (q, k, v, do, dlse)]
    for blocks in (Blocks(4, 4), Blocks()):
        q_, k_, v_ = (part.detach().requires_grad_() for part in (q, k, v))
        o, lse = attention(q_, k_, v_, causal=True, blocks=blocks)
        found = [o, lse, *torch.autograd.grad((o, lse), (q_, k_, v_), (do, dlse))]
        for mine, exact in zip(found, results(reference.attention, laid_out, causal=True), strict=True):
            torch.testing.assert_close(mine, exact, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_gradcheck(causal: bool) -> None:
    q, k, v = (part.requires_grad_() for part in drawn(2, 2, 1, 3, 4, 2)[:3])
    real = torch.tensor([[True, True, False, True], [False, False, False, True]])

    def both(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        o, lse = attention(q, k, v, causal=causal, real=real, blocks=Blocks(2, 3))
        return o, lse[lse > -torch.inf]

    assert torch.autograd.gradcheck(both, (q, k, v))


def test_attention_refuses_to_be_differentiated_twice() -> None:
    q, k, v = (part.requires_grad_() for part in drawn(1, 1, 1, 2, 2, 2)[:3])
    (dq,) = torch.autograd.grad(attention(q, k, v)[0].sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match=r"attention can be differentiated once"):
        dq.sum().backward()


def test_attention_without_anything_to_read_is_zero_and_passes_no_gradient() -> None:
    q, k, v, *_ = drawn(2, 2, 1, 9, 5, 3)
    real = torch.tensor([[True] * 5, [False] * 5])
    nothing = torch.zeros(2, 2, 9, dtype=torch.bool)
    nothing[0, :, :4] = True
    nothing[1] = True
    for part in (q, k, v):
        part.requires_grad_()
    o, lse = attention(q, k, v, causal=True, real=real, blocks=Blocks(6, 2))
    assert (o[nothing] == 0).all()
    assert ((lse == -torch.inf) == nothing).all()
    (o.sum() + (lse.square()).sum()).backward()  # of lse the gradient is -inf there
    assert q.grad is not None
    assert k.grad is not None
    assert v.grad is not None
    assert (q.grad[nothing] == 0).all()
    assert (k.grad[1] == 0).all()
    assert (v.grad[1] == 0).all()
    assert all(torch.isfinite(grad).all() for grad in (q.grad, k.grad, v.grad))


@given(queries=st.integers(1, 40), keys=st.integers(1, 40), causal=st.booleans(), seed=st.integers(0, 3))
@settings(max_examples=40)
def test_attention_is_the_same_for_all_blocks(queries: int, keys: int, causal: bool, seed: int) -> None:
    parts, real = drawn(2, 4, 2, 13, 29, 4, seed=seed), drawn_real(2, 29, seed)
    mine = results(attention, parts, causal=causal, real=real, blocks=Blocks(queries, keys))
    for one, other in zip(mine, results(attention, parts, causal=causal, real=real), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_attention_of_scores_far_apart_is_the_references(dtype: torch.dtype) -> None:
    parts = drawn(1, 2, 2, 40, 40, 8, dtype=dtype)
    parts[0] *= 300
    theirs = results(reference.attention, parts, causal=True)
    for mine, exact in zip(results(attention, parts, causal=True, blocks=Blocks(8, 8)), theirs, strict=True):
        assert torch.isfinite(mine).all()
        torch.testing.assert_close(mine, exact, atol=2e-3 if dtype == torch.float32 else 1e-10, rtol=1e-5)


def test_attention_leaves_its_inputs_alone_and_keeps_no_more_than_it_says() -> None:
    q, k, v, do, dlse = drawn(2, 4, 2, 9, 11, 4)
    real = drawn_real(2, 11)
    before = [part.clone() for part in (q, k, v, do, dlse, real)]
    kept: list[tuple[int, ...]] = []

    def keep(part: Tensor) -> Tensor:
        kept.append(tuple(part.shape))
        return part

    for part in (q, k, v):
        part.requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda part: part):
        o, lse = attention(q, k, v, causal=True, real=real, blocks=Blocks(4, 4))
    torch.autograd.grad((o, lse), (q, k, v), (do, dlse))
    assert sorted(kept) == sorted(tuple(part.shape) for part in (q, k, v, o, lse, real))
    for part, old in zip((q, k, v, do, dlse, real), before, strict=True):
        assert torch.equal(part, old)


def test_attention_refuses_what_does_not_fit() -> None:
    q, k, v, *_ = drawn(1, 4, 2, 3, 5, 8)
    with pytest.raises(TypeError, match="k must be a tensor, got ndarray"):
        attention(q, k.numpy(), v)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="real must be a tensor, got list"):
        attention(q, k, v, real=[[True] * 5])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="v must be on the device of q, cpu, got meta"):
        attention(q, k, v.to("meta"))
    with pytest.raises(
        TypeError, match=r"q must hold float16, bfloat16, float32 or float64, got torch.float8_e5m2"
    ):
        attention(*(part.to(torch.float8_e5m2) for part in (q, k, v)))
    with pytest.raises(ValueError, match="q must have a multiple of the 2 heads of k, got 3"):
        attention(q[:, :3], k, v)
    with pytest.raises(ValueError, match="scale must be finite"):
        attention(q, k, v, scale=float("inf"))
    with pytest.raises(TypeError, match="blocks must be Blocks, got tuple"):
        attention(q, k, v, blocks=(64, 64))  # type: ignore[arg-type]
