"""The reference against NumPy's read, PyTorch's own attention and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from onesentence.attention.read import read
from onesentence.kernels.reference import attention
from onesentence.kernels.sizes import scale_of, sizes_of


def drawn(B: int, H: int, G: int, T: int, S: int, D: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = ((B, H, T, D), (B, G, S, D), (B, G, S, D))
    q, k, v = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return q, k, v


def test_attention_is_the_read_of_every_head() -> None:
    q, k, v = drawn(2, 4, 4, 3, 5, 6)
    context = read(q.numpy(), k.numpy(), v.numpy(), scale=None).context
    np.testing.assert_allclose(attention(q, k, v)[0], context, atol=1e-12)


@pytest.mark.parametrize(("T", "S"), [(4, 4), (2, 7), (1, 3)])
def test_attention_causal_and_grouped_is_torchs(T: int, S: int) -> None:
    q, k, v = drawn(2, 6, 2, T, S, 8)
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    torch.testing.assert_close(attention(q, k, v, causal=True)[0], theirs)


def test_attention_by_hand() -> None:
    k = torch.log(torch.tensor([[[[1.0], [2.0], [3.0]]]], dtype=torch.float64))
    v = torch.tensor([[[[2.0], [4.0], [8.0]]]], dtype=torch.float64)
    o, lse = attention(torch.ones_like(k[:, :, :1]), k, v)
    assert o.item() == pytest.approx(17 / 3, abs=1e-12)
    assert lse.exp().item() == pytest.approx(6, abs=1e-12)


def test_attention_without_anything_to_read_is_zero_and_passes_no_gradient() -> None:
    q, k, v = (part.requires_grad_() for part in drawn(2, 2, 1, 4, 2, 3))
    real = torch.tensor([[True, True], [False, False]])
    o, lse = attention(q, k, v, causal=True, real=real)
    nothing = torch.tensor([[True, True, False, False], [True, True, True, True]])[:, None].expand(2, 2, 4)
    assert (o[nothing] == 0).all()
    assert (lse[nothing] == -torch.inf).all()
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either
        (o.sum() + lse[lse > -torch.inf].sum()).backward()
    assert q.grad is not None
    assert k.grad is not None
    assert (q.grad[nothing] == 0).all()
    assert torch.isfinite(q.grad).all()
    assert (k.grad[1] == 0).all()
    assert torch.isfinite(k.grad).all()


@pytest.mark.parametrize("causal", [False, True])
def test_attention_gradcheck(causal: bool) -> None:
    q, k, v = (part.requires_grad_() for part in drawn(2, 2, 1, 3, 4, 2))
    real = torch.tensor([[True, True, False, True], [False, False, False, True]])

    def both(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        o, lse = attention(q, k, v, causal=causal, real=real)
        return o, lse[lse > -torch.inf]

    assert torch.autograd.gradcheck(both, (q, k, v))


def test_sizes_of_refuses_what_does_not_fit() -> None:
    q, k, v = drawn(1, 4, 2, 3, 5, 8)
    with pytest.raises(
        ValueError, match=r"v must have shape \(1, G, 5, 8\), as q and k say, got \(1, 2, 4, 8\)"
    ):
        sizes_of(q, k, v[:, :, :4])
    with pytest.raises(ValueError, match=r"q must have a multiple of the 2 heads of k, got 3"):
        sizes_of(q[:, :3], k, v)
    with pytest.raises(ValueError, match=r"k must have shape \(B, heads, length, D\), none of them 0"):
        sizes_of(q, k[:, :, :0], v[:, :, :0])
    with pytest.raises(ValueError, match=r"k must have shape \(1, G, 5, 8\)"):
        sizes_of(q, k.expand(2, -1, -1, -1), v)
    with pytest.raises(TypeError, match=r"k must have the dtype of q, torch.float64, got torch.float32"):
        sizes_of(q, k.float(), v)
    with pytest.raises(TypeError, match=r"q must hold floating-point numbers, got torch.int64"):
        sizes_of(q.long(), k.long(), v.long())
    with pytest.raises(TypeError, match=r"real must be boolean"):
        sizes_of(q, k, v, torch.ones(1, 5))
    with pytest.raises(ValueError, match=r"real must have shape \(1, 5\), got \(1, 4\)"):
        sizes_of(q, k, v, torch.ones(1, 4, dtype=torch.bool))


def test_scale_of_refuses_what_is_no_scale() -> None:
    assert scale_of(0.5, 16) == 0.5
    with pytest.raises(ValueError, match="scale must be finite"):
        scale_of(float("nan"), 16)
