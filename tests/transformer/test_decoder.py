"""The decoder against `nn.TransformerDecoder`: the future, what was kept, the tied table, and refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.masks import causal
from onesentence.transformer.config import Order, TransformerConfig
from onesentence.transformer.decoder import TargetState, TranslatorDecoder
from onesentence.transformer.encoder import Memory

C, V = 8, 6
REAL = torch.tensor([[True] * 4, [False, True, True, False]])
INPUTS = torch.tensor([[0, 3, 1, 4, 2], [0, 5, 5, 2, 1]])


def drawn(hostile: Any, **settings: Any) -> TranslatorDecoder:
    config = TransformerConfig(5, V, d_model=C, n_head=2, d_ff=12, **settings)
    out: TranslatorDecoder = hostile(TranslatorDecoder(config))
    return out


def start(decoder: TranslatorDecoder, normal: Any, seed: int = 5) -> TargetState:
    return decoder.first_state(Memory(normal(2, 4, C, seed=seed), REAL))


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=0, atol=atol)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_decoder_equals_torch_with_all_gradients(
    order: Order, hostile: Any, copied: Any, same_gradients: Any, normal: Any
) -> None:
    mine = drawn(hostile, order=order, decoder_layers=3)
    layer = torch.nn.TransformerDecoderLayer(C, 2, 12, 0.0, batch_first=True, norm_first=order == "pre")
    last = torch.nn.LayerNorm(C).double() if order == "pre" else None
    theirs = torch.nn.TransformerDecoder(layer, 3, norm=last).double()
    for block, twin in zip(mine.blocks, theirs.layers, strict=True):
        copied("decoder", block, twin)
    if last is not None:
        assert theirs.norm is not None
        theirs.norm.load_state_dict(mine.last.state_dict())
    z, w = normal(2, 4, C).requires_grad_(), normal(2, 4, C).requires_grad_()
    ours, _ = mine(INPUTS, mine.first_state(Memory(z, REAL)))
    table = mine.embedding.tokens.weight.detach().clone().requires_grad_()
    embedded = table[INPUTS] * C**0.5 + mine.embedding.table[:5]
    forbidden = torch.from_numpy(~causal(5))
    other = theirs(embedded, w, tgt_mask=forbidden, memory_key_padding_mask=~REAL) @ table.T
    close(ours, other)
    upstream = normal(2, 5, V, seed=2)
    ours.backward(upstream)
    other.backward(upstream)
    close(z.grad, w.grad)
    close(mine.embedding.tokens.weight.grad, table.grad)  # one table: as input and as output
    for block, twin in zip(mine.blocks, theirs.layers, strict=True):
        same_gradients("decoder", block, twin)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("cross", [True, False])
def test_decoder_does_not_see_the_future(hostile: Any, normal: Any, positions: Any, cross: bool) -> None:
    decoder = drawn(hostile, positions=positions, cross=cross)
    state = start(decoder, normal)
    before, _ = decoder(INPUTS, state)
    for place in range(5):
        for token in range(V):
            changed = INPUTS.clone()
            changed[:, place] = token
            after, _ = decoder(changed, state)
            close(after[:, :place], before[:, :place], 0.0)
            same = (changed == INPUTS)[:, place]
            assert ((after - before).abs().amax(dim=-1)[:, place] > 1e-9).tolist() == (~same).tolist()


@given(st.lists(st.booleans(), min_size=4, max_size=4))
@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_decoder_with_what_it_kept_equals_one_pass(
    hostile: Any, normal: Any, order: Order, positions: Any, cuts: list[bool]
) -> None:
    decoder = drawn(hostile, order=order, positions=positions)
    state = start(decoder, normal)
    whole, end = decoder(INPUTS, state)
    places = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), 5]
    logits = []
    for a, b in itertools.pairwise(places):
        part, state = decoder(INPUTS[:, a:b], state)
        logits.append(part)
    close(torch.cat(logits, dim=1), whole)
    for (k, v), (all_k, all_v) in zip(state.past, end.past, strict=True):
        close(k, all_k)
        close(v, all_v)


def test_decoder_leaves_the_state_it_was_given(hostile: Any, normal: Any) -> None:
    decoder = drawn(hostile)
    _, state = decoder(INPUTS[:, :2], start(decoder, normal))
    kept = [part.clone() for pair in state.past for part in pair]
    first, _ = decoder(INPUTS[:, 2:], state)
    again, _ = decoder(INPUTS[:, 2:], state)
    assert torch.equal(first, again)
    assert all(torch.equal(a, b) for a, b in zip(kept, (p for pair in state.past for p in pair), strict=True))


def test_decoder_reads_the_real_source_only(hostile: Any, normal: Any) -> None:
    decoder, states = drawn(hostile), normal(2, 4, C)
    before, _ = decoder(INPUTS, decoder.first_state(Memory(states, REAL)))
    other = torch.where(REAL[..., None], states, 7.0)
    close(decoder(INPUTS, decoder.first_state(Memory(other, REAL)))[0], before, 0.0)
    moved, _ = decoder(INPUTS, decoder.first_state(Memory(states + 1 * REAL[..., None], REAL)))
    assert (moved - before).abs().amax(dim=-1).min() > 1e-6


def test_decoder_without_cross_does_not_know_the_source(hostile: Any, normal: Any) -> None:
    decoder = drawn(hostile, cross=False)
    state = start(decoder, normal)
    assert state.source.layers == ()
    assert torch.equal(decoder(INPUTS, state)[0], decoder(INPUTS, start(decoder, normal, seed=9))[0])


def test_decoder_never_predicts_what_is_barred(hostile: Any, normal: Any) -> None:
    decoder, free = drawn(hostile, barred=(0, 4)), drawn(hostile)
    logits, _ = decoder(INPUTS, start(decoder, normal))
    open_, _ = free(INPUTS, start(free, normal))
    assert (logits[..., [0, 4]] == -torch.inf).all()
    assert torch.equal(logits[..., [1, 2, 3, 5]], open_[..., [1, 2, 3, 5]])
    logits[..., [1, 2, 3, 5]].logsumexp(dim=-1).sum().backward()
    assert all(p.grad.isfinite().all() for p in decoder.parameters() if p.grad is not None)


BAD: list[tuple[Any, type[Exception], str]] = [
    (INPUTS + 1, ValueError, r"inputs must lie in \[0, 6\), got 6"),
    (INPUTS - 1, ValueError, r"inputs must lie in \[0, 6\), got -1"),
    (INPUTS.double(), TypeError, r"inputs must hold integers, got torch\.float64"),
    (INPUTS[:, :0], ValueError, r"inputs must not be empty, got shape \(2, 0\)"),
    (INPUTS[:1], ValueError, r"inputs must have shape \(2, T\), as the state has 2 rows, got \(1, 5\)"),
    (INPUTS[:, 0], ValueError, r"inputs must have shape \(2, T\), .* got \(2,\)"),
]


@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize(("inputs", "kind", "message"), BAD)
def test_decoder_refuses(
    inputs: Any, kind: type[Exception], message: str, cross: bool, hostile: Any, normal: Any
) -> None:
    decoder = drawn(hostile, cross=cross)
    with pytest.raises(kind, match=message):
        decoder(inputs, start(decoder, normal))


def test_decoder_refuses_more_tokens_than_learned_positions(hostile: Any, normal: Any) -> None:
    decoder = drawn(hostile, positions="learned", longest=3)
    _, state = decoder(INPUTS[:, :3], start(decoder, normal))
    with pytest.raises(ValueError, match=r"learned positions must lie in \[0, 3\), got 3"):
        decoder(INPUTS[:, 3:4], state)  # with what was kept the count goes on


def test_decoder_refuses_the_source_of_a_shallower_one(hostile: Any, normal: Any) -> None:
    state = start(drawn(hostile, decoder_layers=1), normal)
    with pytest.raises(ValueError, match="layer must be less than 1, the number of layers, got 1"):
        drawn(hostile, decoder_layers=2)(INPUTS, state)
