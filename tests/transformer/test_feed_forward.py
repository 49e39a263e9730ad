"""The feed-forward sublayer: by hand, position by position, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.transformer.feed_forward import FeedForward


def test_feed_forward_equals_its_formula(hostile: Any, normal: Any) -> None:
    layer, x = hostile(FeedForward(3, 5)), normal(2, 4, 3)
    parts = (layer.widen.weight, layer.widen.bias, layer.narrow.weight, layer.narrow.bias)
    w_1, b_1, w_2, b_2 = (part.detach().numpy() for part in parts)
    hidden = x.numpy() @ w_1.T + b_1
    assert (hidden < 0).any()
    np.testing.assert_allclose(layer(x).detach(), np.where(hidden > 0, hidden, 0) @ w_2.T + b_2, atol=1e-12)


def test_feed_forward_reads_one_position_only(hostile: Any, normal: Any) -> None:
    layer, x = hostile(FeedForward(3, 5)), normal(2, 4, 3)
    changed = x.clone()
    changed[0, 1] += 1
    moved = (layer(changed) - layer(x)).abs().sum(dim=-1) > 1e-12
    assert moved.nonzero().tolist() == [[0, 1]]
    order = torch.tensor([2, 0, 3, 1])
    np.testing.assert_allclose(layer(x[:, order]).detach(), layer(x)[:, order].detach(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("sizes", "kind", "message"),
    [
        ((0, 4), ValueError, "C must be at least 1, got 0"),
        ((4, 0), ValueError, "d_ff must be at least 1, got 0"),
        ((4, 2.5), TypeError, r"d_ff must be an integer, got 2\.5"),
    ],
)
def test_feed_forward_refuses(sizes: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        FeedForward(*sizes)
