"""Several heads against `nn.MultiheadAttention`, a loop over heads, and the laws of a read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.masks import causal, padding, real_units
from onesentence.attention.multi_head import MultiHead, merge_heads, split_heads
from onesentence.attention.read import read

pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")


def drawn(H: int = 3, C: int = 6, D: int = 2, Dv: int = 2, seed: int = 0) -> MultiHead:
    rng = np.random.default_rng(seed)
    shapes = ((H, C, D), (H, C, D), (H, C, Dv), (H * Dv, C))
    return MultiHead(*(rng.normal(size=shape) for shape in shapes))


def inputs(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def torch_twin(layer: MultiHead) -> torch.nn.MultiheadAttention:
    """Return PyTorch's module with the weights of a layer: there columns are inputs, and heads lie below each other."""
    H, C, _ = layer.w_q.shape
    module = torch.nn.MultiheadAttention(C, H, bias=False, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([w.transpose(0, 2, 1).reshape(C, C) for w in (layer.w_q, layer.w_k, layer.w_v)])
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(stacked))
        module.out_proj.weight.copy_(torch.from_numpy(layer.w_o.T.copy()))
    return module


@pytest.mark.parametrize("what", ["self", "causal", "cross", "padded"])
def test_multi_head_equals_torch(what: str) -> None:
    layer, x = drawn(), inputs(2, 4, 6)
    source = None if what in ("self", "causal") else inputs(2, 5, 6, seed=2)
    real = real_units([5, 3], 5)
    mask = {"causal": causal(4), "padded": padding(real)}.get(what)
    result = layer(x, source, mask=mask)
    reads = torch.from_numpy(x if source is None else source)
    out, weights = torch_twin(layer)(
        torch.from_numpy(x),
        reads,
        reads,
        attn_mask=torch.from_numpy(~causal(4)) if what == "causal" else None,  # there True = may not
        key_padding_mask=torch.from_numpy(~real) if what == "padded" else None,
        average_attn_weights=False,
    )
    np.testing.assert_allclose(result.output, out.detach().numpy(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.weights, weights.detach().numpy(), rtol=0, atol=1e-12)


def test_multi_head_equals_a_loop_over_heads() -> None:
    layer, x, source = drawn(H=2, C=5, D=3, Dv=4), inputs(4, 5), inputs(7, 5, seed=2)
    result = layer(x, source)
    parts = []
    for r in range(2):
        q, k, v = x @ layer.w_q[r], source @ layer.w_k[r], source @ layer.w_v[r]
        exponentials = np.exp(q @ k.T / np.sqrt(3))
        parts.append((exponentials / exponentials.sum(axis=1, keepdims=True)) @ v)
        np.testing.assert_allclose(result.heads[r], parts[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.joined, np.hstack(parts), rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.output, np.hstack(parts) @ layer.w_o, rtol=0, atol=1e-12)


def test_multi_head_with_one_head_is_a_read() -> None:
    layer, x = drawn(H=1, C=4, D=4, Dv=4), inputs(3, 4)
    expected = read(x @ layer.w_q[0], x @ layer.w_k[0], x @ layer.w_v[0], scale=0.5).context @ layer.w_o
    np.testing.assert_allclose(layer(x).output, expected, rtol=0, atol=1e-14)


@given(st.permutations(range(5)))
def test_multi_head_moves_with_its_positions(order: list[int]) -> None:
    layer, x = drawn(), inputs(5, 6)
    np.testing.assert_allclose(layer(x[order]).output, layer(x).output[order], rtol=0, atol=1e-12)


def test_multi_head_under_a_causal_mask_does_not_move_with_its_positions() -> None:
    layer, x, order = drawn(), inputs(5, 6), [4, 3, 2, 1, 0]
    turned = layer(x[order], mask=causal(5)).output
    assert np.abs(turned - layer(x, mask=causal(5)).output[order]).max() > 0.1


@given(st.permutations(range(4)))
def test_multi_head_does_not_see_the_order_of_the_source(order: list[int]) -> None:
    layer, x, source = drawn(), inputs(3, 6), inputs(4, 6, seed=2)
    np.testing.assert_allclose(layer(x, source[order]).output, layer(x, source).output, rtol=0, atol=1e-12)


def test_multi_head_under_a_causal_mask_does_not_see_the_future() -> None:
    layer, x = drawn(), inputs(6, 6)
    before = layer(x, mask=causal(6)).output
    for place in range(6):
        changed = x.copy()
        changed[place] += 1
        after = layer(changed, mask=causal(6)).output
        np.testing.assert_array_equal(after[:place], before[:place])
        assert (np.abs(after[place:] - before[place:]).max(axis=1) > 1e-6).all()


def test_multi_head_a_row_that_reads_nothing_gives_nothing() -> None:
    layer, x = drawn(), inputs(2, 4, 6)
    mask = np.ones((2, 1, 4, 4), dtype=bool)
    mask[0, 0, 2] = False
    result = layer(x, mask=mask)
    assert not result.weights[0, :, 2].any()
    assert not result.heads[0, :, 2].any()
    assert not result.output[0, 2].any()
    np.testing.assert_array_equal(result.output[1], layer(x).output[1])


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2))
def test_split_and_merge_are_inverse(H: int, T: int, D: int, leading: int) -> None:
    x = inputs(*range(2, 2 + leading), T, H * D)
    apart = split_heads(x, H)
    assert apart.shape == (*x.shape[:-2], H, T, D)
    for r in range(H):
        np.testing.assert_array_equal(apart[..., r, :, :], x[..., r * D : (r + 1) * D])
    np.testing.assert_array_equal(merge_heads(apart), x)


