"""Multiply-adds of a decoding step: the formulas against what PyTorch is seen to multiply."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.hybrid import Hybrid, HybridConfig
from onesentence.transformer.step_cost import attention_step, counted_step, recurrent_step, step_times
from onesentence.transformer.translator import TransformerTranslator

ATTENTION = TransformerConfig(7, 9, d_model=8, n_head=2, d_ff=20, decoder_layers=3)
RECURRENT = HybridConfig(7, 9, embedding=5, hidden=8, n_head=2, d_ff=20)


@pytest.mark.parametrize(("t", "S"), [(1, 1), (1, 6), (4, 6), (11, 3)])
@pytest.mark.parametrize("changed", [{}, {"cross": False}, {"decoder_layers": 1}, {"order": "pre"}])
def test_attention_step_equals_what_is_counted(t, S, changed):
    config = replace(ATTENTION, **changed)
    model = TransformerTranslator.initial(config, seed=0)
    assert counted_step(model, t=t, S=S) == sum(attention_step(config, t=t, S=S).values())


@pytest.mark.parametrize(("t", "S"), [(1, 1), (1, 6), (4, 6), (11, 3)])
def test_recurrent_step_equals_what_is_counted(t, S):
    hybrid = Hybrid.initial(RECURRENT, seed=0)
    assert counted_step(hybrid, t=t, S=S) == sum(recurrent_step(RECURRENT, S=S).values())
    for two_way in (False, True):
        config = ReadingConfig(7, 9, embedding=5, hidden=8, two_way=two_way)
        model = Reading.initial(config, seed=0)
        assert counted_step(model, t=t, S=S) == sum(recurrent_step(config, S=S).values())


def test_attention_step_grows_by_the_same_amount_per_position():
    steps = [sum(attention_step(ATTENTION, t=t, S=5).values()) for t in (1, 2, 3)]
    assert steps[1] - steps[0] == steps[2] - steps[1] == 3 * 2 * 8


def test_counted_step_leaves_the_model_as_it_is():
    model = Hybrid.initial(RECURRENT, seed=0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    counted_step(model, t=2, S=3)
    assert all(
        value.dtype == before[name].dtype and torch.equal(value, before[name])
        for name, value in model.state_dict().items()
    )


def test_steps_refuse():
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        attention_step(ATTENTION, t=0, S=3)
    with pytest.raises(ValueError, match="S must be at least 1, got 0"):
        recurrent_step(RECURRENT, S=0)
    with pytest.raises(
        ValueError, match="expected an lstm with the general scorer, got 'gru' with 'general'"
    ):
        recurrent_step(replace(RECURRENT, cell="gru"), S=3)
    with pytest.raises(ValueError, match="S must be at least 1, got 0"):
        counted_step(Hybrid.initial(RECURRENT, seed=0), t=1, S=0)


def test_step_times_are_positive_seconds_of_each_step_and_round():
    model = Hybrid.initial(RECURRENT, seed=0)
    times = step_times(model, S=3, steps=4, rounds=2)
    assert times.shape == (2, 4)
    assert (times > 0).all()
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        step_times(model, S=3, steps=4, rounds=0)
