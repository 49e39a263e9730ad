"""What every cell refuses alike: inputs, states, masks and gradients that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

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