def test_split_heads_of_one_projection_are_the_heads() -> None:
    layer, x = drawn(), inputs(2, 4, 6)
    joined = np.concatenate(list(layer.w_q), axis=1)  # (C, H * D)
    np.testing.assert_allclose(split_heads(x @ joined, 3), layer(x).q, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(merge_heads(layer(x).heads), layer(x).joined)


W = np.ones((2, 4, 3))
GOOD = {"w_q": W, "w_k": W, "w_v": W, "w_o": np.ones((6, 4))}
BAD_WEIGHTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"w_q": W[0]}, ValueError, r"w_q must have shape \(H, C, D\), got \(4, 3\)"),
    ({"w_q": W[:0]}, ValueError, r"w_q must have shape \(H, C, D\), got \(0, 4, 3\)"),
    ({"w_k": W[:, :, :2]}, ValueError, r"w_k must have the shape of w_q, \(2, 4, 3\), got \(2, 4, 2\)"),
    ({"w_v": W[:1]}, ValueError, r"w_v must have shape \(2, 4, Dv\), got \(1, 4, 3\)"),
    ({"w_v": W[:, :, :0]}, ValueError, r"w_v must have shape \(2, 4, Dv\), got \(2, 4, 0\)"),
    ({"w_o": np.ones((4, 6))}, ValueError, r"w_o must have shape \(6, 4\), got \(4, 6\)"),
    ({"w_o": np.full((6, 4), np.nan)}, ValueError, r"w_o must be finite, got NaN or infinity"),
    ({"w_q": W > 0}, TypeError, "w_q must hold real numbers, got dtype bool"),
]


@pytest.mark.parametrize(("change", "kind", "message"), BAD_WEIGHTS)
def test_multi_head_refuses_weights(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        MultiHead(**GOOD | change)


X = np.ones((2, 5, 4))
BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda f: f(X[..., :3]), ValueError, r"x must have shape \(\.\.\., T, 4\), got \(2, 5, 3\)"),
    (lambda f: f(X[0, 0]), ValueError, r"x must have shape \(\.\.\., T, 4\), got \(4,\)"),
    (lambda f: f(X * np.nan), ValueError, "x must be finite, got NaN or infinity"),
    (lambda f: f(X, X * np.inf), ValueError, "source must be finite, got NaN or infinity"),
    (lambda f: f(X, X[..., :2]), ValueError, r"source must have shape \(\.\.\., T, 4\), got \(2, 5, 2\)"),
    (lambda f: f(X, np.ones((3, 5, 4))), ValueError, "leading axes must broadcast"),
    (lambda f: f(X, mask=np.ones((5, 5))), TypeError, "mask must be boolean .* got dtype float64"),
    (
        lambda f: f(X, mask=causal(4)),
        ValueError,
        r"mask must broadcast to \(2, 2, 5, 5\), got shape \(4, 4\)",
    ),
    (lambda _: split_heads(X, 3), ValueError, r"x must have shape \(\.\.\., T, 3 \* D\), got \(2, 5, 4\)"),
    (lambda _: split_heads(X, 0), ValueError, "H must be at least 1, got 0"),
    (lambda _: split_heads([1.0, 2.0], 1), ValueError, r"x must have shape .* got \(2,\)"),
    (lambda _: merge_heads(X[0]), ValueError, r"heads must have shape \(\.\.\., H, T, D\), got \(5, 4\)"),
    (lambda _: merge_heads([["a"]]), TypeError, "heads must hold real numbers"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_multi_head_refuses(call: Any, kind: type[Exception], message: str) -> None:
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(kind, match=message),
    ):
        call(MultiHead(**GOOD))
