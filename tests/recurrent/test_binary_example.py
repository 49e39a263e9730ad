"""The small binary example: torch, central differences, and its mistakes on purpose."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.numerics import numerical_gradient
from onesentence.recurrent.binary_example import BinaryRNN
from onesentence.recurrent.gradient_check import relative_error

X, Y = [1.0, 0.0, -1.0], [0.0, 1.0, 0.0]
WEIGHTS = np.array([0.5, 0.8, 0.7])


def test_loss_and_gradients_equal_torch():
    wx, wh, wy = weights = [torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in WEIGHTS]
    h, loss = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for x, y in zip(X, Y, strict=True):
        h = torch.tanh(wx * x + wh * h)
        target = torch.tensor(y, dtype=torch.float64)
        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(wy * h, target)
    loss.backward()
    model = BinaryRNN(WEIGHTS)
    assert model.loss(X, Y) == pytest.approx(loss.item(), abs=1e-12)
    np.testing.assert_allclose(model.gradients(X, Y), [w.grad.item() for w in weights], rtol=0, atol=1e-12)


def test_gradient_of_one_step_by_hand():
    h = np.tanh(0.5)
    p = 1 / (1 + np.exp(-0.7 * h))
    du = 0.7 * p * (1 - h**2)
    np.testing.assert_allclose(BinaryRNN(WEIGHTS).gradients([1.0], [0.0]), [du, 0, p * h], rtol=0, atol=1e-15)


@pytest.mark.parametrize("fault", ["overwrite", "no_future"])
def test_faults_are_caught_by_central_differences(fault):
    numeric = numerical_gradient(lambda w: BinaryRNN(w).loss(X, Y), WEIGHTS, 1e-5)
    model = BinaryRNN(WEIGHTS)
    assert relative_error(model.gradients(X, Y), numeric) < 1e-9
    assert relative_error(model.gradients(X, Y, fault=fault), numeric) > 1e-2


def test_refuses():
    model = BinaryRNN(WEIGHTS)
    with pytest.raises(ValueError, match="y must be 3 answers, each 0 or 1"):
        model.loss(X, [0, 1, 2])
    with pytest.raises(ValueError, match="x must be a vector of finite numbers"):
        model.states([[1.0]])
    with pytest.raises(ValueError, match="fault must be None, 'overwrite' or 'no_future', got 'x'"):
        model.gradients(X, Y, fault="x")
    with pytest.raises(ValueError, match="weights must be three finite numbers"):
        BinaryRNN(np.zeros(2))


def test_gradients_of_scores_beyond_the_range_of_exp():
    model = BinaryRNN(np.array([5.0, 1.0, 1e4]))
    np.testing.assert_array_equal(model.gradients([-1.0], [0.0]), np.zeros(3))
    assert model.gradients([-1.0], [1.0])[2] == pytest.approx(np.tanh(5))
