"""The cell path and the total derivative: by hand, against finite differences and against the way back."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.recurrent.gradient_paths import cell_path, total_path
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN


def example(T: int = 6, H: int = 3) -> tuple[LSTM, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    cell = LSTM.initial(inputs=2, hidden=H, rng=rng, forget_bias=1.0)
    cell.W_h[:] *= 3
    return cell, rng.normal(size=(T, 2)), (rng.normal(size=H), rng.normal(size=H))


def test_cell_path_is_the_product_of_the_forget_gates():
    cell, x, state = example()
    trace = cell.run(x, state)
    by_hand = trace.saved["f"][0] * trace.saved["f"][1] * trace.saved["f"][2]
    np.testing.assert_allclose(cell_path(trace)[2], by_hand, rtol=1e-15)


def test_cell_path_equals_finite_differences_with_gates_frozen():
    cell, x, (h, c) = example()
    trace = cell.run(x, (h, c))

    def frozen(start):
        for t in range(len(x)):
            start = trace.saved["f"][t] * start + trace.saved["i"][t] * trace.saved["g"][t]
        return start

    eps = 1e-6
    slope = [(frozen(c + eps * e) - frozen(c - eps * e)) / (2 * eps) for e in np.eye(3)]
    np.testing.assert_allclose(np.diag(cell_path(trace)[-1]), np.transpose(slope), rtol=0, atol=1e-9)


def test_total_path_equals_finite_differences():
    cell, x, (h, c) = example()
    total, eps = total_path(cell, cell.run(x, (h, c))), 1e-6
    for k, e in enumerate(np.eye(3)):
        ahead, behind = (cell.run(x, (h, c + sign * eps * e)).saved["c"] for sign in (1, -1))
        np.testing.assert_allclose(total[:, :, k], (ahead - behind) / (2 * eps), rtol=0, atol=1e-8)


def test_total_path_equals_the_way_back():
    cell, x, state = example()
    trace = cell.run(x, state)
    for j, e in enumerate(np.eye(3)):
        back = cell.backward(trace, np.zeros_like(trace.h), (np.zeros(3), e))
        np.testing.assert_allclose(total_path(cell, trace)[-1, j], back.start[1], rtol=0, atol=1e-14)


def test_total_path_is_the_cell_path_where_gates_do_not_look_at_h():
    cell, x, state = example()
    cell.W_h[:] = 0
    trace = cell.run(x, state)
    expected = cell_path(trace)[..., None] * np.eye(3)
    np.testing.assert_allclose(total_path(cell, trace), expected, rtol=0, atol=1e-15)


def test_padded_steps_pass_on_unchanged():
    cell, x, state = example()
    x = np.stack([x, x])
    real = np.array([[True] * 6, [False, False, True, True, True, False]])
    padded = cell.run(x, state, mask=real)
    alone = cell.run(x[1, 2:5], state)
    np.testing.assert_allclose(cell_path(padded)[1, -1], cell_path(alone)[-1], rtol=1e-14)
    np.testing.assert_allclose(
        total_path(cell, padded)[1, -1], total_path(cell, alone)[-1], rtol=0, atol=1e-14
    )
    np.testing.assert_array_equal(total_path(cell, padded)[1, 1], np.eye(3))


def test_refusals():
    cell, x, state = example()
    plain = RNN(W_x=np.eye(2), W_h=np.eye(2), b=np.zeros(2)).run(x)
    with pytest.raises(ValueError, match=r"trace must be a pass of an LSTM .* got saved \['u'\]"):
        cell_path(plain)
    with pytest.raises(ValueError, match="trace must be a pass of an LSTM"):
        total_path(cell, plain)
    with pytest.raises(
        ValueError, match=r"trace must be of a cell with states of width \[1, 1\], got \[3, 3\]"
    ):
        total_path(LSTM.constant(i=0.5, f=0.5, g=0.0, o=0.5), cell.run(x, state))
