"""The two readers: counts, padding, batches, causality, generation, the first read, NumPy beside PyTorch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader, parameter_count
from onesentence.seq2seq.reversal_teaching import TeachingReader

BOS, EOS = 1, 2
SMALL = ReaderConfig("fixed", vocabulary=9, embedding=5, encoder=3, hidden=6)
DESIGNS = [("fixed", "zero"), ("dynamic", "zero"), ("dynamic", "encoder"), ("dynamic", "bias")]
SOURCES = ([3, 4, 5, 6], [7], [8, 3, 3])
INPUTS = ([BOS, 5, 6], [BOS, 3, 3, 8, 4], [BOS])


def model_of(source: str, first: str, seed: int = 0) -> SourceReader:
    model = SourceReader.initial(replace(SMALL, source=source, first=first), seed=seed).double()
    with torch.no_grad():  # larger weights, so that what leaks is seen
        for weights in model.parameters():
            weights *= 2
    return model


def padded(rows, extra: int, fill: int) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows)) + extra
    ids = torch.full((len(rows), width), fill)
    real = torch.zeros(len(rows), width, dtype=torch.bool)
    for at, row in enumerate(rows):
        ids[at, : len(row)], real[at, : len(row)] = torch.tensor(row), True
    return ids, real


@pytest.mark.parametrize(("reader", "expected"), [("fixed", 15577), ("dynamic", 16601)])
def test_parameter_count_is_the_courses_and_by_hand(reader, expected):
    embedding, encoder, output = 9 * 16, 2 * 4 * 16 * (16 + 16 + 2), 64 * 9 + 9
    decoder, query = 4 * 32 * (48 + 32 + 2), 32 * 32 if reader == "dynamic" else 0
    assert embedding + encoder + decoder + output + query == expected
    assert parameter_count(ReaderConfig(reader)) == expected


def test_parameter_count_of_the_other_first_reads():
    assert parameter_count(ReaderConfig("dynamic", first="encoder")) == 16601
    assert parameter_count(ReaderConfig("dynamic", first="bias")) == 16601 + 32


@pytest.mark.parametrize("extra", [0, 5])
@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_forward_of_a_padded_batch_equals_single_sources(source, first, extra):
    model = model_of(source, first)
    ids, real = padded(SOURCES, extra, fill=5)
    inputs, counted = padded(INPUTS, 0, fill=7)
    logits = model(ids, real, inputs)
    for at, (units, history) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        alone = model(
            torch.tensor([units]), torch.ones(1, len(units), dtype=torch.bool), torch.tensor([history])
        )
        torch.testing.assert_close(logits[at, counted[at]], alone[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_generation_and_weights_in_a_batch_equal_those_alone(source, first):
    model = model_of(source, first, seed=3)
    ids, real = padded(SOURCES, 5, fill=4)
    together = generate(
        model.step, model.start(ids.numpy(), real.numpy()), bos=[BOS] * 3, eos=EOS, limit=9, choose=greedy
    )
    _, after = model.step(np.array([BOS] * 3), model.start(ids.numpy(), real.numpy()))
    for at, units in enumerate(SOURCES):
        (alone,) = generate(
            model.step, model.start(np.array([units])), bos=BOS, eos=EOS, limit=9, choose=greedy
        )
        assert together[at] == alone
        _, single = model.step(np.array([BOS]), model.start(np.array([units])))
        torch.testing.assert_close(
            after.weights[at, : len(units)], single.weights[0].detach(), rtol=0, atol=1e-12
        )
        assert not after.weights[at, len(units) :].any()


@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_step_with_the_state_alone_equals_the_whole_pass(source, first):
    model = model_of(source, first)
    ids, inputs = np.array([[3, 4, 5], [6, 6, 8]]), np.array([[BOS, 5, 6, 3], [BOS, 8, 8, 4]])
    whole = model(torch.from_numpy(ids), torch.ones(2, 3, dtype=torch.bool), torch.from_numpy(inputs))
    state = model.start(ids)
    for t in range(4):
        logits, state = model.step(inputs[:, t], state)
        np.testing.assert_allclose(logits, whole[:, t].detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_forward_does_not_look_at_later_target_tokens(source, first):
    model = model_of(source, first)
    ids, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5, 6, 3, 4]])
    changed = inputs.clone()
    changed[0, 3] = 8
    before, after = model(ids, real, inputs), model(ids, real, changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] != after[:, 3:]).any(dim=-1).all()


@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_teaching_reader_equals_torch(source, first):
    model = model_of(source, first, seed=5)
    reader = TeachingReader.from_torch(model)
    units, history = [3, 8, 8, 4, 6], [BOS, 6, 4, 8, 3]
    logits = model(torch.tensor([units]), torch.ones(1, 5, dtype=torch.bool), torch.tensor([history]))[0]
    expected = nn.functional.log_softmax(logits, dim=-1).detach().numpy()
    torch_state, steps = model.start(np.array([units])), reader.follow(units, history)
    for token, step, row in zip(history, steps, expected, strict=True):
        _, torch_state = model.step(np.array([token]), torch_state)
        np.testing.assert_allclose(step.log_p, row, rtol=0, atol=1e-10)
        np.testing.assert_allclose(step.weights, torch_state.weights[0].detach(), rtol=0, atol=1e-10)
    (alone,) = generate(model.step, model.start(np.array([units])), bos=BOS, eos=EOS, limit=9, choose=greedy)
    assert tuple(step.chosen for step in reader.write(units, bos=BOS, eos=EOS, limit=9)) == alone.ids


@pytest.mark.parametrize(("first", "even"), [("zero", True), ("encoder", False), ("bias", False)])
def test_first_read_is_even_only_from_nothing(first, even):
    reader = TeachingReader.from_torch(model_of("dynamic", first))
    (step,) = reader.follow([3, 4, 5, 6, 7], [BOS])
    assert np.allclose(step.weights, 0.2, rtol=0, atol=1e-12) == even
    assert np.isclose(step.weights.sum(), 1)


def test_readers_of_one_seed_begin_with_the_same_numbers_and_agree_on_the_first_step():
    fixed, dynamic = (
        SourceReader.initial(replace(SMALL, source=source), seed=4) for source in ("fixed", "dynamic")
    )
    for name, weights in fixed.named_parameters():
        assert torch.equal(weights, dynamic.get_parameter(name))
    ids, real = padded(SOURCES, 1, fill=3)
    inputs = torch.tensor([[BOS, 4]] * 3)
    one, other = fixed(ids, real, inputs), dynamic(ids, real, inputs)
    torch.testing.assert_close(one[:, 0], other[:, 0], rtol=0, atol=1e-6)
    assert ((one - other)[:2, 1].abs().amax(dim=-1) > 1e-4).any()


def test_fixed_reader_by_hand_reads_the_mean_at_every_step():
    model = model_of("fixed", "zero")
    reader = TeachingReader.from_torch(model)
    context = reader.start([3, 4, 5]).states.mean(axis=0)
    h, m = np.zeros(6), np.zeros(6)
    for token, step in zip((BOS, 7), reader.follow([3, 4, 5], [BOS, 7]), strict=True):
        h, m = reader.decoder.step(np.concatenate([reader.E[token], context]), (h, m))
        logits = reader.W_y @ np.concatenate([h, context]) + reader.b_y
        np.testing.assert_allclose(np.exp(step.log_p), np.exp(logits) / np.exp(logits).sum(), atol=1e-12)


def test_initial_repeats_with_its_seed_and_leaves_the_global_generator_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, same, other = (model_of("dynamic", "zero", seed).output.weight for seed in (0, 0, 1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"source": "none"}, ValueError, "source: expected one of fixed, dynamic, got 'none'"),
        ({"first": "one"}, ValueError, "first: expected one of zero, encoder, bias, got 'one'"),
        ({"first": "bias"}, ValueError, "first: a fixed reader asks no query, expected 'zero', got 'bias'"),
        ({"hidden": 0}, ValueError, "hidden must be at least 1, got 0"),
        ({"hidden": 2.0}, TypeError, "hidden must be an integer, got 2.0"),
        (
            {"source": "dynamic", "first": "encoder", "hidden": 7},
            ValueError,
            "hidden must be 6 to start as a state of the encoder, got 7",
        ),
    ],
)
def test_config_refuses(change, error, message):
    with pytest.raises(error, match=message):
        replace(SMALL, **change)


REAL = torch.ones(1, 2, dtype=torch.bool)


@pytest.mark.parametrize(
    ("source", "mask", "inputs", "error", "message"),
    [
        ([[3, 9]], REAL, [[BOS]], ValueError, r"source must lie in \[0, 9\), got 9"),
        ([[3, 4]], REAL, [[BOS, 9]], ValueError, r"inputs must lie in \[0, 9\), got 9"),
        ([[3.0, 4.0]], REAL, [[BOS]], TypeError, "source must hold integers"),
        ([[3, 4]], REAL.long(), [[BOS]], TypeError, "mask must be boolean"),
        ([[3, 4]], REAL[:, :1], [[BOS]], ValueError, r"mask must have the shape of source, \(1, 2\)"),
        ([[3, 4]], ~REAL, [[BOS]], ValueError, "every source needs at least one real unit"),
        (
            [[3, 4]],
            torch.tensor([[False, True]]),
            [[BOS]],
            ValueError,
            "mask: expected padding on the right only",
        ),
        ([[3, 4]], REAL, [[BOS], [BOS]], ValueError, "inputs must have 1 rows like source, got 2"),
    ],
)
def test_forward_refuses(source, mask, inputs, error, message):
    with pytest.raises(error, match=message):
        model_of("dynamic", "zero")(torch.tensor(source), mask, torch.tensor(inputs))


def test_step_refuses():
    model = model_of("dynamic", "zero")
    state = model.start(np.array([[3, 4]]))
    with pytest.raises(ValueError, match="ids must have 1 rows like the state, got 2"):
        model.step(np.array([1, 1]), state)
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 9\), got -1"):
        model.step(np.array([-1]), state)


def test_teaching_reader_refuses():
    reader = TeachingReader.from_torch(model_of("dynamic", "zero"))
    with pytest.raises(ValueError, match=r"source must have shape \(S,\) with S >= 1, got \(0,\)"):
        reader.start([])
    with pytest.raises(ValueError, match="limit must be at least 1, got 0"):
        reader.write([3], bos=BOS, eos=EOS, limit=0)
