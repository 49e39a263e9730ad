"""Three optimisers for dictionaries of NumPy arrays: plain gradient descent, AdaGrad and Adam.

Symbols: theta a parameter, g its gradient, eta the rate, t the step from 1, G the sum of g², m and v the
running means of g and g².

    SGD      theta -= eta g
    AdaGrad  G = G + g²                         theta -= eta g / sqrt(G)
    Adam     m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g²
             theta -= eta (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

Sources: Duchi et al. 2011 (JMLR 12); Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1. No weight decay, no
schedule of their own. All change the parameters in place, so that a model that holds the arrays sees the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

import numpy as np

from onesentence.numerics import FloatArray


class Optimiser(Protocol):
    """Anything that takes a step from parameters and their gradients."""

    def step(self, parameters: Mapping[str, FloatArray], gradients: Mapping[str, FloatArray]) -> None:
        """Change the parameters in place."""
        ...


@dataclass(frozen=True)
class SGD:
    """Gradient descent without momentum.

    Attributes:
        rate: the step size eta, positive.

    Example:
        >>> theta = {"b": np.array([1.0, 2.0])}
        >>> SGD(rate=0.5).step(theta, {"b": np.array([1.0, -1.0])})
        >>> theta["b"].tolist()
        [0.5, 2.5]
    """

    rate: float

    def __post_init__(self) -> None:
        _check_rate(self.rate)

    def step(self, parameters: Mapping[str, FloatArray], gradients: Mapping[str, FloatArray]) -> None:
        """Subtract rate times the gradient from each parameter, in place.

        Args:
            parameters: name to array of floats.
            gradients: the same names, each of the shape of its parameter.

        Raises:
            ValueError: if names or shapes differ.
        """
        _check_alike(parameters, gradients)
        for name, value in parameters.items():
            value -= self.rate * gradients[name]


@dataclass
class AdaGrad:
    """Steps divided by the root of all squared gradients so far, entry by entry; one object serves one run.

    Attributes:
        rate: the step size eta, positive.
        initial: where the sums G start, positive, so that a gradient of 0 divides by something.

    Example:
        >>> theta = {"b": np.array([1.0, 2.0])}
        >>> AdaGrad(rate=0.1).step(theta, {"b": np.array([3.0, -7.0])})
        >>> theta["b"].round(6).tolist()  # the first step has length eta whatever the size of g
        [0.9, 2.1]
    """

    rate: float
    initial: float = 1e-8
    _squares: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        if not (isfinite(self.initial) and self.initial > 0):
            raise ValueError(f"initial must be positive and finite, got {self.initial}")

    def step(self, parameters: Mapping[str, FloatArray], gradients: Mapping[str, FloatArray]) -> None:
        """Take one step of AdaGrad, in place.

        Args:
            parameters: name to array of floats; the same arrays at every step.
            gradients: the same names, each of the shape of its parameter.

        Raises:
            ValueError: if names or shapes differ.
        """
        _check_alike(parameters, gradients)
        for name, value in parameters.items():
            if name not in self._squares:
                self._squares[name] = np.full_like(value, self.initial)
            square = self._squares[name]
            square += gradients[name] ** 2
            value -= self.rate * gradients[name] / np.sqrt(square)


@dataclass
class Adam:
    """Adam with bias correction; it keeps its running means, so one object serves one training run.

    Attributes:
        rate: the step size eta, positive.
        beta1: decay of the mean of the gradients, in [0, 1).
        beta2: decay of the mean of their squares, in [0, 1).
        eps: added to the root, positive.

    Example:
        >>> theta = {"b": np.array([1.0, 2.0])}
        >>> Adam(rate=0.1).step(theta, {"b": np.array([3.0, -7.0])})
        >>> theta["b"].round(6).tolist()  # the first step has length eta whatever the size of g
        [0.9, 2.1]
    """

    rate: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    _steps: int = field(default=0, init=False, repr=False)
    _means: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False)
    _squares: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        for name, beta in (("beta1", self.beta1), ("beta2", self.beta2)):
            if not 0 <= beta < 1:
                raise ValueError(f"{name} must lie in [0, 1), got {beta}")
        if not (isfinite(self.eps) and self.eps > 0):
            raise ValueError(f"eps must be positive and finite, got {self.eps}")

    def step(self, parameters: Mapping[str, FloatArray], gradients: Mapping[str, FloatArray]) -> None:
        """Take one step of Adam, in place.

        Args:
            parameters: name to array of floats; the same arrays at every step.
            gradients: the same names, each of the shape of its parameter.

        Raises:
            ValueError: if names or shapes differ.
        """
        _check_alike(parameters, gradients)
        self._steps += 1
        corrected1, corrected2 = 1 - self.beta1**self._steps, 1 - self.beta2**self._steps
        for name, value in parameters.items():
            g = gradients[name]
            if name not in self._means:
                self._means[name], self._squares[name] = np.zeros_like(value), np.zeros_like(value)
            m, v = self._means[name], self._squares[name]
            m += (1 - self.beta1) * (g - m)
            v += (1 - self.beta2) * (g * g - v)
            value -= self.rate * (m / corrected1) / (np.sqrt(v / corrected2) + self.eps)


def _check_rate(rate: float) -> None:
    if not (isfinite(rate) and rate > 0):
        raise ValueError(f"rate must be positive and finite, got {rate}")


def _check_alike(parameters: Mapping[str, FloatArray], gradients: Mapping[str, FloatArray]) -> None:
    if set(parameters) != set(gradients):
        raise ValueError(f"gradients must have the names {sorted(parameters)}, got {sorted(gradients)}")
    for name, value in parameters.items():
        if gradients[name].shape != value.shape:
            raise ValueError(
                f"gradients: {name!r} must have shape {value.shape}, got {gradients[name].shape}"
            )
