"""How a change of a cell's state travels: the Jacobian of one step and its products over many.

    J_t = dstate_t / dstate_{t-1}                          (n, n)    n numbers in the state: H, of the LSTM 2H, h before c
    dstate_T / dstate_s = J_T J_{T-1} ... J_{s+1}

For the RNN, h_t = tanh(W_x x_t + W_h h_{t-1} + b), this is J_t = diag(1 - h_t * h_t) W_h. A gradient goes the other
way through the same matrices: dL/dh_s = (J_T ... J_{s+1})^T dL/dh_T. Its length lies between the smallest and the
largest singular value of the product times that of dL/dh_T. So row i of J_t is what a cell's way back makes, in this
one step, of the gradient 1 at number i of the state: that is how it is computed here, for every cell alike.

Section 2.11 of the course; Pascanu, Mikolov and Bengio 2013 (arXiv:1211.5063), section 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats
from onesentence.recurrent.cell import Cell, Trace


def step_jacobians(cell: Cell, trace: Trace) -> FloatArray:
    """Return J_t for every step of a pass.

    Args:
        cell: the cell, or layers of them.
        trace: a pass of `run` of this cell over (..., T, d).

    Returns:
        (..., T, n, n), rows are numbers of the state after the step, columns of the one before, in the order of the
        state's parts; the unit matrix at padded positions, where the state stays.

    Raises:
        ValueError: if the pass is not one of a cell with states of this width.

    Example:
        >>> from onesentence.recurrent.rnn import RNN
        >>> cell = RNN(W_x=[[0.5]], W_h=[[0.8]], b=[0.0])
        >>> step_jacobians(cell, cell.run([[1.0], [0.0]])).round(6).ravel().tolist()
        [0.629158, 0.699904]
    """
    widths, found = ([part.shape[-1] for part in state] for state in (cell.start(), trace.states))
    if widths != found:
        raise ValueError(f"trace must be of a cell with states of width {widths}, got {found}")
    alone = _steps_alone(trace)
    ends = np.split(np.eye(sum(widths), dtype=trace.h.dtype), np.cumsum(widths)[:-1], axis=1)
    nothing = np.zeros_like(alone.h)  # no loss reads the state within the step
    rows = [cell.backward(alone, nothing, tuple(end[i] for end in ends)).start for i in range(sum(widths))]
    return np.stack([np.concatenate(row, axis=-1) for row in rows], axis=-2)


def _steps_alone(trace: Trace) -> Trace:
    """Return the steps of a pass as passes of one step each, time as the last axis of the batch."""
    return Trace(
        x=trace.x[..., None, :],
        mask=trace.mask[..., None],
        states=tuple(np.stack([part[..., :-1, :], part[..., 1:, :]], axis=-2) for part in trace.states),
        saved={name: value[..., None, :] for name, value in trace.saved.items()},
    )


def products_back(jacobians: ArrayLike) -> FloatArray:
    """Return the products J_T, J_T J_{T-1}, ... from the end of a sequence backwards.

    Args:
        jacobians: J_1 to J_T, (..., T, H, H), T at least 1.

    Returns:
        (..., T, H, H); entry k along T is dh_T / dh_{T-1-k}, the product of the last k + 1 Jacobians.

    Raises:
        TypeError: if they are not real numbers.
        ValueError: if the shape does not fit or a number is not finite.

    Example:
        >>> products_back(np.array([0.5, 2.0, 3.0])[:, None, None]).ravel().tolist()
        [3.0, 6.0, 3.0]
    """
    J = as_floats("jacobians", jacobians)
    if J.ndim < 3 or J.shape[-1] != J.shape[-2] or J.shape[-3] < 1:
        raise ValueError(f"jacobians must have shape (..., T, H, H) with T >= 1, got {J.shape}")
    if not np.isfinite(J).all():
        raise ValueError("jacobians must be finite, got NaN or infinity")
    T = J.shape[-3]
    products = np.empty_like(J)
    products[..., 0, :, :] = J[..., -1, :, :]
    for k in range(1, T):
        products[..., k, :, :] = products[..., k - 1, :, :] @ J[..., T - 1 - k, :, :]
    return products
