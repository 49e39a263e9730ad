"""The two readers: counts, weights, the first read, NumPy beside PyTorch."""

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


@pytest.mark.parametrize(("source", "first"), DESIGNS)
def test_weights_in_a_batch_equal_those_alone(source, first):
    model = model_of(source, first, seed=3)
    ids, real = padded(SOURCES, 5, fill=4)
    _, after = model.step(np.array([BOS] * 3), model.start(ids.numpy(), real.numpy()))
    for at, units in enumerate(SOURCES):
        _, single = model.step(np.array([BOS]), model.start(np.array([units])))
        torch.testing.assert_close(after.weights[at, : len(units)], single.weights[0], rtol=0, atol=1e-12)
        assert not after.weights[at, len(units) :].any()


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


def test_teaching_reader_refuses():
    reader = TeachingReader.from_torch(model_of("dynamic", "zero"))
    with pytest.raises(ValueError, match=r"source must have shape \(S,\) with S >= 1, got \(0,\)"):
        reader.start([])
    with pytest.raises(ValueError, match="limit must be at least 1, got 0"):
        reader.write([3], bos=BOS, eos=EOS, limit=0)
