"""The LSTM: values by hand, torch, padding, the way back against autograd and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.numerics import numerical_gradient
from onesentence.recurrent.lstm import LSTM

PARTS = ("h", "c")


def pair(d: int = 3, H: int = 4) -> tuple[LSTM, torch.nn.LSTM]:
    torch.manual_seed(0)
    module = torch.nn.LSTM(d, H, batch_first=True, dtype=torch.float64)
    return LSTM.from_torch(module), module


def course_example() -> LSTM:
    """Section 2.2: z = [h; x], the four matrices are equal, the biases make the gates round numbers."""
    U = np.array([[1.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.5]])
    b_i = [-np.log(9) - 0.7, np.log(3) + 0.1]
    b_f = [np.log(9) - 0.7, -np.log(4) + 0.1]
    b_g = [np.arctanh(0.5) - 0.7, -np.arctanh(0.2) + 0.1]
    b_o = [np.log(4) - 0.7, 0.1]
    W = np.vstack([U] * 4)
    return LSTM(W_x=W[:, 2:], W_h=W[:, :2], b=np.concatenate([b_i, b_f, b_g, b_o]))


def test_run_one_step_by_hand():
    h, c = np.array([0.2, -0.1]), np.array([1.0, -1.0])
    trace = course_example().run([[1.0, 0.0]], (h, c))
    by_hand = {"i": [0.1, 0.75], "f": [0.9, 0.2], "g": [0.5, -0.2], "o": [0.8, 0.5], "c": [0.95, -0.35]}
    assert set(trace.saved) == set(by_hand)
    for name, value in by_hand.items():
        np.testing.assert_allclose(trace.saved[name], [value], rtol=0, atol=1e-14)
    np.testing.assert_allclose(trace.last[1], [0.95, -0.35], rtol=0, atol=1e-14)
    np.testing.assert_allclose(trace.last[0], [0.591826, -0.168188], rtol=0, atol=5e-7)


def test_run_keeps_a_share_of_the_cell_per_step():
    logit = np.log(0.99 / 0.01)  # f = 0.99, i = 0.01, and g = 0 writes nothing
    cell = LSTM(W_x=np.zeros((4, 1)), W_h=np.zeros((4, 1)), b=[-logit, logit, 0.0, 0.0])
    trace = cell.run(np.zeros((20, 1)), (np.zeros(1), np.ones(1)))
    np.testing.assert_allclose(trace.saved["c"][:, 0], 0.99 ** np.arange(1, 21), rtol=0, atol=1e-14)
    assert abs(trace.last[1][0] - 0.8179069376) < 5e-11


def test_gates_neither_overflow_nor_leave_their_range():
    cell = LSTM(W_x=np.ones((4, 1)), W_h=np.zeros((4, 1)), b=np.zeros(4))
    with np.errstate(all="raise"):
        trace = cell.run([[1e4], [-1e4]])
    for name in "ifo":
        assert trace.saved[name][:, 0].tolist() == [1.0, 0.0]
    assert trace.saved["g"][:, 0].tolist() == [1.0, -1.0]


def test_run_equals_torch():
    cell, module = pair()
    rng = np.random.default_rng(0)
    x, h0, c0 = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    theirs, ends = module(torch.from_numpy(x), (torch.from_numpy(h0)[None], torch.from_numpy(c0)[None]))
    trace = cell.run(x, (h0, c0))
    np.testing.assert_allclose(trace.h, theirs.detach().numpy(), rtol=0, atol=1e-10)
    for ours, end in zip(trace.last, ends, strict=True):
        np.testing.assert_allclose(ours, end[0].detach().numpy(), rtol=0, atol=1e-10)


def test_run_padded_on_the_right_equals_torch_packed():
    cell, module = pair()
    lengths = [7, 2, 5]
    x = np.random.default_rng(5).normal(size=(3, 7, 3))
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.from_numpy(x), torch.tensor(lengths), batch_first=True, enforce_sorted=False
    )
    _, ends = module(packed)
    trace = cell.run(x, mask=np.arange(7) < np.array(lengths)[:, None])
    for ours, end in zip(trace.last, ends, strict=True):
        np.testing.assert_allclose(ours, end[0].detach().numpy(), rtol=0, atol=1e-10)


def test_step_repeated_equals_run():
    cell, _ = pair()
    x = np.random.default_rng(1).normal(size=(5, 3))
    state = cell.start()
    for row in x:
        state = cell.step(row, state)
    for part, end in zip(state, cell.run(x).last, strict=True):
        np.testing.assert_allclose(part, end, rtol=0, atol=1e-15)


def test_run_keeps_float32():
    cell = LSTM.from_torch(torch.nn.LSTM(3, 4))
    trace = cell.run(np.ones((2, 5, 3), dtype=np.float32))
    assert trace.h.dtype == trace.last[1].dtype == np.float32
    assert cell.backward(trace, np.ones_like(trace.h)).parameters["W_h"].dtype == np.float32


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_state_and_no_gradient(side):
    """Two sequences of different lengths in one batch: each as if it were alone."""
    cell, _ = pair()
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 9, 3))
    dh, state = rng.normal(size=(2, 9, 4)), tuple(rng.normal(size=(2, 2, 4)))
    last = tuple(rng.normal(size=(2, 2, 4)))
    lengths = np.array([[9], [4]])
    real = np.arange(9) >= 9 - lengths if side == "left" else np.arange(9) < lengths
    x[~real] = np.nan  # must not be looked at
    dh[~real] = 0
    padded = cell.run(x, state, mask=real)
    ours = cell.backward(padded, dh, last)
    total = {name: np.zeros_like(value) for name, value in cell.parameters().items()}
    for k in range(2):
        row = real[k]
        alone = cell.run(x[k, row], tuple(part[k] for part in state))
        one = cell.backward(alone, dh[k, row], tuple(part[k] for part in last))
        np.testing.assert_allclose(padded.h[k, row], alone.h, rtol=0, atol=1e-14)
        for p in range(2):
            np.testing.assert_allclose(padded.last[p][k], alone.last[p], rtol=0, atol=1e-14)
            np.testing.assert_allclose(ours.start[p][k], one.start[p], rtol=0, atol=1e-13)
        np.testing.assert_allclose(ours.x[k, row], one.x, rtol=0, atol=1e-13)
        for name, gradient in one.parameters.items():
            total[name] += gradient
    assert not ours.x[~real].any()
    for name, gradient in total.items():
        np.testing.assert_allclose(ours.parameters[name], gradient, rtol=0, atol=1e-13)


def test_gradient_at_a_padded_position_goes_to_the_state_carried_over():
    """A loss that reads h at a padded step reads the last real h: right padding adds it there."""
    cell, _ = pair()
    rng = np.random.default_rng(6)
    x, dh = rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
    real = np.arange(5) < 3
    padded = cell.backward(cell.run(x, mask=real), dh)
    moved = dh[:3].copy()
    moved[2] += dh[3:].sum(axis=0)
    alone = cell.backward(cell.run(x[:3]), moved)
    np.testing.assert_allclose(padded.x[:3], alone.x, rtol=0, atol=1e-14)


def test_backward_equals_autograd():
    cell, module = pair()
    rng = np.random.default_rng(3)
    x = torch.from_numpy(rng.normal(size=(2, 6, 3))).requires_grad_()
    start = [torch.from_numpy(rng.normal(size=(2, 4))).requires_grad_() for _ in PARTS]
    dh, last = rng.normal(size=(2, 6, 4)), tuple(rng.normal(size=(2, 2, 4)))
    out, ends = module(x, tuple(part[None] for part in start))
    loss = (out * torch.from_numpy(dh)).sum()
    for end, gradient in zip(ends, last, strict=True):
        loss = loss + (end[0] * torch.from_numpy(gradient)).sum()
    loss.backward()
    trace = cell.run(x.detach().numpy(), tuple(part.detach().numpy() for part in start))
    ours = cell.backward(trace, dh, last)
    expected = {"W_x": module.weight_ih_l0, "W_h": module.weight_hh_l0, "b": module.bias_hh_l0}
    for name, parameter in expected.items():
        np.testing.assert_allclose(ours.parameters[name], parameter.grad.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.x, x.grad.numpy(), rtol=0, atol=1e-10)
    for part, theirs in zip(ours.start, start, strict=True):
        np.testing.assert_allclose(part, theirs.grad.numpy(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["W_x", "W_h", "b"])
def test_backward_equals_finite_differences(name):
    cell = LSTM.initial(inputs=2, hidden=3, rng=np.random.default_rng(4), forget_bias=1.0)
    rng = np.random.default_rng(5)
    x, dh = rng.normal(size=(2, 5, 2)), rng.normal(size=(2, 5, 3))
    real = np.array([[True] * 5, [True] * 3 + [False] * 2])
    dh[~real] = 0

    def loss(value):
        return float((LSTM(**{**cell.parameters(), name: value}).run(x, mask=real).h * dh).sum())

    ours = cell.backward(cell.run(x, mask=real), dh).parameters[name]
    np.testing.assert_allclose(ours, numerical_gradient(loss, cell.parameters()[name]), rtol=0, atol=1e-8)


def test_initial_forget_bias_changes_nothing_else():
    drawn, set_to = (
        LSTM.initial(inputs=2, hidden=3, rng=np.random.default_rng(7), forget_bias=bias)
        for bias in (None, 2.0)
    )
    assert set_to.b[3:6].tolist() == [2.0] * 3
    np.testing.assert_array_equal(np.delete(set_to.b, range(3, 6)), np.delete(drawn.b, range(3, 6)))
    np.testing.assert_array_equal(set_to.W_h, drawn.W_h)
    assert (np.abs(drawn.b) <= 3**-0.5).all()


def test_constructor_refuses():
    with pytest.raises(ValueError, match=r"W_x must have shape \(4H, d\) with H, d >= 1, got \(6, 3\)"):
        LSTM(W_x=np.zeros((6, 3)), W_h=np.zeros((6, 2)), b=np.zeros(6))
    with pytest.raises(ValueError, match=r"W_h must have shape \(8, 2\), got \(8, 3\)"):
        LSTM(W_x=np.zeros((8, 3)), W_h=np.zeros((8, 3)), b=np.zeros(8))
    with pytest.raises(ValueError, match="b must be finite"):
        LSTM(W_x=np.zeros((4, 3)), W_h=np.zeros((4, 1)), b=[np.inf, 0.0, 0.0, 0.0])


def test_initial_refuses_a_forget_bias_that_is_no_number():
    with pytest.raises(ValueError, match="forget_bias must be finite, got nan"):
        LSTM.initial(inputs=1, hidden=1, rng=np.random.default_rng(0), forget_bias=float("nan"))


@pytest.mark.parametrize("options", [{"num_layers": 2}, {"bidirectional": True}, {"proj_size": 2}])
def test_from_torch_refuses(options):
    with pytest.raises(ValueError, match="module: expected one layer, one direction and no projection"):
        LSTM.from_torch(torch.nn.LSTM(3, 4, **options))


def test_from_torch_without_bias():
    module = torch.nn.LSTM(3, 4, bias=False, batch_first=True, dtype=torch.float64)
    x = np.random.default_rng(8).normal(size=(1, 5, 3))
    theirs = module(torch.from_numpy(x))[0].detach().numpy()
    np.testing.assert_allclose(LSTM.from_torch(module).run(x).h, theirs, rtol=0, atol=1e-10)


def test_constant_has_the_gates_given_whatever_it_reads():
    given = {"i": [0.1, 0.0], "f": [0.9, 1.0], "g": [0.5, -0.2], "o": [0.8, 0.0]}
    trace = LSTM.constant(**given, inputs=3).run(np.random.default_rng(9).normal(size=(4, 3)))
    for name, values in given.items():
        np.testing.assert_allclose(trace.saved[name], [values] * 4, rtol=0, atol=1e-15)
    assert trace.saved["f"][0, 1] == 1
    assert trace.saved["i"][0, 1] == trace.saved["o"][0, 1] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f": 1.1}, r"f must lie in \[0, 1\], got \[1.1\]"),
        ({"o": float("nan")}, r"o must lie in \[0, 1\], got \[nan\]"),
        ({"g": 1.0}, r"g must lie in \(-1, 1\), got \[1.0\]"),
        ({"f": [0.5, 0.5]}, r"f must have shape \(1,\) as i has, got \(2,\)"),
    ],
)
def test_constant_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        LSTM.constant(**{"i": 0.5, "f": 0.5, "g": 0.0, "o": 0.5, **change})
