"""Chunks: what passes a border forwards and backwards; torch with detach as the other implementation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.recurrent.gru import GRU
from onesentence.recurrent.language_model import RecurrentLM
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.truncation import chunk_ranges, run_chunks, saved_numbers

IDS = np.array([0, 2, 4, 2, 5, 1, 1, 3])
TARGETS = np.array([2, 4, 2, 5, 1, 1, 3, 2])
LAST = np.arange(8) == 7


def model(cell=RNN) -> RecurrentLM:
    rng = np.random.default_rng(0)
    return RecurrentLM.initial(cell.initial(inputs=3, hidden=4, rng=rng), table=6, rng=rng)


@given(length=st.integers(1, 40), size=st.integers(1, 50))
def test_chunk_ranges_cover_every_position_once_in_order(length, size):
    chunks = chunk_ranges(length, size)
    assert [i for chunk in chunks for i in chunk] == list(range(length))
    assert all(len(chunk) == size for chunk in chunks[:-1])


@pytest.mark.parametrize("cell", [RNN, LSTM, GRU])
@settings(max_examples=10, deadline=None)
@given(size=st.integers(1, 9))
def test_full_equals_the_whole_sequence_for_every_size(cell, size):
    lm = model(cell)
    whole, run = lm.gradients(IDS, TARGETS), run_chunks(lm, IDS, TARGETS, size=size, mode="full")
    assert run.loss == pytest.approx(whole.loss, abs=1e-12)
    np.testing.assert_allclose(run.x_gradient, whole.x, rtol=0, atol=1e-12)
    for name, gradient in whole.parameters.items():
        np.testing.assert_allclose(run.parameters[name], gradient, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", [RNN, LSTM, GRU])
def test_detach_keeps_values_and_stops_the_gradient(cell):
    lm = model(cell)
    full, cut = (run_chunks(lm, IDS, TARGETS, size=4, mode=mode, scored=LAST) for mode in ("full", "detach"))
    np.testing.assert_array_equal(cut.h, full.h)
    assert cut.loss == full.loss
    assert np.abs(full.x_gradient[:4]).max(axis=1).min() > 0
    assert not cut.x_gradient[:4].any()
    np.testing.assert_array_equal(cut.x_gradient[4:], full.x_gradient[4:])


def test_reset_changes_the_states_and_equals_separate_sequences():
    lm = model()
    run = run_chunks(lm, IDS, TARGETS, size=4, mode="reset")
    parts = [lm.gradients(IDS[part], TARGETS[part]) for part in (slice(4), slice(4, 8))]
    assert run.loss == pytest.approx(sum(part.loss for part in parts), abs=1e-12)
    np.testing.assert_allclose(run.x_gradient, np.concatenate([p.x for p in parts]), rtol=0, atol=1e-12)
    assert np.abs(run.h[4:] - run_chunks(lm, IDS, TARGETS, size=4, mode="detach").h[4:]).max() > 1e-3


@pytest.mark.parametrize("mode", ["full", "detach", "reset"])
def test_a_given_state_begins_the_first_chunk_and_in_reset_every_one(mode):
    lm, state = model(), (np.array([0.5, -0.5, 0.25, 1.0]),)
    run = run_chunks(lm, IDS, TARGETS, size=3, mode=mode, state=state)
    begins = [state if mode == "reset" or i == 0 else run.chunks[i - 1].done.last for i in range(3)]
    for chunk, begin in zip(run.chunks, begins, strict=True):
        np.testing.assert_array_equal(chunk.start[0], begin[0])
        part = slice(chunk.positions.start, chunk.positions.stop)
        alone = lm.gradients(IDS[part], TARGETS[part], state=begin)
        assert chunk.gradients.loss == pytest.approx(alone.loss, abs=1e-12)


def test_detach_equals_torch_detach_chunk_by_chunk():
    torch.manual_seed(0)
    table = torch.nn.Embedding(6, 3, dtype=torch.float64)
    layer = torch.nn.LSTM(3, 4, batch_first=True, dtype=torch.float64)
    head = torch.nn.Linear(4, 6, dtype=torch.float64)
    lm = RecurrentLM(
        E=table.weight.detach().numpy(),
        cell=LSTM.from_torch(layer),
        W_y=head.weight.detach().numpy(),
        b_y=head.bias.detach().numpy(),
    )
    run = run_chunks(lm, IDS, TARGETS, size=3, mode="detach")
    state = None
    for chunk in run.chunks:
        for module in (table, layer, head):
            module.zero_grad()
        part = list(chunk.positions)
        state = None if state is None else tuple(s.detach() for s in state)
        h, state = layer(table(torch.from_numpy(IDS[part]))[None], state)
        target = torch.from_numpy(TARGETS[part])
        torch.nn.functional.cross_entropy(head(h[0]), target, reduction="sum").backward()
        ours = chunk.gradients.parameters
        np.testing.assert_allclose(ours["cell.W_h"], layer.weight_hh_l0.grad, rtol=0, atol=1e-10)
        np.testing.assert_allclose(ours["E"], table.weight.grad, rtol=0, atol=1e-10)


def test_kept_grows_with_the_sequence_only_in_full():
    lm, long = model(), np.tile(IDS, 10)
    kept = {mode: run_chunks(lm, long, long, size=8, mode=mode).kept for mode in ("full", "detach", "reset")}
    assert kept["detach"] == kept["reset"] == run_chunks(lm, IDS, IDS, size=8, mode="full").kept
    assert kept["full"] == 10 * kept["detach"]


def test_saved_numbers_by_hand_counts_a_view_once():
    # x 3, h and c 4 each, four gates of 4, scores 6, over 8 steps; the saved c is a view of the states
    assert saved_numbers(model(LSTM).forward(IDS)) == 8 * (3 + 8 + 16 + 6)


def test_run_chunks_refuses():
    lm = model()
    with pytest.raises(ValueError, match=r"mode must be one of .*, got 'stop'"):
        run_chunks(lm, IDS, TARGETS, size=4, mode="stop")
    with pytest.raises(ValueError, match="length and size must be at least 1, got 8 and 0"):
        run_chunks(lm, IDS, TARGETS, size=0, mode="full")
    with pytest.raises(ValueError, match=r"ids and targets must share a shape"):
        run_chunks(lm, IDS, TARGETS[:4], size=4, mode="full")
