"""The small model of the experiments: its gradients, padding, one step."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.embed.optim import SGD
from onesentence.experiments.reader import Batch, Reader
from onesentence.numerics import numerical_gradient
from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.rnn import RNN


def small(both: bool) -> tuple[Reader, Batch]:
    rng = np.random.default_rng(0)
    cell = GRU.initial(inputs=2, hidden=3, rng=rng)
    recurrent = Bidirectional(cell, RNN.initial(inputs=2, hidden=2, rng=rng)) if both else cell
    model = Reader.initial(recurrent, tokens=4, classes=3, rng=rng)
    ids, labels = np.array([[0, 1, 1], [3, 2, 0]]), np.array([[2, 0, 1], [1, 1, 0]])
    real = np.array([[True, True, True], [True, True, False]])
    counted = np.array([[True, False, True], [False, True, False]])
    return model, Batch(ids, labels, real, counted)


@pytest.mark.parametrize("both", [False, True])
def test_gradients_equal_differences(both):
    model, batch = small(both)
    found = model.gradients(batch)
    assert found.keys() == model.parameters().keys()
    for name, array in model.parameters().items():
        kept = array.copy()

        def loss(value, array=array):
            array[...] = value
            return float(model.losses(batch).sum() / batch.counted.sum())

        expected = numerical_gradient(loss, kept)
        array[...] = kept
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-8, err_msg=name)


def test_train_lowers_the_loss_and_counts_its_numbers():
    model, batch = small(True)
    before = model.losses(batch).sum()
    model.train([batch] * 20, SGD(rate=0.1))
    assert model.losses(batch).sum() < before
    assert model.size == sum(a.size for a in model.parameters().values()) == 8 + 57 + 10 + 18
