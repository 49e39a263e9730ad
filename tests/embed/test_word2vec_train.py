"""Batched training against the losses of one example, the loss at convergence, refusals."""

import numpy as np
import pytest

from onesentence.embed.pairs import skip_gram_arrays
from onesentence.embed.word2vec import cbow_softmax_loss, negative_sampling_loss, softmax_loss
from onesentence.embed.word2vec_train import (
    TrainConfig,
    Vectors,
    accuracy,
    batch_loss,
    initial_vectors,
    train,
)
from onesentence.numerics import numerical_gradient


def make(size=6, width=3, seed=0):
    return initial_vectors(size, width, np.random.default_rng(seed))


def test_batch_loss_is_the_mean_of_single_losses():
    v = make()
    inputs, outputs = np.array([[0], [3], [0]]), np.array([1, 1, 4])
    loss, grad_v, grad_u = batch_loss(v, inputs, outputs)
    singles = [softmax_loss(v.centre[c], v.context, o) for (c,), o in zip(inputs, outputs, strict=True)]
    expected_v = np.zeros_like(v.centre)
    for (c,), single in zip(inputs, singles, strict=True):
        expected_v[c] += single.grad_v / 3
    np.testing.assert_allclose(loss, np.mean([s.loss for s in singles]))
    np.testing.assert_allclose(grad_v, expected_v, atol=1e-12)
    np.testing.assert_allclose(grad_u, np.mean([s.grad_u for s in singles], axis=0), atol=1e-12)


def test_batch_loss_with_negatives_is_the_single_loss():
    v = make()
    loss, grad_v, grad_u = batch_loss(v, np.array([[2]]), np.array([1]), np.array([[4, 4, 1]]))
    single = negative_sampling_loss(v.centre[2], v.context[1], v.context[[4, 4, 1]])
    np.testing.assert_allclose(loss, single.loss)
    np.testing.assert_allclose(grad_v[2], single.grad_v)
    np.testing.assert_allclose(grad_u[4], single.grad_negatives[:2].sum(axis=0))
    np.testing.assert_allclose(grad_u[1], single.grad_positive + single.grad_negatives[2])
    assert not grad_u[[0, 2, 3, 5]].any()


def test_batch_loss_of_a_padded_window_is_cbow():
    v = make()
    loss, grad_v, grad_u = batch_loss(v, np.array([[5, 5, 1, -1]]), np.array([2]))
    single = cbow_softmax_loss(v.centre, v.context, [5, 5, 1], 2)
    np.testing.assert_allclose(loss, single.loss)
    np.testing.assert_allclose(grad_v, single.grad_in, atol=1e-12)
    np.testing.assert_allclose(grad_u, single.grad_out, atol=1e-12)


@pytest.mark.parametrize("negatives", [None, np.array([[0, 2], [5, 5]])])
def test_batch_loss_gradients_by_differences(negatives):
    v = make()
    inputs, outputs = np.array([[0, 3], [1, -1]]), np.array([1, 4])
    _, grad_v, grad_u = batch_loss(v, inputs, outputs, negatives)
    by_v = numerical_gradient(
        lambda x: batch_loss(Vectors(x, v.context), inputs, outputs, negatives)[0], v.centre
    )
    by_u = numerical_gradient(
        lambda x: batch_loss(Vectors(v.centre, x), inputs, outputs, negatives)[0], v.context
    )
    np.testing.assert_allclose(grad_v, by_v, atol=1e-8)
    np.testing.assert_allclose(grad_u, by_u, atol=1e-8)


def test_train_reaches_the_entropy_of_the_pairs():
    # 0 is followed by 1 or 2, three to one; 3 always by 0: the least loss is the conditional entropy
    inputs, outputs = np.array([[0], [0], [0], [0], [3]]), np.array([1, 1, 1, 2, 0])
    config = TrainConfig(width=4, objective="softmax", updates=1500, batch=5)
    done = train(inputs, outputs, make(4, 4), config, np.random.default_rng(0))
    entropy = -(3 * np.log(3 / 4) + np.log(1 / 4)) / 5
    assert entropy < done.losses[-1] < entropy + 0.01
    assert accuracy(done, inputs, outputs) == 4 / 5


