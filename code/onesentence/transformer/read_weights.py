"""Where a trained translator reads: the weights of every head of every block, and the translator without one head.

Weights are recomputed block by block from the inputs that the blocks get, as `block.DecoderBlock` lays them out. They
say what the values are averaged with, not what a head is for; `without_head` takes a head's output away and so asks what
the translator makes of it. Symbols: `L` blocks, `H` heads, `B` batch, `T` target length, `S` source length. Sections
4.8 and 4.11 of the course.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from onesentence.checks import as_ids
from onesentence.transformer.attention_layer import MultiHeadAttention
from onesentence.transformer.block import AddNorm, DecoderBlock, EncoderBlock
from onesentence.transformer.translator import TransformerTranslator

Place = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True, eq=False)
class ReadWeights:
    """What each query reads, rows summing to 1.

    Attributes:
        encoder: source positions reading source positions, (B, L, H, S, S).
        decoder: target positions reading those up to themselves, (B, L, H, T, T).
        cross: target positions reading source positions, (B, L, H, T, S); no L is left without cross-attention.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


@torch.no_grad()
def read_weights(model: TransformerTranslator, source: Tensor, mask: Tensor, inputs: Tensor) -> ReadWeights:
    """Return all weights of one pass with the true history given; no dropout.

    Args:
        model: the translator, in evaluation mode or without dropout.
        source: ids, (B, S).
        mask: True at real units, (B, S).
        inputs: BOS and the target, (B, T).

    Raises:
        TypeError: if ids are not integers or the mask not boolean.
        ValueError: if shapes do not fit, a source has no real unit, an id lies outside, or an attention of the model
            reads by another rule than the translator's own, see `remasked`.

    Example:
        >>> from onesentence.transformer.config import TransformerConfig
        >>> model = TransformerTranslator.initial(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> read = read_weights(model, torch.tensor([[1, 2, 3]]), torch.ones(1, 3, dtype=torch.bool), torch.tensor([[0]]))
        >>> tuple(read.encoder.shape), tuple(read.cross.shape)
        ((1, 2, 2, 3, 3), (1, 2, 2, 1, 3))
    """
    source = model.checked(source, mask, inputs)
    for block in (*model.encoder.blocks, *model.decoder.blocks):
        for layer in (block.attention, getattr(block, "cross", None)):
            if layer is not None and type(layer) is not MultiHeadAttention:
                raise ValueError(f"model must read by its own rules, got a {type(layer).__name__}")
    may_read, T = mask[:, None, None], inputs.shape[1]
    places = (mask.cumsum(dim=1) - 1).clamp(min=0)
    x = model.encoder.embedding(source, places)
    encoder, decoder, cross = [], [], []
    for block in model.encoder.blocks:
        assert isinstance(block, EncoderBlock)
        encoder.append(block.attention.weights(_asked(block.around[0], x), mask=may_read))
        x = block(x, may_read)
    memory = model.encoder.last(x)
    causal = torch.ones(T, T, dtype=torch.bool, device=inputs.device).tril()
    y = model.decoder.embedding(inputs, torch.arange(T, device=inputs.device))
    for block in model.decoder.blocks:
        assert isinstance(block, DecoderBlock)
        layer = block.attention
        decoder.append(layer.weights(_asked(block.around[0], y), mask=causal))
        source_kv = None
        if block.cross is not None:
            u = block.around[0](y, lambda z, layer=layer: layer(z, causal=True))
            cross.append(block.cross.weights(_asked(block.around[1], u), memory, mask=may_read))
            source_kv = block.cross.keys_values(memory)
        y, _ = block(y, source_kv, may_read)
    none = torch.empty(len(source), 0, model.config.n_head, T, source.shape[1])
    return ReadWeights(
        torch.stack(encoder, dim=1), torch.stack(decoder, dim=1), torch.stack(cross, dim=1) if cross else none
    )


@contextmanager
def without_head(model: TransformerTranslator, place: Place, layer: int, head: int) -> Iterator[None]:
    """Take one head's output away for as long as the context lasts: its columns of W^O are zero.

    Args:
        model: the translator; its parameters are afterwards what they were.
        place: which attention.
        layer: which block, from 0.
        head: which head, from 0.

    Raises:
        TypeError: if the layer or the head is no integer.
        ValueError: if there is no such attention, block or head.
    """
    attention = _attention(model, place, layer)
    as_ids("head", head, attention.H)
    D = attention.C // attention.H
    before = attention.merge.weight.detach().clone()
    with torch.no_grad():
        attention.merge.weight[:, head * D : (head + 1) * D] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            attention.merge.weight.copy_(before)


def _attention(model: TransformerTranslator, place: Place, layer: int) -> MultiHeadAttention:
    if place not in get_args(Place):
        raise ValueError(f"place: expected one of {', '.join(get_args(Place))}, got {place!r}")
    blocks = model.encoder.blocks if place == "encoder" else model.decoder.blocks
    as_ids("layer", layer, len(blocks))
    found = getattr(blocks[layer], "cross" if place == "cross" else "attention")
    if not isinstance(found, MultiHeadAttention):
        raise ValueError("place: the model has no cross-attention, got 'cross'")
    return found


def _asked(around: object, x: Tensor) -> Tensor:
    """Return what the sublayer of this `AddNorm` is given."""
    assert isinstance(around, AddNorm)
    normed: Tensor = around.norm(x) if around.order == "pre" else x
    return normed
