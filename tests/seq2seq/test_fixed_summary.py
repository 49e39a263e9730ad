"""The fixed-summary translator: its two interfaces, what it never writes, forget gates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig

BOS, EOS, PAD = 1, 2, 0
CONFIG = FixedSummaryConfig(7, 9, embedding=5, hidden=6, barred=(PAD, BOS))


def model_of(cell: str = "lstm", interface: str = "initial", seed: int = 0) -> FixedSummary:
    return FixedSummary.initial(replace(CONFIG, cell=cell, interface=interface), seed=seed).double()


def test_forward_bars_pad_and_bos():
    logits = model_of()(torch.tensor([[3]]), torch.tensor([[True]]), torch.tensor([[BOS, 4]]))
    assert torch.isneginf(logits[..., [PAD, BOS]]).all()
    assert torch.isfinite(logits[..., 2:]).all()


def test_state_of_initial_sets_both_parts_and_inject_keeps_the_summary():
    summary = torch.randn(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    state = model_of(interface="initial").state_of(summary)
    assert state.summary is None
    assert len(state.parts) == 2
    assert all(part.shape == (2, 6) and part.abs().sum() > 0 for part in state.parts)
    state = model_of(interface="inject").state_of(summary)
    assert state.summary is summary
    assert not any(part.any() for part in state.parts)


def test_state_of_initial_by_hand():
    model = model_of("rnn")
    summary = torch.ones(1, 6, dtype=torch.float64)
    expected = np.tanh(model.bridge.weight.detach().numpy().sum(axis=1) + model.bridge.bias.detach().numpy())
    np.testing.assert_allclose(model.state_of(summary).parts[0][0].detach(), expected, rtol=0, atol=1e-14)


def test_forget_bias_is_the_sum_of_both_biases_at_the_forget_gates_only():
    plain, biased = (FixedSummary.initial(replace(CONFIG, forget_bias=bias), seed=0) for bias in (None, 2.5))
    for one, other in (
        (plain.encoder.layers.forth, biased.encoder.layers.forth),
        (plain.decoder, biased.decoder),
    ):
        total = (other.bias_ih_l0 + other.bias_hh_l0).detach()
        assert (total[6:12] == 2.5).all()
        assert torch.equal(
            torch.cat([total[:6], total[12:]]), (one.bias_ih_l0 + one.bias_hh_l0)[[*range(6), *range(12, 24)]]
        )


@pytest.mark.parametrize("interface", ["initial", "inject"])
def test_source_reaches_the_logits_of_every_step(interface):
    model = model_of("rnn", interface)
    inputs = torch.tensor([[BOS, 5, 6]])
    real = torch.ones(1, 2, dtype=torch.bool)
    one, other = (model(torch.tensor([units]), real, inputs) for units in ([3, 4], [4, 3]))
    assert (one - other)[0, :, 2:].abs().max(dim=-1).values.gt(1e-6).all()


def test_config_refuses():
    with pytest.raises(ValueError, match="interface: expected one of initial, inject, got 'both'"):
        replace(CONFIG, interface="both")
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        replace(CONFIG, hidden=0)
