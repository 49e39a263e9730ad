"""The hybrid: padding, steps, gradients into both halves, and the decoder that it shares with the reading translator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from onesentence.seq2seq.encoders import Encoded
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.reading_teaching import teaching_run
from onesentence.transformer.hybrid import Hybrid, HybridConfig, SourceStates

BOS = 0
CONFIG = HybridConfig(7, 6, embedding=5, hidden=8, n_head=2, d_ff=12, barred=(BOS,))
SOURCE = torch.tensor([[2, 4, 3, 1], [1, 2, 0, 0], [4, 0, 0, 0]])
REAL = torch.tensor([[True] * 4, [True, True, False, False], [True, False, False, False]])
TARGET = torch.tensor([[0, 3, 1, 4], [0, 2, 2, 5], [0, 5, 4, 3]])


def drawn(hostile: Any, seed: int = 0) -> Hybrid:
    out: Hybrid = hostile(Hybrid(CONFIG), seed)
    return out


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("left", "right", "filling"), [(2, 0, 5), (0, 3, 6), (1, 1, 99)])
def test_hybrid_does_not_see_padding(hostile: Any, left: int, right: int, filling: int) -> None:
    model = drawn(hostile)
    with torch.no_grad():
        together = model(SOURCE, REAL, TARGET)
        for row in range(3):
            own = SOURCE[row][REAL[row]][None]
            real = torch.ones_like(own, dtype=torch.bool)
            alone = model(own, real, TARGET[row : row + 1])
            padded = torch.nn.functional.pad(own, (left, right), value=filling)
            mask = torch.nn.functional.pad(real, (left, right), value=False)
            close(model(padded, mask, TARGET[row : row + 1])[..., 1:], alone[..., 1:])
            close(together[row, :, 1:], alone[0, :, 1:])


def test_hybrid_step_by_step_equals_one_pass(hostile: Any) -> None:
    model = drawn(hostile)
    with torch.no_grad():
        whole = model(SOURCE, REAL, TARGET)
    state = model.start(SOURCE.numpy(), REAL.numpy())
    for t in range(4):
        logits, state = model.step(TARGET[:, t].numpy(), state)
        close(logits[:, 1:], whole[:, t, 1:])
        assert np.isneginf(logits[:, BOS]).all()


def test_hybrid_gradients_reach_both_halves(hostile: Any) -> None:
    model = drawn(hostile)
    logits = model(SOURCE, REAL, TARGET)[:, :-1].flatten(0, 1)
    torch.nn.functional.cross_entropy(logits, TARGET[:, 1:].flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_hybrid_decodes_as_a_reading_translator_with_the_same_source_states(hostile: Any) -> None:
    model = drawn(hostile)
    plain = Reading(ReadingConfig(7, 6, embedding=5, hidden=8, barred=(BOS,))).double()
    own = {name: value for name, value in model.state_dict().items() if not name.startswith("encoder.")}
    missing, unexpected = plain.load_state_dict(own, strict=False)
    assert not unexpected
    assert all(name.startswith("encoder.") for name in missing)
    plain.encoder = model.encoder
    with torch.no_grad():
        assert torch.equal(model(SOURCE, REAL, TARGET), plain(SOURCE, REAL, TARGET))


def test_source_states_are_the_encoders_and_their_mean_over_real_units(hostile: Any) -> None:
    source = hostile(SourceStates(CONFIG.encoder_sizes()))
    with torch.no_grad():
        encoded: Encoded = source(SOURCE, REAL)
        memory = source.encoder(SOURCE, REAL)
    for row in range(3):
        own = memory.states[row][REAL[row]]
        close(encoded.states[row][REAL[row]], own)
        close(encoded.summary[row], own.mean(dim=0))
        assert not encoded.states[row][~REAL[row]].any()


def test_config_refuses() -> None:
    with pytest.raises(ValueError, match="two_way: an attention encoder reads in no direction, got True"):
        replace(CONFIG, two_way=True)
    with pytest.raises(ValueError, match="d_model must be a multiple of n_head = 3, got 8"):
        replace(CONFIG, n_head=3)
    with pytest.raises(ValueError, match="encoder_layers must be at least 1, got 0"):
        replace(CONFIG, layers=0)


def test_teaching_run_refuses_an_attention_encoder() -> None:
    with pytest.raises(TypeError, match="expected recurrent layers over the source, got SourceStates"):
        teaching_run(Hybrid(CONFIG), [1, 2], [BOS])
