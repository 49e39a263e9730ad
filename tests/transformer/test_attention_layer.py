"""Attention that trains: outputs and gradients of `nn.MultiheadAttention`, weights, rows without keys, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.masks import causal as causal_mask
from onesentence.attention.multi_head import MultiHead
from onesentence.transformer.attention_layer import MultiHeadAttention

C, H, T, S = 8, 2, 4, 5


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), np.asarray(expected), rtol=0, atol=atol)


@pytest.fixture
def layer(hostile: Any) -> MultiHeadAttention:
    out: MultiHeadAttention = hostile(MultiHeadAttention(C, H))
    return out


def padding() -> torch.Tensor:
    return torch.tensor([[True] * S, [True, True, False, True, False]])


@pytest.mark.parametrize("what", ["self", "masked", "causal", "cross", "padded"])
def test_attention_equals_torch_with_all_gradients(
    what: str, layer: MultiHeadAttention, copied: Any, same_gradients: Any, normal: Any
) -> None:
    theirs = copied("attention", layer, torch.nn.MultiheadAttention(C, H, batch_first=True))
    x, y = normal(2, T, C).requires_grad_(), normal(2, T, C).requires_grad_()
    z, w = normal(2, S, C, seed=2).requires_grad_(), normal(2, S, C, seed=2).requires_grad_()
    upstream, triangle = normal(2, T, C, seed=3), torch.from_numpy(causal_mask(T))
    if what in ("cross", "padded"):
        may = padding()[:, None, None] if what == "padded" else None
        mine = layer.attend(layer.queries(x), layer.keys_values(z), mask=may)
        forbidden = None if may is None else ~padding()
        other, weights = theirs(y, w, w, key_padding_mask=forbidden, average_attn_weights=False)
        close(layer.weights(x, z, mask=may), weights.detach(), 1e-12)
    else:
        mine = layer(x, mask=triangle if what == "masked" else None, causal=what == "causal")
        forbidden = None if what == "self" else ~triangle
        other, weights = theirs(y, y, y, attn_mask=forbidden, average_attn_weights=False)
        close(layer.weights(x, mask=None if what == "self" else triangle), weights.detach(), 1e-12)
    close(mine, other.detach())
    mine.backward(upstream)
    other.backward(upstream)
    same_gradients("attention", layer, theirs)
    close(x.grad, y.grad)
    if what in ("cross", "padded"):
        close(z.grad, w.grad)


def test_attention_equals_the_heads_in_numpy(layer: MultiHeadAttention, normal: Any) -> None:
    torch.nn.init.zeros_(layer.project.bias)
    torch.nn.init.zeros_(layer.merge.bias)
    D = C // H
    parts = layer.project.weight.detach().numpy().reshape(3, H, D, C).transpose(0, 1, 3, 2)  # (3, H, C, D)
    numpy_layer = MultiHead(*parts, layer.merge.weight.detach().numpy().T)
    x, z = normal(2, T, C), normal(2, S, C, seed=2)
    may = padding()[:, None, None]
    result = numpy_layer(x.numpy(), z.numpy(), mask=may.numpy())
    q, (k, v) = layer.queries(x), layer.keys_values(z)
    for tensor, array in ((q, result.q), (k, result.k), (v, result.v)):
        close(tensor, array, 1e-12)
    close(layer.weights(x, z, mask=may), result.weights, 1e-12)
    close(layer.attend(q, (k, v), mask=may), result.output)
    close(layer(x), numpy_layer(x.numpy()).output)
    q, kv = layer.queries_keys_values(x)
    for tensor, other in zip((q, *kv), (layer.queries(x), *layer.keys_values(x)), strict=True):
        close(tensor, other.detach(), 1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("length", [3, 40])
def test_attention_a_row_that_reads_nothing(dtype: torch.dtype, length: int, hostile: Any) -> None:
    layer = hostile(MultiHeadAttention(C, H)).to(dtype)
    generator = torch.Generator().manual_seed(0)
    x, source = (torch.randn(2, n, C, generator=generator, dtype=dtype) for n in (length, S))
    source.requires_grad_()
    may = torch.ones(2, 1, length, S, dtype=torch.bool)
    may[0, 0, 1] = False
    out = layer.attend(layer.queries(x), layer.keys_values(source), mask=may)
    assert torch.equal(out[0, 1], layer.merge.bias)  # the heads gave exactly 0
    assert not layer.weights(x, source, mask=may)[0, :, 1].any()
    out[0, 1].sum().backward()
    assert not source.grad.any()
    assert not layer.project.weight.grad.any()
    layer.zero_grad()
    with torch.autograd.set_detect_anomaly(True):  # nor is there NaN on the way
        (layer.weights(x, source, mask=may)[0, :, 1] * 3).sum().backward()
    assert not layer.project.weight.grad.any()
    layer.attend(layer.queries(x), layer.keys_values(source), mask=may).sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in layer.parameters())


def test_attention_weights_are_distributions_over_keys(layer: MultiHeadAttention, normal: Any) -> None:
    weights = layer.weights(normal(2, T, C), normal(2, S, C, seed=2), mask=padding()[:, None, None])
    close(weights.sum(dim=-1), np.ones((2, H, T)), 1e-12)
    assert not weights[1, :, :, [2, 4]].any()


def test_attention_starts_with_biases_of_zero() -> None:
    layer = MultiHeadAttention(C, H)
    assert not layer.project.bias.any()
    assert not layer.merge.bias.any()
    assert layer.project.weight.abs().max() <= (6 / (4 * C)) ** 0.5  # Xavier, as nn.MultiheadAttention has it


def q(layer: MultiHeadAttention) -> torch.Tensor:
    return layer.queries(torch.zeros(2, T, C, dtype=torch.float64))


def kv(layer: MultiHeadAttention, B: int = 2) -> Any:
    return layer.keys_values(torch.zeros(B, S, C, dtype=torch.float64))


X = torch.zeros(2, T, C, dtype=torch.float64)
BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda _: MultiHeadAttention(8, 3), ValueError, "C must be a multiple of H = 3, got 8"),
    (lambda _: MultiHeadAttention(8, 0), ValueError, "H must be at least 1, got 0"),
    (lambda _: MultiHeadAttention(8.0, 2), TypeError, r"C must be an integer, got 8\.0"),  # type: ignore[arg-type]
    (lambda f: f(X[..., :4]), ValueError, r"x must have shape \(B, length, 8\), got \(2, 4, 4\)"),
    (lambda f: f(X[0]), ValueError, r"x must have shape \(B, length, 8\), got \(4, 8\)"),
    (lambda f: f.keys_values(X[..., 1:]), ValueError, r"source must have shape .* got \(2, 4, 7\)"),
    (lambda f: f(X, mask=torch.ones(T, T)), TypeError, r"mask must be boolean .* got torch\.float32"),
    (lambda f: f(X, mask=torch.ones(T, T).int()), TypeError, r"mask must be boolean .* got torch\.int32"),
    (
        lambda f: f(X, mask=torch.ones(T, S).bool()),
        ValueError,
        r"mask must broadcast to \(2, 2, 4, 4\), got shape \(4, 5\)",
    ),
    (
        lambda f: f(X, mask=torch.ones(1, 1, 1, T, T).bool()),
        ValueError,
        r"mask must broadcast .* \(1, 1, 1, 4, 4\)",
    ),
    (
        lambda f: f(X, mask=torch.ones(T, T).bool(), causal=True),
        ValueError,
        "causal: not together with a mask",
    ),
    (lambda f: f.weights(X, mask=torch.ones(T, T)), TypeError, "mask must be boolean"),
    (
        lambda f: f.weights(X, X[:1]),
        ValueError,
        r"keys and values must have shape \(2, 2, S, 4\), got \(1, 2, 4, 4\)",
    ),
    (lambda f: f.attend(q(f), kv(f, 3)), ValueError, r"keys and values must have .* got \(3, 2, 5, 4\)"),
    (lambda f: f.attend(q(f), (kv(f)[0], kv(f)[1][:, :, 1:])), ValueError, r"and \(2, 2, 4, 4\)"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_attention_refuses(call: Any, kind: type[Exception], message: str, layer: MultiHeadAttention) -> None:
    with pytest.raises(kind, match=message):
        call(layer)
