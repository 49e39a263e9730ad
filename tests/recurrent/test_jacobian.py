"""Jacobians of cells: finite differences, the backward pass, padding, products by hand."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from onesentence.recurrent.gru import GRU
from onesentence.recurrent.jacobian import products_back, step_jacobians
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.stacked import Stacked


def drawn(T: int = 6, batch: tuple[int, ...] = ()) -> tuple[RNN, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    cell = RNN.initial(inputs=3, hidden=4, rng=rng)
    return cell, rng.normal(size=(*batch, T, 3)), rng.normal(size=(*batch, 4))


def differences(f, h: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    columns = [(f(h + eps * unit) - f(h - eps * unit)) / (2 * eps) for unit in np.eye(len(h))]
    return np.stack(columns, axis=1)


CELLS = {
    "rnn": RNN.initial,
    "lstm": LSTM.initial,
    "gru": GRU.initial,
    "gru of torch": partial(GRU.initial, update="keeps", reset="after"),
}


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", CELLS)
def test_step_jacobians_equal_finite_differences(name: str, layers: int) -> None:
    rng = np.random.default_rng(3)
    cells = tuple(CELLS[name](inputs=3, hidden=3, rng=rng) for _ in range(layers))
    cell = Stacked(cells) if layers > 1 else cells[0]
    x, parts = rng.normal(size=(2, 3, 3)), len(cell.start())
    trace = cell.run(x, tuple(rng.normal(size=(2, 3)) for _ in range(parts)))
    jacobians = step_jacobians(cell, trace)
    for b, t in np.ndindex(2, 3):

        def after(state: np.ndarray, now: np.ndarray = x[b, t]) -> np.ndarray:
            return np.concatenate(cell.step(now, tuple(np.split(state, parts))))

        before = np.concatenate([part[b, t] for part in trace.states])
        np.testing.assert_allclose(jacobians[b, t], differences(after, before), rtol=0, atol=1e-9)


def test_step_jacobians_of_the_rnn_are_slopes_times_weights() -> None:
    cell, x, h0 = drawn(batch=(2,))
    trace = cell.run(x, (h0,))
    slopes = 1 - trace.h * trace.h
    np.testing.assert_allclose(step_jacobians(cell, trace), slopes[..., None] * cell.W_h, rtol=0, atol=1e-15)


def test_products_equal_finite_differences_over_all_steps() -> None:
    cell, x, h0 = drawn()
    products = products_back(step_jacobians(cell, cell.run(x, (h0,))))
    numeric = differences(lambda h: cell.run(x, (h,)).last[0], h0)
    np.testing.assert_allclose(products[-1], numeric, rtol=0, atol=1e-9)


def test_products_carry_a_gradient_as_backward_does() -> None:
    cell, x, h0 = drawn(batch=(2, 3))
    trace = cell.run(x, (h0,))
    last = np.random.default_rng(1).normal(size=(2, 3, 4))
    back = cell.backward(trace, np.zeros_like(trace.h), (last,))
    product = products_back(step_jacobians(cell, trace))[..., -1, :, :]
    np.testing.assert_allclose(
        np.einsum("...ij,...i->...j", product, last), back.start[0], rtol=0, atol=1e-14
    )


def test_padding_has_the_unit_matrix() -> None:
    cell, x, h0 = drawn(T=4)
    mask = np.array([True, False, True, False])
    padded = step_jacobians(cell, cell.run(x, (h0,), mask))
    alone = step_jacobians(cell, cell.run(x[mask], (h0,)))
    np.testing.assert_array_equal(padded[[1, 3]], np.stack([np.eye(4)] * 2))
    np.testing.assert_allclose(products_back(padded)[-1], products_back(alone)[-1], rtol=0, atol=1e-15)


def test_products_back_multiplies_in_order() -> None:
    A, B, C = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([2.0, 3.0]), np.array([[1.0, 1.0], [0.0, 1.0]])
    products = products_back([A, B, C])
    np.testing.assert_array_equal(products[1], C @ B)
    np.testing.assert_array_equal(products[2], C @ B @ A)


@pytest.mark.parametrize(
    ("jacobians", "message"),
    [
        (np.eye(2), r"jacobians must have shape \(..., T, H, H\) with T >= 1, got \(2, 2\)"),
        (np.zeros((3, 2, 1)), r"got \(3, 2, 1\)"),
        (np.zeros((0, 2, 2)), r"got \(0, 2, 2\)"),
        (np.full((1, 1, 1), np.nan), "jacobians must be finite"),
    ],
)
def test_products_back_refuses(jacobians, message) -> None:
    with pytest.raises(ValueError, match=message):
        products_back(jacobians)


def test_step_jacobians_refuses_another_cell() -> None:
    cell, x, _ = drawn()
    wider = RNN.initial(inputs=3, hidden=5, rng=np.random.default_rng(2))
    with pytest.raises(ValueError, match=r"trace must be of a cell with states of width \[5\], got \[4\]"):
        step_jacobians(wider, cell.run(x))
