"""The encoder against `nn.TransformerEncoder`, what padding and order may not change, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.transformer.config import Order, TransformerConfig
from onesentence.transformer.encoder import Encoder

C, V = 8, 7


def drawn(hostile: Any, **settings: Any) -> Encoder:
    out: Encoder = hostile(Encoder(TransformerConfig(V, 5, d_model=C, n_head=2, d_ff=12, **settings)))
    return out


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=0, atol=atol)


def ones(ids: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(ids, dtype=torch.bool)


@pytest.mark.parametrize("order", ["post", "pre"])
def test_encoder_equals_torch_with_all_gradients(
    order: Order, hostile: Any, copied: Any, same_gradients: Any, normal: Any
) -> None:
    mine = drawn(hostile, order=order, encoder_layers=3)
    layer = torch.nn.TransformerEncoderLayer(C, 2, 12, 0.0, batch_first=True, norm_first=order == "pre")
    last = torch.nn.LayerNorm(C).double() if order == "pre" else None
    theirs = torch.nn.TransformerEncoder(layer, 3, norm=last, enable_nested_tensor=False).double()
    for block, twin in zip(mine.blocks, theirs.layers, strict=True):
        copied("encoder", block, twin)
    if last is not None:
        assert theirs.norm is not None
        theirs.norm.load_state_dict(mine.last.state_dict())
    ids = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    inputs = mine.embedding(ids, torch.tensor([[0, 1, 2, 3], [0, 1, 1, 1]])).detach()
    ours, other = mine(ids, real).states, theirs(inputs, src_key_padding_mask=~real)
    close(ours[real], other[real])
    upstream = normal(6, C)
    ours[real].backward(upstream)
    other[real].backward(upstream)
    for block, twin in zip(mine.blocks, theirs.layers, strict=True):
        same_gradients("encoder", block, twin)


@settings(max_examples=25)
@given(left=st.integers(0, 4), right=st.integers(0, 4), filling=st.integers(-3, V + 3))
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_encoder_does_not_see_padding(
    hostile: Any, positions: Any, left: int, right: int, filling: int
) -> None:
    encoder, ids = drawn(hostile, positions=positions, longest=8), torch.tensor([[3, 1, 4]])
    padded = torch.nn.functional.pad(ids, (left, right), value=filling)
    real = torch.nn.functional.pad(ones(ids), (left, right), value=False)
    close(encoder(padded, real).states[real], encoder(ids, ones(ids)).states[0])


def test_encoder_reads_a_batch_as_its_sentences_one_by_one(hostile: Any) -> None:
    encoder, ids = drawn(hostile), torch.tensor([[3, 1, 4, 1], [6, 6, 0, 0], [0, 0, 0, 2]])
    real = torch.tensor([[True] * 4, [True, True, False, False], [False, False, False, True]])
    states = encoder(ids, real).states
    for row, mask, own in zip(ids, real, states, strict=True):
        alone = row[mask][None]
        close(own[mask], encoder(alone, ones(alone)).states[0])


@settings(max_examples=25)
@given(st.permutations(range(5)))
def test_encoder_without_positions_moves_with_its_units(hostile: Any, order: list[int]) -> None:
    encoder, ids = drawn(hostile, positions="none"), torch.tensor([[3, 1, 4, 1, 5]])
    close(encoder(ids[:, order], ones(ids)).states, encoder(ids, ones(ids)).states[:, order], 1e-12)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_encoder_with_positions_does_not(hostile: Any, positions: Any) -> None:
    encoder, ids = drawn(hostile, positions=positions), torch.tensor([[3, 1, 4, 2, 5]])
    turned = encoder(ids.flip(1), ones(ids)).states.flip(1)
    assert (turned - encoder(ids, ones(ids)).states).abs().max() > 1e-3


def test_encoder_reads_in_both_directions(hostile: Any) -> None:
    encoder, ids = drawn(hostile, encoder_layers=1), torch.tensor([[3, 1, 4]])
    before = encoder(ids, ones(ids)).states
    for place in range(3):
        changed = ids.clone()
        changed[0, place] = 6
        moved = (encoder(changed, ones(ids)).states - before).abs().amax(dim=-1)
        assert (moved > 1e-6).all()


IDS = torch.tensor([[1, 2, 3]])
REAL = torch.ones(1, 3, dtype=torch.bool)
BAD: list[tuple[Any, type[Exception], str]] = [
    ((IDS, REAL.long()), TypeError, r"mask must be boolean \(True = a real unit\), got torch\.int64"),
    ((IDS, REAL[:, :2]), ValueError, r"mask must have the shape of ids, \(1, 3\), got \(1, 2\)"),
    ((IDS[0], REAL[0]), ValueError, r"ids must have shape \(B, S\), got \(3,\)"),
    ((IDS, ~REAL), ValueError, "mask: every sentence needs at least one real unit, got one without"),
    ((IDS + 4, REAL), ValueError, r"ids must lie in \[0, 7\), got 7"),
    ((IDS - 2, REAL), ValueError, r"ids must lie in \[0, 7\), got -1"),
    ((IDS.double(), REAL), TypeError, r"ids must hold integers, got torch\.float64"),
    ((IDS[:0], REAL[:0]), ValueError, r"ids must not be empty, got shape \(0, 3\)"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), BAD)
def test_encoder_refuses(arguments: Any, kind: type[Exception], message: str, hostile: Any) -> None:
    with pytest.raises(kind, match=message):
        drawn(hostile)(*arguments)


def test_encoder_refuses_sentences_longer_than_learned_positions(hostile: Any) -> None:
    encoder = drawn(hostile, positions="learned", longest=2)
    with pytest.raises(ValueError, match=r"learned positions must lie in \[0, 2\), got 2"):
        encoder(IDS, REAL)
    encoder(IDS, torch.tensor([[True, False, True]]))  # what counts is the sentence, not its padding
