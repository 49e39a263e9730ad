"""What every cell refuses alike: inputs, states, masks and gradients that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.numerics import numerical_gradient
from onesentence.recurrent.cell import Cell
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.stacked import Stacked

D, H, T = 3, 4, 5


def drawn() -> dict[str, Cell]:
    rng = np.random.default_rng(0)
    cells: dict[str, Cell] = {
        kind.__name__: kind.initial(inputs=D, hidden=H, rng=rng) for kind in (RNN, LSTM, GRU)
    }
    return cells | {"Stacked": Stacked((cells["LSTM"], RNN.initial(inputs=H, hidden=H, rng=rng)))}


CELLS = drawn()
every_cell = pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)


@every_cell
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((T, 7))}, rf"x must have shape \(..., T, {D}\), got \({T}, 7\)"),
        ({"x": np.zeros(D)}, r"x must have shape"),
        ({"x": np.full((T, D), np.nan)}, "x must be finite at every real token"),
        ({"mask": [True, False]}, rf"mask must broadcast to \({T},\)"),
    ],
)
def test_run_refuses_sequences(cell, change, message):
    with pytest.raises(ValueError, match=message):
        cell.run(**{"x": np.zeros((T, D)), **change})


@every_cell
def test_run_refuses_states(cell):
    x, start = np.zeros((T, D)), cell.start()
    parts = len(start)
    with pytest.raises(TypeError, match=f"state must be a tuple of {parts} arrays, got ndarray"):
        cell.run(x, np.zeros(H))
    with pytest.raises(ValueError, match=f"state must have {parts} parts, got {parts + 1}"):
        cell.run(x, (*start, np.zeros(H)))
    with pytest.raises(ValueError, match=rf"state must have shape \({H},\), got \(9,\)"):
        cell.run(x, (*start[:-1], np.zeros(9)))
    with pytest.raises(ValueError, match="state must be finite"):
        cell.run(x, (*start[:-1], np.full(H, np.inf)))


@every_cell
def test_step_refuses_a_scalar(cell):
    with pytest.raises(ValueError, match=rf"x must have shape \(..., {D}\), got a scalar"):
        cell.step(1.0, cell.start())


@every_cell
def test_step_is_a_run_over_one_input(cell):
    x = np.random.default_rng(1).normal(size=(2, D))
    state = cell.step(x, cell.start((2,)))
    for mine, theirs in zip(state, cell.run(x[:, None]).last, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@every_cell
def test_backward_refuses(cell):
    trace = cell.run(np.zeros((T, D)))
    with pytest.raises(ValueError, match=rf"dh must have shape \({T}, {H}\), got \({T}, 3\)"):
        cell.backward(trace, np.zeros((T, 3)))
    with pytest.raises(ValueError, match="dh must be finite"):
        cell.backward(trace, np.full((T, H), np.nan))
    with pytest.raises(ValueError, match=r"must have \d parts, got \d"):
        cell.backward(trace, np.zeros((T, H)), (*cell.start(), np.zeros(H)))


@pytest.mark.parametrize("kind", [RNN, LSTM, GRU])
def test_initial_refuses(kind):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        kind.initial(inputs=1, hidden=0, rng=rng)
    with pytest.raises(TypeError, match=r"inputs must be an integer, got 1\.5"):
        kind.initial(inputs=1.5, hidden=1, rng=rng)
    with pytest.raises(TypeError, match="rng must be a numpy Generator, got int"):
        kind.initial(inputs=1, hidden=1, rng=0)


@every_cell
def test_backward_takes_gradients_at_padded_positions_too(cell):
    rng = np.random.default_rng(2)
    x, dh = rng.normal(size=(T, D)), rng.normal(size=(T, H))
    mask = np.array([False, True, False, True, False])  # padding in front, with a hole, and behind
    start = tuple(rng.normal(size=part.shape) for part in cell.start())
    gradients = cell.backward(cell.run(x, start, mask), dh)

    def loss_of(inputs):
        return float((cell.run(inputs, start, mask).h * dh).sum())

    def loss_from(h):
        return float((cell.run(x, (h, *start[1:]), mask).h * dh).sum())

    np.testing.assert_allclose(gradients.x, numerical_gradient(loss_of, x), rtol=0, atol=1e-8)
    np.testing.assert_allclose(gradients.start[0], numerical_gradient(loss_from, start[0]), rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", [RNN, LSTM, GRU])
def test_backward_refuses_a_pass_of_another_cell_with_the_same_states(kind):
    for name in {"RNN", "LSTM", "GRU"} - {kind.__name__}:
        with pytest.raises(ValueError, match="trace must be a pass that saved"):
            CELLS[kind.__name__].backward(CELLS[name].run(np.zeros((T, D))), np.zeros((T, H)))


@every_cell
def test_gradients_have_the_precision_of_the_cell(cell):
    trace, dh = cell.run(np.ones((T, D))), np.full((T, H), 0.5)
    coarse, fine = cell.backward(trace, dh.astype(np.float32)), cell.backward(trace, dh)
    for name, gradient in coarse.parameters.items():
        assert gradient.dtype == np.float64
        np.testing.assert_array_equal(gradient, fine.parameters[name])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", [RNN, LSTM, GRU])
def test_from_torch_keeps_float32(kind, bias):
    module = getattr(torch.nn, kind.__name__)(D, H, bias=bias, dtype=torch.float32)
    cell = kind.from_torch(module)
    trace = cell.run(np.ones((T, D), dtype=np.float32))
    gradients = cell.backward(trace, np.ones_like(trace.h))
    arrays = (trace.h, gradients.x, *cell.parameters().values(), *gradients.parameters.values())
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
