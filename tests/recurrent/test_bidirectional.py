"""Two directions: torch, also with packed sequences; the way back against autograd; padding on both sides."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.torch_layer import torch_layer

KINDS = [(RNN, torch.nn.RNN), (GRU, torch.nn.GRU)]


def pair(ours: type, theirs: type) -> tuple[Bidirectional, torch.nn.RNNBase]:
    torch.manual_seed(0)
    module = theirs(3, 4, bidirectional=True, batch_first=True, dtype=torch.float64)
    cells = [ours.from_torch(torch_layer(module, reverse=reverse)) for reverse in (False, True)]
    return Bidirectional(*cells), module


@pytest.mark.parametrize(("ours", "theirs"), KINDS)
def test_run_equals_torch(ours, theirs):
    model, module = pair(ours, theirs)
    rng = np.random.default_rng(0)
    x, h0 = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 2, 4))
    expected, last = module(torch.from_numpy(x), torch.from_numpy(h0))
    trace = model.run(x, (h0[0], h0[1]))
    assert (model.input_size, model.hidden_size) == (3, 8)
    np.testing.assert_allclose(trace.h, expected.detach().numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.last, last.detach().numpy(), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("ours", "theirs"), KINDS)
def test_run_of_a_padded_batch_equals_torch_packed(ours, theirs):
    model, module = pair(ours, theirs)
    lengths, x = [5, 8, 2], np.random.default_rng(1).normal(size=(3, 8, 3))
    packed = pack_padded_sequence(torch.from_numpy(x), lengths, batch_first=True, enforce_sorted=False)
    out, last = module(packed)
    expected = pad_packed_sequence(out, batch_first=True)[0].detach().numpy()
    real = np.arange(8) < np.array(lengths)[:, None]
    trace = model.run(x, mask=real)
    np.testing.assert_allclose(trace.h[real], expected[real], rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.last, last.detach().numpy(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_state_and_no_gradient(side):
    model, _ = pair(*KINDS[1])
    rng = np.random.default_rng(2)
    x, dh = rng.normal(size=(4, 3)), rng.normal(size=(4, 8))
    real = np.array([False] * 5 + [True] * 4) if side == "left" else np.array([True] * 4 + [False] * 5)
    x_pad, dh_pad = np.full((9, 3), np.nan), np.zeros((9, 8))
    x_pad[real], dh_pad[real] = x, dh
    alone, padded = model.run(x), model.run(x_pad, mask=real)
    np.testing.assert_allclose(padded.h[real], alone.h, rtol=0, atol=1e-13)
    one, other = model.backward(alone, dh), model.backward(padded, dh_pad)
    for name, gradient in one.parameters.items():
        np.testing.assert_allclose(other.parameters[name], gradient, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.x[real], one.x, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("ours", "theirs"), KINDS)
def test_backward_equals_autograd(ours, theirs):
    model, module = pair(ours, theirs)
    rng = np.random.default_rng(3)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    h0 = torch.from_numpy(rng.normal(size=(2, 2, 4))).requires_grad_()
    dh, last = rng.normal(size=(2, 6, 8)), rng.normal(size=(2, 2, 4))
    out, end = module(x, h0)
    ((out * torch.from_numpy(dh)).sum() + (end * torch.from_numpy(last)).sum()).backward()
    start = h0.detach().numpy()
    trace = model.run(x.detach().numpy(), (start[0], start[1]))
    found = model.backward(trace, dh, (last[0], last[1]))
    assert found.parameters.keys() == model.parameters().keys()
    for side, suffix in (("forth", ""), ("back", "_reverse")):
        for name, theirs_name in (("W_x", "weight_ih_l0"), ("W_h", "weight_hh_l0"), ("b", "bias_ih_l0")):
            gradient = getattr(module, theirs_name + suffix).grad.numpy()
            np.testing.assert_allclose(found.parameters[f"{side}.{name}"], gradient, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.x, x.grad.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.start, h0.grad.numpy(), rtol=0, atol=1e-10)


def test_run_and_backward_with_the_two_parts_of_an_lstm_equal_torch():
    torch.manual_seed(0)
    module = torch.nn.LSTM(3, 4, bidirectional=True, batch_first=True, dtype=torch.float64)
    model = Bidirectional(*(LSTM.from_torch(torch_layer(module, reverse=way)) for way in (False, True)))
    rng = np.random.default_rng(4)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    h0, c0 = (torch.from_numpy(rng.normal(size=(2, 2, 4))).requires_grad_() for _ in range(2))
    out, (h, c) = module(x, (h0, c0))
    ((out**2).sum() + h.sum() + c.sum()).backward()
    start = [a.detach().numpy() for a in (h0, c0)]
    trace = model.run(x.detach().numpy(), (start[0][0], start[1][0], start[0][1], start[1][1]))
    np.testing.assert_allclose(trace.h, out.detach().numpy(), rtol=0, atol=1e-10)
    ones = tuple(np.ones((2, 4)) for _ in range(4))
    found = model.backward(trace, 2 * trace.h, ones)
    np.testing.assert_allclose(found.x, x.grad.numpy(), rtol=0, atol=1e-10)
    grads = [a.grad.numpy() for a in (h0, c0)]
    expected = (grads[0][0], grads[1][0], grads[0][1], grads[1][1])
    np.testing.assert_allclose(found.start, expected, rtol=0, atol=1e-10)


def test_bidirectional_has_no_step():
    assert not hasattr(pair(*KINDS[0])[0], "step")


def test_bidirectional_refuses():
    model, _ = pair(*KINDS[0])
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="back must read inputs of width 2 as forth does, got width 3"):
        Bidirectional(RNN.initial(inputs=2, hidden=2, rng=rng), RNN.initial(inputs=3, hidden=2, rng=rng))
    with pytest.raises(ValueError, match=r"x must have shape \(..., T, 3\), got \(3,\)"):
        model.run(np.zeros(3))
    with pytest.raises(ValueError, match=r"x must have shape \(..., T, 3\), got \(5, 2\)"):
        model.run(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="state must have 2 parts, got 1"):
        model.run(np.zeros((5, 3)), (np.zeros(4),))
    with pytest.raises(TypeError, match="state must be a tuple of 2 arrays, got ndarray"):
        model.run(np.zeros((5, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"dh must have shape \(5, 8\), got \(5, 4\)"):
        model.backward(model.run(np.zeros((5, 3))), np.zeros((5, 4)))
