"""Jacobians of the RNN: finite differences, the backward pass, padding, products by hand."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.recurrent.jacobian import products_back, step_jacobians
from onesentence.recurrent.rnn import RNN


def drawn(T: int = 6, batch: tuple[int, ...] = ()) -> tuple[RNN, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    cell = RNN.initial(inputs=3, hidden=4, rng=rng)
    return cell, rng.normal(size=(*batch, T, 3)), rng.normal(size=(*batch, 4))


def differences(f, h: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    columns = [(f(h + eps * unit) - f(h - eps * unit)) / (2 * eps) for unit in np.eye(len(h))]
    return np.stack(columns, axis=1)


def test_step_jacobians_equal_finite_differences() -> None:
    cell, x, h0 = drawn()
    trace = cell.run(x, (h0,))
    jacobians = step_jacobians(cell, trace)
    for t in range(len(x)):
        numeric = differences(lambda h, t=t: cell.step(x[t], (h,))[0], trace.states[0][t])
        np.testing.assert_allclose(jacobians[t], numeric, rtol=0, atol=1e-9)


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
    with pytest.raises(ValueError, match="trace must be of a cell with H = 5, got states of width 4"):
        step_jacobians(wider, cell.run(x))
