"""Clipping: by hand, against torch, the laws, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from onesentence.embed.optim import SGD, Adam
from onesentence.recurrent.clipping import clip_elements, clip_norm, global_norm

GRADIENTS = hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-1e6, 1e6))


def draw(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"W_x": rng.normal(size=(4, 3)), "W_h": 5 * rng.normal(size=(4, 4)), "b": rng.normal(size=4)}


def test_clip_norm_by_hand_over_two_parameters() -> None:
    clipped, norm = clip_norm({"W": np.array([[3.0]]), "b": np.array([4.0])}, 2.5)
    assert norm == 5
    np.testing.assert_allclose([clipped["W"][0, 0], clipped["b"][0]], [1.5, 2.0], rtol=1e-15)


def test_clip_elements_by_hand() -> None:
    clipped = clip_elements({"W": np.array([[3.0, -0.5], [-7.0, 1.0]])}, 1.0)
    assert clipped["W"].tolist() == [[1.0, -0.5], [-1.0, 1.0]]


@pytest.mark.parametrize("threshold", [0.1, 1.0, 1000.0])
def test_clip_norm_equals_torch(threshold: float) -> None:
    gradients = draw()
    parameters = [torch.nn.Parameter(torch.zeros(g.shape, dtype=torch.float64)) for g in gradients.values()]
    for parameter, g in zip(parameters, gradients.values(), strict=True):
        parameter.grad = torch.from_numpy(g.copy())
    theirs = float(torch.nn.utils.clip_grad_norm_(parameters, threshold))
    clipped, norm = clip_norm(gradients, threshold)
    assert norm == pytest.approx(theirs, rel=1e-14)
    shorter = min(1.0, threshold / (norm + 1e-6)) / min(1.0, threshold / norm)  # torch adds 1e-6 to the norm
    for parameter, ours in zip(parameters, clipped.values(), strict=True):
        assert parameter.grad is not None
        np.testing.assert_allclose(parameter.grad.numpy(), shorter * ours, rtol=1e-13)


def test_clip_elements_equals_torch() -> None:
    g = draw()["W_h"]
    parameter = torch.nn.Parameter(torch.zeros(g.shape, dtype=torch.float64))
    parameter.grad = torch.from_numpy(g.copy())
    torch.nn.utils.clip_grad_value_([parameter], 2.0)
    np.testing.assert_array_equal(parameter.grad.numpy(), clip_elements(g, 2.0))


@given(g=GRADIENTS, threshold=st.floats(1e-3, 1e3))
def test_clip_norm_keeps_direction_and_caps_the_length(g: np.ndarray, threshold: float) -> None:
    before = g.copy()
    clipped, norm = clip_norm(g, threshold)
    np.testing.assert_array_equal(g, before)
    assert np.linalg.norm(clipped) <= threshold * (1 + 1e-12)
    np.testing.assert_allclose(clipped * norm, g * np.linalg.norm(clipped), rtol=1e-9, atol=1e-9)
    if norm <= threshold:
        np.testing.assert_array_equal(clipped, g)


@given(g=GRADIENTS, threshold=st.floats(1e-3, 1e3))
def test_clip_elements_caps_every_entry(g: np.ndarray, threshold: float) -> None:
    clipped = clip_elements(g, threshold)
    assert np.abs(clipped).max() <= threshold
    kept = np.abs(g) <= threshold
    np.testing.assert_array_equal(clipped[kept], g[kept])


def test_zero_and_empty_gradients_stay() -> None:
    clipped, norm = clip_norm({"W": np.zeros((2, 2)), "b": np.zeros(0)}, 1.0)
    assert norm == 0
    assert clipped["W"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert clipped["b"].shape == (0,)
    assert clip_norm({}, 1.0) == ({}, 0.0)


def test_large_and_small_entries_do_not_overflow() -> None:
    clipped, norm = clip_norm(np.array([3e200, 4e200]), 1.0)
    assert norm == pytest.approx(5e200)
    np.testing.assert_allclose(clipped, [0.6, 0.8], rtol=1e-15)
    assert global_norm({"b": np.array([3e-200, 4e-200])}) == pytest.approx(5e-200)
    with pytest.raises(ValueError, match="the norm must be finite, got entries up to 1e"):
        global_norm({"b": np.full(10_000, 1e307)})


def test_clip_norm_keeps_float32() -> None:
    clipped, _ = clip_norm({"b": np.array([30.0, 40.0], dtype=np.float32)}, 1.0)
    assert clipped["b"].dtype == np.float32


@pytest.mark.parametrize("clip", [clip_norm, clip_elements])
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("optimiser", [SGD(rate=0.1), Adam()])
def test_a_broken_gradient_refuses_the_step_and_changes_nothing(clip, broken, optimiser) -> None:
    parameters, gradients = draw(1), draw(2)
    before = {name: value.copy() for name, value in parameters.items()}
    gradients["W_h"][1, 2] = broken
    with pytest.raises(ValueError, match=r"the gradient of 'W_h' must be finite, got 1 of 16 entries"):
        optimiser.step(parameters, clip(gradients, 1.0))
    for name, value in parameters.items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("clip", [clip_norm, clip_elements])
@pytest.mark.parametrize("threshold", [0.0, -1.0, np.nan, np.inf])
def test_thresholds_refused(clip, threshold) -> None:
    with pytest.raises(ValueError, match="threshold must be positive and finite"):
        clip(np.ones(2), threshold)


def test_other_things_refused() -> None:
    with pytest.raises(TypeError, match="b must hold real numbers"):
        clip_norm({"b": np.array(["x"])}, 1.0)


def test_float32_is_cut_where_the_factor_or_the_threshold_is_none() -> None:
    clipped, _ = clip_norm(np.array([3e30, 4e30], dtype=np.float32), 1e-10)
    np.testing.assert_allclose(clipped, [0.6e-10, 0.8e-10], rtol=1e-6)
    assert clipped.dtype == np.float32
    g = np.array([3e38, -1.0], dtype=np.float32)
    np.testing.assert_array_equal(clip_elements(g, 1e300), g)


def test_global_norm_refuses_nan_beside_zeros() -> None:
    for first, second in ((0.0, np.nan), (np.nan, 0.0), (1.0, np.nan)):
        with pytest.raises(ValueError, match="the norm must be finite"):
            global_norm({"W": np.array([first]), "b": np.array([second])})
