"""Layers: torch with num_layers=2, the way back against autograd, the order of the state."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.recurrent.gru import GRU
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.stacked import Stacked
from onesentence.recurrent.torch_layer import torch_layer

KINDS = [(RNN, torch.nn.RNN), (GRU, torch.nn.GRU)]


def pair(ours: type, theirs: type) -> tuple[Stacked, torch.nn.RNNBase]:
    torch.manual_seed(0)
    module = theirs(3, 4, num_layers=2, batch_first=True, dtype=torch.float64)
    return Stacked(tuple(ours.from_torch(torch_layer(module, layer)) for layer in (0, 1))), module


@pytest.mark.parametrize(("ours", "theirs"), KINDS)
def test_run_and_backward_equal_torch(ours, theirs):
    stack, module = pair(ours, theirs)
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    h0 = torch.from_numpy(rng.normal(size=(2, 2, 4))).requires_grad_()
    dh, last = rng.normal(size=(2, 6, 4)), rng.normal(size=(2, 2, 4))
    out, end = module(x, h0)
    ((out * torch.from_numpy(dh)).sum() + (end * torch.from_numpy(last)).sum()).backward()
    start = h0.detach().numpy()
    trace = stack.run(x.detach().numpy(), (start[1], start[0]))  # the higher layer first
    np.testing.assert_allclose(trace.h, out.detach().numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.last, end.detach().numpy()[::-1], rtol=0, atol=1e-10)
    found = stack.backward(trace, dh, (last[1], last[0]))
    assert found.parameters.keys() == stack.parameters().keys()
    for layer in (0, 1):
        for name, theirs_name in (("W_x", "weight_ih_l"), ("W_h", "weight_hh_l"), ("b", "bias_ih_l")):
            gradient = getattr(module, f"{theirs_name}{layer}").grad.numpy()
            np.testing.assert_allclose(found.parameters[f"{layer + 1}.{name}"], gradient, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.x, x.grad.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.start, h0.grad.numpy()[::-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_state(side):
    stack, _ = pair(*KINDS[1])
    x = np.random.default_rng(1).normal(size=(4, 3))
    real = np.array([False] * 5 + [True] * 4) if side == "left" else np.array([True] * 4 + [False] * 5)
    padded = np.full((9, 3), np.nan)
    padded[real] = x
    alone, other = stack.run(x), stack.run(padded, mask=real)
    np.testing.assert_allclose(other.h[real], alone.h, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.last, alone.last, rtol=0, atol=1e-13)


def test_step_repeated_equals_run_for_layers_of_different_kinds_and_widths():
    rng = np.random.default_rng(2)
    low, high = GRU.initial(inputs=3, hidden=5, rng=rng), RNN.initial(inputs=5, hidden=2, rng=rng)
    stack, x = Stacked((low, high)), rng.normal(size=(4, 3))
    assert (stack.input_size, stack.hidden_size) == (3, 2)
    state = stack.start()
    for row in x:
        state = stack.step(row, state)
    trace = stack.run(x)
    np.testing.assert_allclose(state[0], high.run(low.run(x).h).last[0], rtol=0, atol=1e-14)
    for ours, theirs in zip(state, trace.last, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    assert [part[0].shape for part in stack.parts(trace.last)] == [(5,), (2,)]


def test_run_and_backward_with_the_two_parts_of_an_lstm_equal_torch():
    torch.manual_seed(0)
    module = torch.nn.LSTM(3, 4, num_layers=2, batch_first=True, dtype=torch.float64)
    stack = Stacked(tuple(LSTM.from_torch(torch_layer(module, layer)) for layer in (0, 1)))
    rng = np.random.default_rng(4)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    h0, c0 = (torch.from_numpy(rng.normal(size=(2, 2, 4))).requires_grad_() for _ in range(2))
    out, (h, c) = module(x, (h0, c0))
    ((out**2).sum() + h.sum() + c.sum()).backward()
    start = [a.detach().numpy() for a in (h0, c0)]
    trace = stack.run(x.detach().numpy(), (start[0][1], start[1][1], start[0][0], start[1][0]))
    np.testing.assert_allclose(trace.h, out.detach().numpy(), rtol=0, atol=1e-10)
    found = stack.backward(trace, 2 * trace.h, tuple(np.ones((2, 4)) for _ in range(4)))
    np.testing.assert_allclose(found.x, x.grad.numpy(), rtol=0, atol=1e-10)
    grads = [a.grad.numpy() for a in (h0, c0)]
    expected = (grads[0][1], grads[1][1], grads[0][0], grads[1][0])
    np.testing.assert_allclose(found.start, expected, rtol=0, atol=1e-10)


def test_layers_have_their_own_parameters():
    stack, _ = pair(*KINDS[0])
    assert list(stack.parameters()) == ["1.W_x", "1.W_h", "1.b", "2.W_x", "2.W_h", "2.b"]
    assert stack.parameters()["2.W_h"] is stack.layers[1].W_h


def test_stacked_refuses():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="layers must be a tuple of at least one cell"):
        Stacked(())
    with pytest.raises(ValueError, match="layer 2 must read inputs of width 2, the state below, got width 3"):
        Stacked((RNN.initial(inputs=3, hidden=2, rng=rng), RNN.initial(inputs=3, hidden=2, rng=rng)))
