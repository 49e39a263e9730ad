"""Weights of all heads against what the blocks really read with, and the translator without one head."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from onesentence.transformer.attention_layer import MultiHeadAttention
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.read_weights import read_weights, without_head
from onesentence.transformer.remasked import remasked
from onesentence.transformer.translator import TransformerTranslator

SOURCE = torch.tensor([[2, 4, 3, 1], [0, 0, 1, 2]])
REAL = torch.tensor([[True] * 4, [False, False, True, True]])
TARGET = torch.tensor([[0, 3, 1], [0, 2, 5]])


def drawn(hostile: Any, **settings: Any) -> TransformerTranslator:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12, **settings)
    model: TransformerTranslator = hostile(TransformerTranslator(config), 3).eval()
    return model


@pytest.mark.parametrize("order", ["post", "pre"])
def test_read_weights_are_what_the_blocks_read_with(hostile, monkeypatch, order):
    model = drawn(hostile, order=order)
    found = read_weights(model, SOURCE, REAL, TARGET)
    used = []
    attend = MultiHeadAttention.attend

    def watched(self, q, kv, *, mask=None, causal=False):
        scores = q @ kv[0].mT / 2  # sqrt(D) = 2
        if causal:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        used.append((scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1))
        return attend(self, q, kv, mask=None if causal else mask, causal=causal)

    monkeypatch.setattr(MultiHeadAttention, "attend", watched)
    model(SOURCE, REAL, TARGET)
    assert len(used) == 6  # two encoder blocks, then self and cross of two decoder blocks
    expected = {"encoder": used[:2], "decoder": used[2::2], "cross": used[3::2]}
    for name, tables in expected.items():
        torch.testing.assert_close(getattr(found, name), torch.stack(tables, dim=1), rtol=0, atol=1e-12)


def test_read_weights_sum_to_one_and_keep_out_of_padding_and_future(hostile):
    found = read_weights(drawn(hostile), SOURCE, REAL, TARGET)
    for table in (found.encoder, found.decoder, found.cross):
        torch.testing.assert_close(table.sum(-1), torch.ones_like(table[..., 0]))
    assert not found.encoder[1, ..., :2].any()
    assert not found.cross[1, ..., :2].any()
    assert not found.decoder.triu(1).any()


def test_read_weights_without_cross(hostile):
    found = read_weights(drawn(hostile, cross=False), SOURCE, REAL, TARGET)
    assert tuple(found.cross.shape) == (2, 0, 2, 3, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": REAL.float()}, "mask must be boolean"),
        ({"mask": REAL[:, :3]}, r"mask must have the shape of source, \(2, 4\), got \(2, 3\)"),
        ({"mask": torch.zeros_like(REAL)}, "every source needs at least one real unit"),
        ({"inputs": TARGET[:1]}, "inputs must have 2 rows like source, got 1"),
        ({"inputs": TARGET[0]}, "inputs must have 2 axes"),
        ({"source": SOURCE + 5}, r"source must lie in \[0, 5\)"),
    ],
)
def test_read_weights_refuses(hostile, change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read_weights(drawn(hostile), **{"source": SOURCE, "mask": REAL, "inputs": TARGET} | change)


@pytest.mark.parametrize("rule", ["encoder", "own", "cross"])
def test_read_weights_refuses_a_model_with_another_rule(hostile, rule):
    changed = remasked(drawn(hostile), **{rule: False})
    with pytest.raises(ValueError, match="model must read by its own rules, got a Retold"):
        read_weights(changed, SOURCE, REAL, TARGET)


@pytest.mark.parametrize("place", ["encoder", "decoder", "cross"])
def test_without_head_takes_that_head_away_and_gives_it_back(hostile, place):
    model = drawn(hostile)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    whole = model(SOURCE, REAL, TARGET)
    with without_head(model, place, 1, 1):
        without = model(SOURCE, REAL, TARGET)
        block = (model.encoder if place == "encoder" else model.decoder).blocks[1]
        merge = (block.cross if place == "cross" else block.attention).merge.weight
        assert not merge[:, 4:].any()
        assert merge[:, :4].all()
    assert (without - whole).abs().max() > 1e-3
    for one, other in zip(before, model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_without_head_gives_it_back_after_an_error(hostile):
    model = drawn(hostile)
    before = model.encoder.blocks[0].attention.merge.weight.detach().clone()
    with pytest.raises(RuntimeError, match="stop"), without_head(model, "encoder", 0, 0):
        raise RuntimeError("stop")
    assert torch.equal(before, model.encoder.blocks[0].attention.merge.weight)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("middle", 0, 0), "place: expected one of encoder, decoder, cross, got 'middle'"),
        (("encoder", 2, 0), r"layer must lie in \[0, 2\), got 2"),
        (("encoder", 0, -1), r"head must lie in \[0, 2\), got -1"),
        (("encoder", 0, 0.5), "head must hold integers"),
        (("encoder", True, 0), "layer must hold integers"),
    ],
)
def test_without_head_refuses(hostile, asked, message):
    with pytest.raises((TypeError, ValueError), match=message), without_head(drawn(hostile), *asked):
        pass


def test_without_head_refuses_a_cross_attention_that_is_not_there(hostile):
    with (
        pytest.raises(ValueError, match="place: the model has no cross-attention"),
        without_head(drawn(hostile, cross=False), "cross", 0, 0),
    ):
        pass
