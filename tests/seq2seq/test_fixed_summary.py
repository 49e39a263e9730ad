"""The fixed-summary translator: padding, generation, causality, the two interfaces, NumPy beside PyTorch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig

BOS, EOS, PAD = 1, 2, 0
CONFIG = FixedSummaryConfig(7, 9, embedding=5, hidden=6, barred=(PAD, BOS))
DESIGNS = [(cell, interface) for cell in ("rnn", "gru", "lstm") for interface in ("initial", "inject")]
SOURCES = ([3, 4, 5, 6], [2], [6, 1, 2])
INPUTS = ([BOS, 5, 6], [BOS, 3, 3, 8, 4], [BOS])


def model_of(cell: str = "lstm", interface: str = "initial", seed: int = 0) -> FixedSummary:
    return FixedSummary.initial(replace(CONFIG, cell=cell, interface=interface), seed=seed).double()


def padded(rows, side: str, fill: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows)) + 2
    ids = torch.full((len(rows), width), fill)
    real = torch.zeros(len(rows), width, dtype=torch.bool)
    for at, row in enumerate(rows):
        where = slice(0, len(row)) if side == "right" else slice(width - len(row), width)
        ids[at, where], real[at, where] = torch.tensor(row), True
    return ids, real


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_forward_of_a_padded_batch_equals_single_sentences(cell, interface, side):
    model = model_of(cell, interface)
    source, real = padded(SOURCES, side, fill=5)
    inputs, counted = padded(INPUTS, "right", fill=7)
    states = model.encoder(source, real)
    logits = model(source, real, inputs)
    for at, (units, history) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        one, all_real = torch.tensor([units]), torch.ones(1, len(units), dtype=torch.bool)
        alone = model.encoder(one, all_real)
        torch.testing.assert_close(states.states[at, real[at]], alone.states[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(states.summary[at], alone.summary[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(states.summary[at], alone.states[0, -1], rtol=0, atol=1e-12)
        theirs = model(one, all_real, torch.tensor([history]))
        torch.testing.assert_close(logits[at, counted[at]], theirs[0], rtol=0, atol=1e-12)
    assert not states.states[~real].any()


@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_generation_in_a_batch_equals_generation_alone(cell, interface):
    model = model_of(cell, interface, seed=3)
    source, real = padded(SOURCES, "left")
    together = generate(
        model.step, model.start(source.numpy(), real.numpy()), bos=[BOS] * 3, eos=EOS, limit=12, choose=greedy
    )
    for row, units in zip(together, SOURCES, strict=True):
        state = model.start(np.array([units]))
        (alone,) = generate(model.step, state, bos=BOS, eos=EOS, limit=12, choose=greedy)
        assert (tuple(row.ids), row.ended) == (tuple(alone.ids), alone.ended)


@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_step_with_the_state_alone_equals_the_whole_teacher_forced_pass(cell, interface):
    model = model_of(cell, interface)
    source, inputs = np.array([[3, 4, 5], [6, 6, 2]]), np.array([[BOS, 5, 6, 3], [BOS, 8, 8, 4]])
    whole = model(torch.from_numpy(source), torch.ones(2, 3, dtype=torch.bool), torch.from_numpy(inputs))
    state = model.start(source)
    for t in range(4):
        logits, state = model.step(inputs[:, t], state)  # one column, never the prefix
        np.testing.assert_allclose(logits, whole[:, t].detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_forward_does_not_look_at_later_target_tokens(cell, interface):
    model = model_of(cell, interface)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5, 6, 3, 4]])
    changed = inputs.clone()
    changed[0, 3] = 8
    before, after = model(source, real, inputs), model(source, real, changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] != after[:, 3:])[..., 2:].any(dim=-1).all()


def test_forward_bars_pad_and_bos():
    logits = model_of()(torch.tensor([[3]]), torch.tensor([[True]]), torch.tensor([[BOS, 4]]))
    assert torch.isneginf(logits[..., [PAD, BOS]]).all()
    assert torch.isfinite(logits[..., 2:]).all()


def test_first_state_initial_sets_both_parts_and_inject_keeps_the_summary():
    summary = torch.randn(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    state = model_of(interface="initial").first_state(summary)
    assert state.summary is None
    assert len(state.parts) == 2
    assert all(part.shape == (2, 6) and part.abs().sum() > 0 for part in state.parts)
    state = model_of(interface="inject").first_state(summary)
    assert state.summary is summary
    assert not any(part.any() for part in state.parts)


def test_first_state_initial_by_hand():
    model = model_of("rnn")
    summary = torch.ones(1, 6, dtype=torch.float64)
    expected = np.tanh(model.bridge.weight.detach().numpy().sum(axis=1) + model.bridge.bias.detach().numpy())
    np.testing.assert_allclose(model.first_state(summary).parts[0][0].detach(), expected, rtol=0, atol=1e-14)


def test_forget_bias_is_the_sum_of_both_biases_at_the_forget_gates_only():
    plain, biased = (FixedSummary.initial(replace(CONFIG, forget_bias=bias), seed=0) for bias in (None, 2.5))
    for one, other in ((plain.encoder.layer, biased.encoder.layer), (plain.decoder, biased.decoder)):
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


def test_initial_repeats_with_its_seed_and_leaves_the_global_generator_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, same, other = (model_of(seed=seed).output.linear.weight for seed in (0, 0, 1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"hidden": 0}, ValueError, "hidden must be at least 1, got 0"),
        ({"hidden": 2.0}, TypeError, "hidden must be an integer, got 2.0"),
        ({"cell": "mlp"}, ValueError, "cell: expected one of rnn, gru, lstm, got 'mlp'"),
        ({"interface": "both"}, ValueError, "interface: expected one of initial, inject, got 'both'"),
        ({"cell": "gru", "forget_bias": 1.0}, ValueError, "forget_bias: only an lstm has a forget gate"),
        ({"cell": "lstm", "forget_bias": float("nan")}, ValueError, "forget_bias: expected a finite number"),
        ({"barred": (0, 9)}, ValueError, "barred: expected different ids below 9"),
        ({"barred": tuple(range(9))}, ValueError, "barred: at least one symbol must be left"),
    ],
)
def test_config_refuses(change, error, message):
    with pytest.raises(error, match=message):
        replace(CONFIG, **change)


REAL = torch.ones(1, 2, dtype=torch.bool)


@pytest.mark.parametrize(
    ("source", "mask", "inputs", "error", "message"),
    [
        ([[3, 7]], REAL, [[BOS]], ValueError, r"ids must lie in \[0, 7\), got 7"),
        ([[3, 4]], REAL, [[BOS, 9]], ValueError, r"inputs must lie in \[0, 9\), got 9"),
        ([[3.0, 4.0]], REAL, [[BOS]], TypeError, "ids must hold integers"),
        ([[3, 4]], REAL.long(), [[BOS]], TypeError, "mask must be boolean"),
        ([[3, 4]], REAL[:, :1], [[BOS]], ValueError, r"mask must have the shape of ids, \(1, 2\)"),
        ([[3, 4]], ~REAL, [[BOS]], ValueError, "every sentence needs at least one real unit"),
        ([[3, 4]], REAL, [[BOS], [BOS]], ValueError, "inputs must have 1 rows like source, got 2"),
        ([[3, 4]], REAL, [BOS], ValueError, "inputs must have 2 axes"),
    ],
)
def test_forward_refuses(source, mask, inputs, error, message):
    with pytest.raises(error, match=message):
        model_of()(torch.tensor(source), mask, torch.tensor(inputs))


@pytest.mark.parametrize("kind", ["read-only", "reversed", "uint16"])
def test_start_and_step_take_arrays_that_torch_does_not(kind):
    model, source, ids = model_of(), np.array([[3, 4], [5, 6]]), np.array([1, 2])
    expected, _ = model.step(ids, model.start(source))
    if kind == "read-only":
        source.flags.writeable = ids.flags.writeable = False
    elif kind == "reversed":
        source, ids = source[:, ::-1].copy()[:, ::-1], ids[::-1].copy()[::-1]
    else:
        source, ids = source.astype(np.uint16), ids.astype(np.uint16)
    np.testing.assert_array_equal(model.step(ids, model.start(source))[0], expected)


def test_step_refuses():
    model = model_of()
    state = model.start(np.array([[3, 4]]))
    with pytest.raises(ValueError, match="ids must have 1 rows like the state, got 2"):
        model.step(np.array([1, 1]), state)
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 9\), got -1"):
        model.step(np.array([-1]), state)
