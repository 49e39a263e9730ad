"""The LayerNorm that trains, beside `nn.LayerNorm` and the one in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from onesentence.transformer.layer_norm import layer_norm, layer_norm_gradients
from onesentence.transformer.norms import LayerNorm


def test_layer_norm_equals_torch_and_numpy(hostile: Any, normal: Any) -> None:
    mine, theirs = hostile(LayerNorm(6, eps=0.01)), torch.nn.LayerNorm(6, eps=0.01).double()
    theirs.load_state_dict(mine.state_dict())
    x, y = normal(2, 3, 6).requires_grad_(), normal(2, 3, 6).requires_grad_()
    upstream = normal(2, 3, 6, seed=2)
    mine(x).backward(upstream)
    theirs(y).backward(upstream)
    gamma, beta = (p.detach().numpy() for p in (mine.weight, mine.bias))
    by_hand = layer_norm_gradients(x.detach().numpy(), upstream.numpy(), gamma, eps=0.01)
    np.testing.assert_allclose(
        mine(x).detach(), layer_norm(x.detach().numpy(), gamma, beta, eps=0.01), atol=1e-12
    )
    np.testing.assert_allclose(mine(x).detach(), theirs(x).detach(), rtol=0, atol=1e-12)
    ours, other = (x.grad, mine.weight.grad, mine.bias.grad), (y.grad, theirs.weight.grad, theirs.bias.grad)
    for a, b, c in zip(ours, other, by_hand, strict=True):
        assert a is not None
        assert b is not None
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)
        np.testing.assert_allclose(a, c, rtol=0, atol=1e-10)


def test_layer_norm_starts_as_the_plain_one() -> None:
    layer = LayerNorm(4)
    assert layer.weight.tolist() == [1] * 4
    assert layer.bias.tolist() == [0] * 4
    assert layer.eps == torch.nn.LayerNorm(4).eps
