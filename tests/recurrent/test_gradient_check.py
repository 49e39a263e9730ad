"""The gradient check: values by hand, both regimes of eps, planted mistakes in the language model."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.generate.shift import shifted_batch
from onesentence.recurrent.gradient_check import compare, relative_error, sweep
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.language_model import RecurrentLM
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN

IDS, TARGETS, MASK = shifted_batch([[2, 3, 2, 4], [4, 4]], pad=99, bos=0, eos=1)


def model(cell=RNN) -> tuple[RecurrentLM, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(0)
    inner = cell.initial(inputs=3, hidden=4, rng=rng)
    lm = RecurrentLM.initial(inner, table=5, rng=rng)
    return lm, tuple(rng.normal(size=(2, 4)) for _ in inner.start())


def everything(lm, state):
    """Arrays and gradients, the state at the beginning among them."""
    done = lm.gradients(IDS, TARGETS, MASK, state=state)
    starts = {f"start.{i}": part for i, part in enumerate(state)}
    given = {f"start.{i}": part for i, part in enumerate(done.start)}
    return lm.parameters() | starts, done.parameters | given, done


def test_relative_error_by_hand():
    assert relative_error([3.0, 4.0], [3.0, 4.0]) == 0
    assert relative_error([1.0, 0.0], [-1.0, 0.0]) == pytest.approx(1)
    assert relative_error([0.0], [0.0]) == 0
    # |(0, 1)| / (5 + sqrt(18))
    assert relative_error([3.0, 4.0], [3.0, 3.0]) == pytest.approx(1 / (5 + 18**0.5), abs=1e-12)
    with pytest.raises(ValueError, match=r"analytic must have shape \(2,\), got \(1,\)"):
        relative_error([1.0], [1.0, 2.0])


def test_compare_reports_what_differs_and_restores_the_arrays():
    theta = {"w": np.array([1.0, -3.0]), "b": np.array(2.0)}
    before = {name: array.copy() for name, array in theta.items()}
    done = compare(
        lambda: float((theta["w"] ** 2).sum() + 5 * theta["b"]),
        theta,
        {"w": np.array([2.0, -6.5]), "b": np.array(5.0)},
    )
    assert done.absolute == pytest.approx(0.5, abs=1e-8)
    assert done.by_name()["w"][0] == pytest.approx(0.5, abs=1e-8)
    assert done.by_name()["b"][0] < 1e-8
    for name, array in theta.items():
        np.testing.assert_array_equal(array, before[name])


def test_sweep_shows_truncation_and_cancellation():
    theta = {"w": np.array([0.7])}
    runs = sweep(
        lambda: float(np.sin(theta["w"][0])), theta, {"w": np.cos(theta["w"])}, [1e-1, 1e-2, 1e-5, 1e-12]
    )
    errors = [run.absolute for run in runs]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.01)  # eps^2
    assert errors[2] < 1e-9
    assert errors[3] > 1000 * errors[2]


@pytest.mark.parametrize("cell", [RNN, LSTM, GRU])
def test_language_model_passes_for_every_array_and_the_start(cell):
    lm, state = model(cell)
    parameters, analytic, _ = everything(lm, state)
    done = compare(lambda: lm.loss(IDS, TARGETS, MASK, state=state), parameters, analytic)
    assert done.absolute < 1e-8
    assert done.relative < 1e-9


def overwritten(lm, done):
    wrong = np.zeros_like(lm.E)
    wrong[IDS[MASK]] = done.x[MASK]
    return {"E": wrong}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("E", overwritten),
        ("start.0", lambda lm, done: {"start.0": np.zeros((2, 4))}),
        ("W_y", lambda lm, done: {"W_y": done.parameters["W_y"] / MASK.sum()}),  # a mean's gradient
        ("cell.b", lambda lm, done: {"cell.b": done.parameters["cell.b"] * 2}),
    ],
)
def test_compare_catches_a_planted_fault_where_it_is(name, fault):
    lm, state = model()
    parameters, analytic, done = everything(lm, state)
    result = compare(lambda: lm.loss(IDS, TARGETS, MASK, state=state), parameters, analytic | fault(lm, done))
    assert result.relative > 1e-3
    caught = [key for key, (absolute, _) in result.by_name().items() if absolute > 1e-6]
    assert caught == [name]


def test_compare_refuses():
    theta = {"w": np.array([1.0])}
    with pytest.raises(ValueError, match=r"analytic must have the names \['w'\], got \['v'\]"):
        compare(lambda: 0.0, theta, {"v": theta["w"]})
    with pytest.raises(ValueError, match=r"analytic: 'w' must have shape \(1,\), got \(2,\)"):
        compare(lambda: 0.0, theta, {"w": np.zeros(2)})
    single = {"w": np.array([1.0], dtype=np.float32)}
    with pytest.raises(TypeError, match="parameters: 'w' must be a float64 array, got dtype float32"):
        compare(lambda: 0.0, single, single)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="loss must give the same number at every call"):
        compare(lambda: float(rng.random()), theta, theta)