@pytest.mark.parametrize("objective", ["softmax", "sampling"])
def test_train_repeats_and_leaves_its_start(objective):
    inputs, outputs = skip_gram_arrays([[0, 1, 2, 3, 4, 5]] * 3, 2)
    start = make()
    before = start.centre.copy()
    config = TrainConfig(width=3, objective=objective, updates=7, batch=4)
    seen = []
    first, second = (
        train(inputs, outputs, start, config, np.random.default_rng(3), watch=lambda now: seen.append(1))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.centre, second.centre)
    np.testing.assert_array_equal(start.centre, before)
    assert len(first.losses) == 7
    assert len(seen) == 16  # before the first update and after each, twice


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"width": 0}, ValueError, "width must be at least 1, got 0"),
        ({"updates": 1.5}, TypeError, r"updates must be an integer, got 1\.5"),
        ({"objective": "hinge"}, ValueError, "objective must be 'softmax' or 'sampling', got 'hinge'"),
        ({"rate": 0.0}, ValueError, r"rate must be positive and finite, got 0\.0"),
        ({"noise_power": -1.0}, ValueError, r"noise_power must be finite and at least 0, got -1\.0"),
    ],
)
def test_config_refuses_values_without_meaning(change, error, message):
    with pytest.raises(error, match=message):
        TrainConfig(**change)


@pytest.mark.parametrize(
    ("inputs", "outputs", "error", "message"),
    [
        ([[0.5]], [1], TypeError, "inputs and outputs must hold integers"),
        ([0], [1], ValueError, r"inputs \(N, C\) and outputs \(N,\) must fit"),
        ([[6]], [1], ValueError, "must be IDs below 6"),
        ([[0]], [-1], ValueError, "only inputs may be -1"),
        ([[-1]], [1], ValueError, "inputs must hold at least one word in every row"),
    ],
)
def test_train_refuses_bad_examples(inputs, outputs, error, message):
    with pytest.raises(error, match=message):
        train(inputs, outputs, make(), TrainConfig(width=3), np.random.default_rng(0))


def test_train_refuses_other_widths_and_seeds():
    with pytest.raises(ValueError, match="start must hold tables of width 16"):
        train([[0]], [1], make(), TrainConfig(), np.random.default_rng(0))
    with pytest.raises(TypeError, match="rng must be a numpy Generator, got int"):
        train([[0]], [1], make(), TrainConfig(width=3), 0)
    with pytest.raises(ValueError, match="size must be at least 2"):
        make(1)


def test_batch_loss_and_accuracy_refuse_ids_outside_the_tables():
    tables = Vectors(np.eye(3), np.eye(3))
    for inputs, outputs in (([[3]], [0]), ([[0]], [-1]), ([[0]], [3]), ([[-2]], [0])):
        with pytest.raises(ValueError, match="IDs below 3"):
            batch_loss(tables, np.array(inputs), np.array(outputs))
        with pytest.raises(ValueError, match="IDs below 3"):
            accuracy(tables, np.array(inputs), np.array(outputs))
    with pytest.raises(ValueError, match="negatives must be IDs below 3, got 3 to 3"):
        batch_loss(tables, np.array([[0]]), np.array([1]), np.array([[3]]))
    with pytest.raises(ValueError, match=r"must fit, got \(0, 1\) and \(0,\)"):
        accuracy(tables, np.zeros((0, 1), int), np.zeros(0, int))


def test_train_says_when_the_loss_grows_without_bound():
    rng = np.random.default_rng(0)
    config = TrainConfig(width=4, objective="softmax", updates=50, rate=1e300)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"rate: 1e\+300 let the loss grow"):
        train([[0], [1]], [1, 0], initial_vectors(2, 4, rng), config, rng)
    start = Vectors(np.full((2, 4), np.nan), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="start must hold finite tables"):
        train([[0], [1]], [1, 0], start, TrainConfig(width=4), rng)
