"""The optimisers against values by hand and against torch.optim."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.embed.optim import SGD, AdaGrad, Adam, Optimiser


def theta() -> dict[str, np.ndarray]:
    return {"x": np.array([1.0, -2.0]), "y": np.array([[0.5]])}


def gradients_at(step: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(step)
    return {name: rng.normal(size=value.shape) for name, value in theta().items()}


def test_sgd_step_by_hand() -> None:
    parameters = theta()
    SGD(rate=0.1).step(parameters, {"x": np.array([10.0, 0.0]), "y": np.array([[-5.0]])})
    assert parameters["x"].tolist() == [0.0, -2.0]
    assert parameters["y"].tolist() == [[1.0]]


def test_adam_first_step_is_rate_times_sign() -> None:
    parameters = theta()
    Adam(rate=0.25).step(parameters, {"x": np.array([1e-3, -40.0]), "y": np.array([[2.0]])})
    np.testing.assert_allclose(parameters["x"], [0.75, -1.75], atol=1e-5)
    np.testing.assert_allclose(parameters["y"], [[0.25]], atol=1e-5)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SGD(rate=0.05), lambda p: torch.optim.SGD(p, lr=0.05)),
        (
            AdaGrad(rate=0.05, initial=0.5),
            lambda p: torch.optim.Adagrad(p, lr=0.05, initial_accumulator_value=0.5, eps=0),
        ),
        (Adam(rate=0.05), lambda p: torch.optim.Adam(p, lr=0.05)),
        (
            Adam(rate=0.01, beta1=0.5, beta2=0.9, eps=1e-3),
            lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.5, 0.9), eps=1e-3),
        ),
    ],
)
def test_step_equals_torch(ours: Optimiser, theirs) -> None:
    torch.set_num_threads(1)
    parameters = theta()
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in parameters.items()}
    optimiser = theirs(list(tensors.values()))
    for step in range(20):
        gradients = gradients_at(step)
        ours.step(parameters, gradients)
        for name, tensor in tensors.items():
            tensor.grad = torch.from_numpy(gradients[name])
        optimiser.step()
    for name, tensor in tensors.items():
        np.testing.assert_allclose(parameters[name], tensor.detach().numpy(), rtol=0, atol=1e-12)


def test_step_changes_the_arrays_themselves() -> None:
    parameters = theta()
    held = parameters["x"]
    Adam().step(parameters, gradients_at(0))
    assert parameters["x"] is held
    assert held.tolist() != [1.0, -2.0]


def test_adam_objects_share_no_state() -> None:
    one, other = theta(), theta()
    first = Adam(rate=0.1)
    first.step(one, gradients_at(0))
    Adam(rate=0.1).step(other, gradients_at(0))
    np.testing.assert_array_equal(one["x"], other["x"])


@pytest.mark.parametrize("optimiser", [SGD(rate=1.0), AdaGrad(rate=1.0), Adam()])
def test_step_refuses_gradients_that_do_not_fit(optimiser: Optimiser) -> None:
    with pytest.raises(ValueError, match="gradients must have the names"):
        optimiser.step(theta(), {"x": np.zeros(2)})
    with pytest.raises(ValueError, match="gradients: 'y' must have shape"):
        optimiser.step(theta(), {"x": np.zeros(2), "y": np.zeros(1)})


def test_optimisers_refuse_bad_settings() -> None:
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="rate must be positive"):
            SGD(rate=rate)
        with pytest.raises(ValueError, match="rate must be positive"):
            AdaGrad(rate=rate)
        with pytest.raises(ValueError, match="rate must be positive"):
            Adam(rate=rate)
    with pytest.raises(ValueError, match="initial must be positive"):
        AdaGrad(rate=0.1, initial=0.0)
    with pytest.raises(ValueError, match="beta1 must lie in"):
        Adam(beta1=1.0)
    with pytest.raises(ValueError, match="beta2 must lie in"):
        Adam(beta2=-0.1)
    with pytest.raises(ValueError, match="eps must be positive"):
        Adam(eps=0.0)
