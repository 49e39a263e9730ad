"""How a change of the RNN's state travels: the Jacobian of one step and its products over many.

With h_t = tanh(W_x x_t + W_h h_{t-1} + b),

    J_t = dh_t / dh_{t-1} = diag(1 - h_t * h_t) W_h            (H, H)
    dh_T / dh_s = J_T J_{T-1} ... J_{s+1}

A gradient goes the other way through the same matrices: dL/dh_s = (J_T ... J_{s+1})^T dL/dh_T. Its length lies
between the smallest and the largest singular value of the product times that of dL/dh_T.

Section 2.11 of the course; Pascanu, Mikolov and Bengio 2013 (arXiv:1211.5063), section 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats
from onesentence.recurrent.cell import Trace
from onesentence.recurrent.rnn import RNN


def step_jacobians(cell: RNN, trace: Trace) -> FloatArray:
    """Return J_t for every step of a pass.

    Args:
        cell: the RNN.
        trace: a pass of `run` of this cell over (..., T, d).

    Returns:
        (..., T, H, H), rows are coordinates of h_t; the unit matrix at padded positions, where the state stays.

    Raises:
        ValueError: if the pass is not one of a cell of this width.

    Example:
        >>> cell = RNN(W_x=[[0.5]], W_h=[[0.8]], b=[0.0])
        >>> step_jacobians(cell, cell.run([[1.0], [0.0]])).round(6).ravel().tolist()
        [0.629158, 0.699904]
    """
    H = cell.hidden_size
    if trace.h.shape[-1] != H:
        raise ValueError(f"trace must be of a cell with H = {H}, got states of width {trace.h.shape[-1]}")
    slopes = 1 - trace.h * trace.h
    jacobians: FloatArray = slopes[..., :, None] * cell.W_h
    return np.where(trace.mask[..., None, None], jacobians, np.eye(H, dtype=jacobians.dtype))


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
