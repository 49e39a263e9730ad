"""GloVe: the weight by hand, gradients by finite differences and by torch, exact fits, bad input."""

import numpy as np
import pytest

from onesentence.numerics import numerical_gradient
from onesentence.text.glove import GloveConfig, Parameters, loss_and_gradients, pair_weights, train

COUNTS = np.array([[0.0, 3.0, 12.0], [1.0, 0.0, 2.5], [7.0, 0.5, 30.0]])
NAMES = ("words", "contexts", "word_biases", "context_biases")


def some_parameters(seed=0, size=3, dimension=2):
    rng = np.random.default_rng(seed)
    shapes = ((size, dimension), (size, dimension), (size,), (size,))
    return Parameters(*(rng.normal(size=shape) for shape in shapes))


def by_name(parameters):
    return {name: getattr(parameters, name) for name in NAMES}


def test_pair_weights_by_hand_and_continuous_at_x_max():
    assert pair_weights([0, 16, 256, 1000], 256, 0.75).tolist() == [0, 0.125, 1, 1]
    np.testing.assert_allclose(pair_weights([99.999999, 100.000001], 100, 0.75), 1, atol=1e-7)


def test_loss_by_hand():
    zero = Parameters(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    J, _ = loss_and_gradients(zero, [[4.0]], x_max=64, alpha=0.75)
    np.testing.assert_allclose(J, 0.125 * np.log(4.0) ** 2)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_agree_with_finite_differences(name):
    parameters = by_name(some_parameters())

    def loss_at(value):
        return loss_and_gradients(Parameters(**{**parameters, name: value}), COUNTS, 10, 0.75)[0]

    _, gradients = loss_and_gradients(Parameters(**parameters), COUNTS, 10, 0.75)
    expected = numerical_gradient(loss_at, parameters[name])
    np.testing.assert_allclose(by_name(gradients)[name], expected, rtol=1e-6, atol=1e-6)


def test_loss_and_gradients_agree_with_torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    parameters = by_name(some_parameters(1))
    w, c, b, a = (torch.tensor(value, requires_grad=True) for value in parameters.values())
    J = torch.zeros((), dtype=torch.float64)
    for i, j in zip(*COUNTS.nonzero(), strict=True):
        x = COUNTS[i, j]
        f = min(1.0, (x / 10) ** 0.75)
        J = J + f * (w[i] @ c[j] + b[i] + a[j] - float(np.log(x))) ** 2
    J.backward()
    found, gradients = loss_and_gradients(Parameters(**parameters), COUNTS, 10, 0.75)
    np.testing.assert_allclose(found, J.item())
    for name, value in zip(NAMES, (w, c, b, a), strict=True):
        np.testing.assert_allclose(by_name(gradients)[name], value.grad.numpy(), atol=1e-12)


def test_loss_does_not_see_the_score_of_a_pair_that_never_met():
    counts, parameters = np.diag([5.0, 9.0]), some_parameters(2, size=2)
    before, gradients = loss_and_gradients(parameters, counts, 10, 0.75)
    only_seen = np.diag(np.diag(parameters.words @ parameters.contexts.T))
    biases = np.add.outer(parameters.word_biases, parameters.context_biases)
    error = only_seen + np.diag(np.diag(biases)) - np.diag(np.log([5.0, 9.0]))
    np.testing.assert_allclose(before, (pair_weights(counts, 10, 0.75) * error**2).sum())
    assert np.isfinite(gradients.words).all()


def test_train_fits_a_tiny_matrix_exactly_at_full_width():
    run = train(COUNTS, GloveConfig(dimension=3, learning_rate=0.5, steps=4000), np.random.default_rng(0))
    assert run.losses[-1] < 1e-8
    p = run.parameters
    scores = p.words @ p.contexts.T + p.word_biases[:, None] + p.context_biases
    seen = COUNTS > 0
    np.testing.assert_allclose(scores[seen], np.log(COUNTS[seen]), atol=1e-2)


def test_train_first_step_is_adagrad_by_hand():
    config = GloveConfig(dimension=1, x_max=1, learning_rate=0.1, steps=1)
    rng = np.random.default_rng(3)
    start = [rng.uniform(-0.5, 0.5, shape) for shape in ((1, 1), (1, 1), 1, 1)]
    slope = 2 * (start[0] * start[1] + start[2] + start[3] - np.log(7.0))
    expected = start[2] - 0.1 * slope[0] / np.sqrt(1 + slope[0] ** 2)
    run = train([[7.0]], config, np.random.default_rng(3))
    np.testing.assert_allclose(run.parameters.word_biases, expected)


def test_train_same_seed_same_vectors_other_seed_others():
    config = GloveConfig(dimension=2, steps=20)
    first, again, other = (train(COUNTS, config, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.allclose(first.vectors, other.vectors)
    assert first.losses.shape == (21,)
    assert first.losses[-1] < first.losses[0]
    np.testing.assert_array_equal(first.vectors, first.parameters.words + first.parameters.contexts)


def test_train_does_not_change_the_counts():
    before = COUNTS.copy()
    train(COUNTS, GloveConfig(dimension=1, steps=3), np.random.default_rng(0))
    np.testing.assert_array_equal(COUNTS, before)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dimension": 0}, ValueError, "dimension must be at least 1, got 0"),
        ({"dimension": 2.0}, TypeError, "dimension must be an integer, got 2.0"),
        ({"dimension": 2, "steps": 0}, ValueError, "steps must be at least 1, got 0"),
        ({"dimension": 2, "x_max": 0}, ValueError, "x_max must be positive and finite, got 0"),
        ({"dimension": 2, "x_max": -1.0}, ValueError, "x_max must be positive and finite, got -1.0"),
        ({"dimension": 2, "alpha": np.inf}, ValueError, "alpha must be positive and finite, got inf"),
        ({"dimension": 2, "learning_rate": "1"}, TypeError, "learning_rate must be a number, got '1'"),
    ],
)
def test_config_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        GloveConfig(**arguments)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1.0, 2.0]], r"counts must be square, words by words, got shape \(1, 2\)"),
        ([[1.0, -2.0], [0.0, 1.0]], "counts must be finite and non-negative"),
        ([[0.0]], "counts must have a positive sum"),
    ],
)
def test_train_refuses_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        train(counts, GloveConfig(dimension=1), np.random.default_rng(0))


def test_train_refuses_a_seed_instead_of_a_generator():
    with pytest.raises(TypeError, match="rng must be a numpy Generator, got int"):
        train([[1.0]], GloveConfig(dimension=1), 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_train_refuses_a_loss_that_leaves_the_range():
    config = GloveConfig(dimension=1, learning_rate=1e200, steps=5)
    with pytest.raises(ValueError, match=r"learning_rate 1e\+200 makes the loss leave the range"):
        train([[4.0]], config, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("counts", "x_max", "alpha", "message"),
    [
        ([-1.0], 1, 1, "counts must be non-negative"),
        ([1.0], 0, 1, "x_max must be positive, got 0"),
        ([1.0], 1, -1, "alpha must be positive, got -1"),
    ],
)
def test_pair_weights_refuses(counts, x_max, alpha, message):
    with pytest.raises(ValueError, match=message):
        pair_weights(counts, x_max, alpha)
