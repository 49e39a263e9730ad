"""What goes into the first block: scaled rows plus positions, in each of the three kinds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.positions import sinusoidal
from onesentence.transformer.config import Positions, TransformerConfig
from onesentence.transformer.embedding import InputEmbedding, checked_tokens

IDS = torch.tensor([[3, 0, 4], [1, 1, 2]])
PLACES = torch.tensor([[0, 1, 2], [5, 0, 40]])


def drawn(hostile: Any, positions: Positions = "sinusoidal", **settings: Any) -> InputEmbedding:
    config = TransformerConfig(5, 5, d_model=6, n_head=2, positions=positions, **settings)
    out: InputEmbedding = hostile(InputEmbedding(5, config))
    return out


def test_input_embedding_is_a_scaled_row_plus_its_position(hostile: Any) -> None:
    layer = drawn(hostile)
    rows = layer.tokens.weight.detach().numpy()[IDS.numpy()]
    expected = math.sqrt(6) * rows + sinusoidal(PLACES.numpy(), 6)
    np.testing.assert_allclose(layer(IDS, PLACES).detach(), expected, rtol=0, atol=1e-14)
    shared = layer(IDS, torch.arange(3)).detach()
    np.testing.assert_allclose(shared, math.sqrt(6) * rows + sinusoidal(range(3), 6), rtol=0, atol=1e-14)


def test_input_embedding_learned_and_none(hostile: Any) -> None:
    layer = drawn(hostile, "learned", longest=41)
    assert layer.learned is not None
    expected = math.sqrt(6) * layer.tokens.weight[IDS] + layer.learned.weight[PLACES]
    assert torch.equal(layer(IDS, PLACES), expected)
    without = drawn(hostile, "none")
    assert torch.equal(without(IDS, PLACES), without(IDS, PLACES * 0))
    assert torch.equal(without(IDS, PLACES), without.tokens.weight[IDS] * 6**0.5)


def test_input_embedding_cast_to_float64_has_exact_positions() -> None:
    # a table kept as a buffer came out of float32 with its rounding
    layer = InputEmbedding(5, TransformerConfig(5, 5, d_model=6, n_head=2))
    assert layer(IDS, PLACES).dtype == torch.float32
    layer.double()
    out = layer(IDS, PLACES) - layer.tokens.weight[IDS] * 6**0.5
    np.testing.assert_allclose(out.detach(), sinusoidal(PLACES.numpy(), 6), rtol=0, atol=1e-15)
    assert layer.float()(IDS, PLACES).dtype == torch.float32
    assert "table" not in layer.state_dict()


def test_input_embedding_does_not_depend_on_what_was_asked_before(hostile: Any) -> None:
    one, other = drawn(hostile), drawn(hostile)
    one(IDS, PLACES * 9)
    assert torch.equal(one(IDS, PLACES), other(IDS, PLACES))


def test_input_embedding_starts_about_as_large_as_a_position() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = InputEmbedding(500, TransformerConfig(500, 5, d_model=64, positions="none"))
    rows = layer(torch.arange(500)[None], torch.zeros(500).long()).detach()
    assert rows.std().item() == pytest.approx(1, abs=0.03)


def test_input_embedding_drops_in_training_only(hostile: Any) -> None:
    layer = drawn(hostile, dropout=0.5)
    kept = layer.eval()(IDS, PLACES)
    assert torch.equal(kept, layer(IDS, PLACES))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = layer.train()(IDS, PLACES)
    zero = dropped == 0
    assert 0.2 < zero.double().mean() < 0.8
    np.testing.assert_allclose(dropped[~zero].detach(), 2 * kept[~zero].detach(), rtol=1e-12)


BAD: list[tuple[Any, Positions, type[Exception], str]] = [
    ((IDS + 1, PLACES), "none", ValueError, r"ids must lie in \[0, 5\), got 5"),
    ((IDS - 1, PLACES), "none", ValueError, r"ids must lie in \[0, 5\), got -1"),
    ((IDS.double(), PLACES), "none", TypeError, r"ids must hold integers, got torch\.float64"),
    ((IDS > 0, PLACES), "none", TypeError, r"ids must hold integers, got torch\.bool"),
    ((IDS[:, :0], PLACES), "none", ValueError, r"ids must not be empty, got shape \(2, 0\)"),
    ((IDS, PLACES - 1), "sinusoidal", ValueError, "^positions must be at least 0, got -1"),
    ((IDS, PLACES - 1), "learned", ValueError, r"learned positions must lie in \[0, 8\), got -1"),
    ((IDS, PLACES), "learned", ValueError, r"learned positions must lie in \[0, 8\), got 40"),
    ((IDS, PLACES.double()), "sinusoidal", TypeError, r"positions must hold integers, got torch\.float64"),
]


@pytest.mark.parametrize(("arguments", "positions", "kind", "message"), BAD)
def test_input_embedding_refuses(
    arguments: Any, positions: Positions, kind: type[Exception], message: str, hostile: Any
) -> None:
    with pytest.raises(kind, match=message):
        drawn(hostile, positions, longest=8)(*arguments)


def test_checked_tokens_lets_every_id_of_the_table_pass() -> None:
    for dtype in (torch.int64, torch.int32, torch.uint8):
        checked_tokens("ids", torch.tensor([0, 4], dtype=dtype), 5)
