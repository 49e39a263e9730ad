"""Blocks against `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer`, with all gradients, and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.masks import causal
from onesentence.transformer.block import AddNorm, DecoderBlock, EncoderBlock
from onesentence.transformer.config import Order, TransformerConfig
from onesentence.transformer.layer_norm import layer_norm

C, H, F = 8, 2, 12
REAL = torch.tensor([[True] * 5, [True, True, True, False, False]])


def sizes(order: Order = "post", **settings: Any) -> TransformerConfig:
    return TransformerConfig(5, 6, d_model=C, n_head=H, d_ff=F, order=order, **settings)


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=0, atol=atol)


@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("masked", [False, True])
def test_encoder_block_equals_torch_with_all_gradients(
    order: Order, masked: bool, hostile: Any, copied: Any, same_gradients: Any, normal: Any
) -> None:
    mine = hostile(EncoderBlock(sizes(order)))
    layer = torch.nn.TransformerEncoderLayer(C, H, F, 0.0, batch_first=True, norm_first=order == "pre")
    theirs = copied("encoder", mine, layer)
    x, y, upstream = (
        normal(2, 5, C).requires_grad_(),
        normal(2, 5, C).requires_grad_(),
        normal(2, 5, C, seed=2),
    )
    ours = mine(x, REAL[:, None, None] if masked else None)
    other = theirs(y, src_key_padding_mask=~REAL if masked else None)
    close(ours, other)
    ours.backward(upstream)
    other.backward(upstream)
    close(x.grad, y.grad)
    same_gradients("encoder", mine, theirs)


@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_block_equals_torch_with_all_gradients(
    order: Order, masked: bool, hostile: Any, copied: Any, same_gradients: Any, normal: Any
) -> None:
    mine = hostile(DecoderBlock(sizes(order)))
    layer = torch.nn.TransformerDecoderLayer(C, H, F, 0.0, batch_first=True, norm_first=order == "pre")
    theirs = copied("decoder", mine, layer)
    x, y, upstream = (
        normal(2, 4, C).requires_grad_(),
        normal(2, 4, C).requires_grad_(),
        normal(2, 4, C, seed=2),
    )
    z, w = normal(2, 5, C, seed=3).requires_grad_(), normal(2, 5, C, seed=3).requires_grad_()
    ours, _ = mine(x, mine.cross.keys_values(z), REAL[:, None, None] if masked else None)
    other = theirs(
        y,
        w,
        tgt_mask=torch.from_numpy(~causal(4)),
        memory_key_padding_mask=~REAL if masked else None,
    )
    close(ours, other)
    ours.backward(upstream)
    other.backward(upstream)
    close(x.grad, y.grad)
    close(z.grad, w.grad)
    same_gradients("decoder", mine, theirs)


@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("cross", [True, False])
def test_decoder_block_continues_from_what_it_kept(
    order: Order, cross: bool, hostile: Any, normal: Any
) -> None:
    block, x = hostile(DecoderBlock(sizes(order, cross=cross))), normal(2, 5, C)
    source = block.cross.keys_values(normal(2, 3, C, seed=3)) if cross else None
    whole, kept = block(x, source)
    for first in range(1, 5):
        for second in range(first, 6):
            a, past = block(x[:, :first], source)
            outputs = [a]
            for part in (x[:, first:second], x[:, second:]):
                if part.shape[1]:
                    out, past = block(part, source, past=past)
                    outputs.append(out)
            close(torch.cat(outputs, dim=1), whole)
            for mine, all_at_once in zip(past, kept, strict=True):
                close(mine, all_at_once)


def test_decoder_block_without_cross_equals_a_causal_encoder_block(hostile: Any, normal: Any) -> None:
    decoder, encoder = hostile(DecoderBlock(sizes(cross=False))), EncoderBlock(sizes()).double()
    encoder.load_state_dict(decoder.state_dict())
    x = normal(2, 5, C)
    close(decoder(x)[0], encoder(x, torch.from_numpy(causal(5))))


def test_decoder_block_needs_a_source(hostile: Any, normal: Any) -> None:
    with pytest.raises(
        ValueError, match="source: a block with cross-attention needs keys and values, got None"
    ):
        hostile(DecoderBlock(sizes()))(normal(2, 4, C))


def test_add_norm_is_its_formula(hostile: Any, normal: Any) -> None:
    x = normal(2, 3, C)

    def sublayer(y: torch.Tensor) -> torch.Tensor:
        return y.flip(-1) ** 2

    for order in ("post", "pre"):
        layer = hostile(AddNorm(C, order, 0.0))
        gamma, beta = (p.detach().numpy() for p in (layer.norm.weight, layer.norm.bias))
        a = x.numpy()
        normed = layer_norm(a, gamma, beta)
        expected = {
            "post": layer_norm(a + a[..., ::-1] ** 2, gamma, beta),
            "pre": a + normed[..., ::-1] ** 2,
        }[order]
        np.testing.assert_allclose(layer(x, sublayer).detach(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_add_norm_drops_the_sublayer_and_not_the_residual(order: Order, normal: Any) -> None:
    layer, x = AddNorm(C, order, 0.25).double(), normal(1, 1, C)
    layer.norm = torch.nn.Identity()  # so that what was added can be seen
    with torch.random.fork_rng():
        torch.manual_seed(0)
        draws = torch.cat([layer(x, torch.ones_like) for _ in range(4000)]) - x
    assert set(draws.round(decimals=9).unique().tolist()) == {0.0, round(1 / 0.75, 9)}
    assert (draws == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert draws.mean().item() == pytest.approx(1, abs=0.02)  # in the mean what it is without dropout
    close(layer.eval()(x, torch.ones_like), x + 1)


@pytest.mark.parametrize("kind", [EncoderBlock, DecoderBlock])
def test_blocks_without_dropout_are_the_same_in_training(kind: Any, hostile: Any, normal: Any) -> None:
    block, x = hostile(kind(sizes(cross=False))), normal(2, 4, C)

    def run() -> torch.Tensor:
        out = block(x)
        return out[0] if isinstance(out, tuple) else out

    assert torch.equal(block.train() and run(), block.eval() and run())
    dropping = kind(sizes(cross=False, dropout=0.5)).double()
    dropping.load_state_dict(block.state_dict())
    kept, block = run(), dropping
    assert torch.equal(block.eval() and run(), kept)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert not torch.equal(block.train() and run(), run())
