"""The losses of word2vec: values by hand, finite differences, PyTorch, refusals."""

import math

import numpy as np
import pytest
import torch

from onesentence.embed.word2vec import (
    cbow_softmax_loss,
    negative_sampling_loss,
    softmax_loss,
)
from onesentence.numerics import cross_entropy, numerical_gradient


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    return rng.normal(size=4), rng.normal(size=(7, 4)), rng.normal(size=(7, 4))


def close(actual, expected, atol=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


def test_softmax_loss_values_by_hand():
    # scores (log 2, 0, 0): p = (1/2, 1/4, 1/4); sum_w p u - u_o = (1/2, 0) - (0, 1) + (0, 1/4) for o = 1
    result = softmax_loss([math.log(2), 0.0], [[1, 0], [0, 1], [0, 0]], 1)
    close(result.probabilities, [0.5, 0.25, 0.25], atol=1e-15)
    close(result.loss, math.log(4), atol=1e-15)
    close(result.grad_v, [0.5, -0.75], atol=1e-15)
    close(result.grad_u[1], [-0.75 * math.log(2), 0], atol=1e-15)


def test_softmax_loss_gradient_is_expected_minus_observed(setting):
    v, u, _ = setting
    result = softmax_loss(v, u, 3)
    close(result.grad_v, result.probabilities @ u - u[3], atol=1e-12)
    close(result.grad_v, numerical_gradient(lambda x: cross_entropy(u @ x, 3), v), atol=1e-7)
    close(result.grad_u, numerical_gradient(lambda x: cross_entropy(x @ v, 3), u), atol=1e-7)


def test_negative_sampling_loss_values_by_hand():
    result = negative_sampling_loss([1.0], [math.log(3)], [[0.0], [-math.log(3)]])
    close(result.loss, -math.log(3 / 4) - math.log(1 / 2) - math.log(3 / 4), atol=1e-15)
    close(result.grad_v, [-math.log(3) / 4 - math.log(3) / 4], atol=1e-15)
    close(result.grad_positive, [-0.25], atol=1e-15)
    close(result.grad_negatives, [[0.5], [0.25]], atol=1e-15)


def test_negative_sampling_loss_gradients_by_differences(setting):
    v, u, _ = setting
    positive, negatives = u[0], u[[1, 2, 2]]  # one word drawn twice
    result = negative_sampling_loss(v, positive, negatives)
    loss = lambda *arguments: negative_sampling_loss(*arguments).loss  # noqa: E731
    close(result.grad_v, numerical_gradient(lambda x: loss(x, positive, negatives), v), atol=1e-7)
    close(result.grad_positive, numerical_gradient(lambda x: loss(v, x, negatives), positive), atol=1e-7)
    close(result.grad_negatives, numerical_gradient(lambda x: loss(v, positive, x), negatives), atol=1e-7)


def test_cbow_softmax_loss_equals_torch_with_a_repeated_word(setting):
    _, table_in, table_out = setting
    window, centre = [5, 1, 5, 5], 2
    v, u = (torch.tensor(t, requires_grad=True) for t in (table_in, table_out))
    loss = torch.nn.functional.cross_entropy(u @ v[torch.tensor(window)].mean(0), torch.tensor(centre))
    loss.backward()
    result = cbow_softmax_loss(table_in, table_out, window, centre)
    close(result.loss, loss.item(), atol=1e-12)
    close(result.grad_in, v.grad.numpy(), atol=1e-12)
    close(result.grad_out, u.grad.numpy(), atol=1e-12)
    close(result.grad_in[5], 3 * result.grad_in[1], atol=1e-12)  # three occurrences, one row


def test_cbow_softmax_loss_of_one_word_is_skip_gram(setting):
    _, table_in, table_out = setting
    result = cbow_softmax_loss(table_in, table_out, [4], 2)
    alone = softmax_loss(table_in[4], table_out, 2)
    close(result.loss, alone.loss, atol=1e-15)
    close(result.grad_in[4], alone.grad_v, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: softmax_loss([1.0], np.eye(2), 0), ValueError, r"v must have shape \(2,\), got \(1,\)"),
        (lambda: softmax_loss([1.0, np.inf], np.eye(2), 0), ValueError, "v must be finite"),
        (lambda: softmax_loss([1.0, 0.0], np.eye(2), 2), ValueError, r"target must lie in \[0, 2\)"),
        (lambda: softmax_loss([1.0, 0.0], np.eye(2), 0.0), TypeError, "target must hold integers"),
        (
            lambda: negative_sampling_loss([1.0], [1.0], np.empty((0, 1))),
            ValueError,
            "u_negatives must be a matrix",
        ),
        (lambda: cbow_softmax_loss(np.eye(2), np.eye(2), np.empty(0, int), 0), ValueError, "T >= 1"),
    ],
)
def test_losses_refuse_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
