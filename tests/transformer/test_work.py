"""Counts of what a decoder computes, against sums by hand."""

from __future__ import annotations

import pytest
import torch

from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.translator import TransformerTranslator
from onesentence.transformer.work import DecoderWork, counted

SOURCE = torch.tensor([[1, 2, 3], [3, 0, 1]])
REAL = torch.ones_like(SOURCE, dtype=torch.bool)
TARGET = torch.tensor([[0, 4, 3, 2, 5], [0, 1, 1, 2, 4]])


@pytest.fixture
def model() -> TransformerTranslator:
    return TransformerTranslator.initial(TransformerConfig(4, 6, d_model=8, n_head=2, d_ff=12), seed=0)


def test_counted_one_pass(model: TransformerTranslator) -> None:
    with counted(model.decoder) as work:
        model(SOURCE, REAL, TARGET)
    assert work == DecoderWork(passes=1, positions=10, scores=50)


def test_counted_step_by_step(model: TransformerTranslator) -> None:
    state = model.start(SOURCE.numpy())
    with counted(model.decoder) as work:
        for t in range(5):
            _, state = model.step(TARGET[:, t].numpy(), state)
    assert work == DecoderWork(passes=5, positions=10, scores=2 * (1 + 2 + 3 + 4 + 5))


def test_counted_in_two_pieces(model: TransformerTranslator) -> None:
    with counted(model.decoder) as work:
        _, state = model.decode(TARGET[:, :3], model.first_state(SOURCE, REAL))
        model.decode(TARGET[:, 3:], state)
    assert work == DecoderWork(passes=2, positions=10, scores=2 * (3 * 3 + 2 * 5))


def test_counted_changes_nothing_and_ends_with_its_block(model: TransformerTranslator) -> None:
    before = model(SOURCE, REAL, TARGET)
    with counted(model.decoder) as work:
        assert torch.equal(model(SOURCE, REAL, TARGET), before)
    model(SOURCE, REAL, TARGET)
    assert work.passes == 1


def test_counted_refuses_what_is_no_decoder(model: TransformerTranslator) -> None:
    with (
        pytest.raises(TypeError, match="decoder must be a TranslatorDecoder, got Encoder"),
        counted(model.encoder),
    ):  # type: ignore[arg-type]
        pass


def test_counted_ends_where_what_it_counts_fails(model: TransformerTranslator) -> None:
    with pytest.raises(ValueError, match="inputs must lie in"), counted(model.decoder) as work:
        model(SOURCE, REAL, TARGET + 9)
    model(SOURCE, REAL, TARGET)
    assert work.passes == 0
