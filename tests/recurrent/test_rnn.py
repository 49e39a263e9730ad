"""The RNN: values by hand, torch, padding, the way back against autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.recurrent.rnn import RNN


def pair(d: int = 3, H: int = 4) -> tuple[RNN, torch.nn.RNN]:
    torch.manual_seed(0)
    module = torch.nn.RNN(d, H, batch_first=True, dtype=torch.float64)
    return RNN.from_torch(module), module


def test_run_two_steps_by_hand():
    cell = RNN(W_x=np.eye(2), W_h=0.5 * np.eye(2), b=np.zeros(2))
    trace = cell.run([[1.0, 0.0], [0.0, 1.0]])
    h1 = np.tanh([1.0, 0.0])
    np.testing.assert_allclose(trace.saved["u"][1], [0.5 * np.tanh(1.0), 1.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(trace.h, [h1, np.tanh([0.5 * h1[0], 1.0])], rtol=0, atol=1e-15)


def test_run_equals_torch():
    cell, module = pair()
    rng = np.random.default_rng(0)
    x, h0 = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 4))
    theirs, last = module(torch.from_numpy(x), torch.from_numpy(h0)[None])
    trace = cell.run(x, (h0,))
    np.testing.assert_allclose(trace.h, theirs.detach().numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.last[0], last[0].detach().numpy(), rtol=0, atol=1e-10)


def test_step_repeated_equals_run():
    cell, _ = pair()
    x = np.random.default_rng(1).normal(size=(5, 3))
    state = cell.start()
    for row in x:
        state = cell.step(row, state)
    np.testing.assert_array_equal(state[0], cell.run(x).last[0])


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_state_and_no_gradient(side):
    cell, _ = pair()
    rng = np.random.default_rng(2)
    x, dh = rng.normal(size=(4, 3)), rng.normal(size=(4, 4))
    real = np.array([False] * 5 + [True] * 4) if side == "left" else np.array([True] * 4 + [False] * 5)
    x_pad, dh_pad = np.full((9, 3), 7.0), np.zeros((9, 4))
    x_pad[real], dh_pad[real] = x, dh
    alone, padded = cell.run(x), cell.run(x_pad, mask=real)
    np.testing.assert_allclose(padded.h[real], alone.h, rtol=0, atol=1e-14)
    np.testing.assert_allclose(padded.last[0], alone.last[0], rtol=0, atol=1e-14)
    last = (rng.normal(size=4),)
    one, other = cell.backward(alone, dh, last), cell.backward(padded, dh_pad, last)
    for name, gradient in one.parameters.items():
        np.testing.assert_allclose(other.parameters[name], gradient, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.x[real], one.x, rtol=0, atol=1e-13)
    assert not other.x[~real].any()
    np.testing.assert_allclose(other.start[0], one.start[0], rtol=0, atol=1e-13)


def test_backward_equals_autograd():
    cell, module = pair()
    rng = np.random.default_rng(3)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    h0 = torch.from_numpy(rng.normal(size=(2, 4))).requires_grad_()
    dh, last = rng.normal(size=(2, 6, 4)), rng.normal(size=(2, 4))
    out, end = module(x, h0[None])
    ((out * torch.from_numpy(dh)).sum() + (end[0] * torch.from_numpy(last)).sum()).backward()
    trace = cell.run(x.detach().numpy(), (h0.detach().numpy(),))
    ours = cell.backward(trace, dh, (last,))
    expected = {"W_x": module.weight_ih_l0, "W_h": module.weight_hh_l0, "b": module.bias_hh_l0}
    for name, parameter in expected.items():
        np.testing.assert_allclose(ours.parameters[name], parameter.grad.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.x, x.grad.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.start[0], h0.grad.numpy(), rtol=0, atol=1e-10)


def test_constructor_refuses():
    with pytest.raises(ValueError, match=r"W_h must have shape \(2, 2\), got \(2, 3\)"):
        RNN(W_x=np.zeros((2, 3)), W_h=np.zeros((2, 3)), b=np.zeros(2))
    with pytest.raises(ValueError, match="b must be finite"):
        RNN(W_x=np.zeros((2, 3)), W_h=np.zeros((2, 2)), b=[np.inf, 0.0])
