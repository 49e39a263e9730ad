"""The smallest recurrent network with a loss at every step: one state, three weights, answers 0 or 1.

    h_t = tanh(wx x_t + wh h_{t-1})    h_0 = 0
    a_t = wy h_t                       p_t = 1 / (1 + exp(-a_t))
    L = sum_t log(1 + exp(a_t)) - y_t a_t

and backwards, with du_t = dL/du_t of u_t = wx x_t + wh h_{t-1} and du_{T+1} = 0,

    du_t = (wy (p_t - y_t) + wh du_{t+1}) (1 - h_t^2)
    dL/dwx = sum_t du_t x_t    dL/dwh = sum_t du_t h_{t-1}    dL/dwy = sum_t (p_t - y_t) h_t

It is there to be checked, so it can go wrong on purpose in two named ways (`Fault`). Section 2.10 of the course, whose
example differentiates by wh only; here all three weights are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats

Fault = Literal["overwrite", "no_future"]
"""`overwrite`: the gradient of a step replaces that of the others instead of being added. `no_future`: wh du_{t+1},
what later losses say about this step, is left out."""


@dataclass
class BinaryRNN:
    """Three weights; they may be changed between calls.

    Attributes:
        weights: wx, wh, wy, float64, (3,).

    Example:
        >>> model = BinaryRNN(np.array([0.5, 0.8, 0.7]))
        >>> model.states([1.0, 0.0]).round(6).tolist()
        [0.0, 0.462117, 0.353724]
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        self.weights = as_floats("weights", self.weights).astype(np.float64)
        if self.weights.shape != (3,) or not np.isfinite(self.weights).all():
            raise ValueError(f"weights must be three finite numbers wx, wh, wy, got {self.weights}")

    def states(self, x: ArrayLike) -> FloatArray:
        """Return h_0 ... h_T, (T + 1,).

        Args:
            x: inputs, (T,).

        Raises:
            TypeError: if `x` does not hold real numbers.
            ValueError: if it is no vector of finite numbers.
        """
        inputs = _vector("x", x)
        wx, wh, _ = self.weights
        h = np.zeros(len(inputs) + 1)
        for t, value in enumerate(inputs):
            h[t + 1] = np.tanh(wx * value + wh * h[t])
        return h

    def loss(self, x: ArrayLike, y: ArrayLike) -> float:
        """Return the summed binary cross entropy in nats.

        Args:
            x: inputs, (T,).
            y: right answers, (T,), each 0 or 1.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if shapes differ, or an answer is neither 0 nor 1.
        """
        a = self.weights[2] * self.states(x)[1:]
        return float((np.logaddexp(0, a) - _answers(y, len(a)) * a).sum())

    def gradients(self, x: ArrayLike, y: ArrayLike, *, fault: Fault | None = None) -> FloatArray:
        """Return dL/d(wx, wh, wy), (3,).

        Args:
            x: inputs, (T,).
            y: right answers, (T,), each 0 or 1.
            fault: None computes the gradient; a name makes that mistake on purpose.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if shapes differ, an answer is neither 0 nor 1, or there is no such fault.
        """
        if fault not in (None, "overwrite", "no_future"):
            raise ValueError(f"fault must be None, 'overwrite' or 'no_future', got {fault!r}")
        inputs, h = _vector("x", x), self.states(x)
        _, wh, wy = self.weights
        with np.errstate(over="ignore"):  # beyond the range exp is infinity and p is 0, as it should be
            e = 1 / (1 + np.exp(-wy * h[1:])) - _answers(y, len(inputs))  # p - y, (T,)
        gradient, du_next = np.zeros(3), 0.0
        for t in reversed(range(len(inputs))):
            later = 0.0 if fault == "no_future" else wh * du_next
            du = (wy * e[t] + later) * (1 - h[t + 1] ** 2)
            here = np.array([du * inputs[t], du * h[t], e[t] * h[t + 1]])
            gradient = here if fault == "overwrite" else gradient + here
            du_next = du
        return gradient


def _vector(name: str, value: ArrayLike) -> FloatArray:
    array = as_floats(name, value)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a vector of finite numbers, got {array}")
    return array


def _answers(y: ArrayLike, T: int) -> FloatArray:
    answers = _vector("y", y)
    if answers.shape != (T,) or not np.isin(answers, (0, 1)).all():
        raise ValueError(f"y must be {T} answers, each 0 or 1, got {answers}")
    return answers
