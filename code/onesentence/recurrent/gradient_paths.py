"""How the LSTM's cell depends on the cell it began with: along the cell alone, and in all.

    one step     c_t = f_t * c_{t-1} + i_t * g_t
    cell path    d c_t / d c_0 with every gate held fixed = f_1 * ... * f_t, elementwise          (H,)
    total        d c_t / d c_0 = the c-by-c block of J_t ... J_1,  J_t = d(h_t, c_t) / d(h_{t-1}, c_{t-1})

The total derivative has the cell path in it and all paths that leave the cell through h and come back through a
gate or the candidate. h_0 is held fixed. Rows of a Jacobian are outputs, columns inputs, h before c.

Section 2.2 of the course; Hochreiter and Schmidhuber 1997 (Neural Computation 9), whose gradient is cut where it
would leave the cell, so that the cell path alone is left there.
"""

from __future__ import annotations

import numpy as np

from onesentence.numerics import FloatArray
from onesentence.recurrent.cell import Trace
from onesentence.recurrent.jacobian import step_jacobians
from onesentence.recurrent.lstm import GATES, LSTM


def cell_path(trace: Trace) -> FloatArray:
    """Return d c_t / d c_0 along the cell, the product of the forget gates, after each step.

    Args:
        trace: a pass of an LSTM.

    Returns:
        (..., T, H); a padded step has the factor 1.

    Raises:
        ValueError: if the pass saved no forget gate.

    Example:
        >>> trace = LSTM.constant(i=0.01, f=0.5, g=0.0, o=1.0).run(np.zeros((3, 1)))
        >>> cell_path(trace)[:, 0].round(12).tolist()
        [0.5, 0.25, 0.125]
    """
    _expect_lstm(trace)
    factors: FloatArray = np.where(trace.mask[..., None], trace.saved["f"], 1)
    return np.cumprod(factors, axis=-2)


def total_path(cell: LSTM, trace: Trace) -> FloatArray:
    """Return d c_t / d c_0 over all paths, after each step.

    Args:
        cell: the LSTM that made the pass.
        trace: the pass.

    Returns:
        (..., T, H, H): row j, column k is d c_t[j] / d c_0[k].

    Raises:
        ValueError: if the pass saved no gates or has another width.

    Example:
        >>> cell = LSTM.constant(i=0.01, f=0.5, g=0.0, o=1.0)  # its gates do not look at h: no other path
        >>> total_path(cell, cell.run(np.zeros((3, 1))))[:, 0, 0].round(12).tolist()
        [0.5, 0.25, 0.125]
    """
    _expect_lstm(trace)
    H = cell.hidden_size
    steps = step_jacobians(cell, trace)
    total = np.empty((*steps.shape[:-2], H, H), dtype=steps.dtype)
    reached = np.concatenate([np.zeros((H, H)), np.eye(H)])  # d(h_0, c_0) / d c_0
    for t in range(steps.shape[-3]):
        reached = steps[..., t, :, :] @ reached
        total[..., t, :, :] = reached[..., H:, :]
    return total


def _expect_lstm(trace: Trace) -> None:
    if len(trace.states) != 2 or not set(GATES) <= set(trace.saved):
        raise ValueError(
            f"trace must be a pass of an LSTM with gates {GATES}, got saved {sorted(trace.saved)}"
        )
