"""Which outputs an input moves."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.stacked import Stacked
from onesentence.recurrent.visibility import visibility


def test_visibility_of_one_way_two_way_and_layers():
    rng = np.random.default_rng(0)
    low, high = GRU.initial(inputs=3, hidden=4, rng=rng), GRU.initial(inputs=4, hidden=4, rng=rng)
    x, past = rng.normal(size=(6, 3)), np.tri(6, dtype=bool)
    both = Bidirectional(low, RNN.initial(inputs=3, hidden=4, rng=rng))
    np.testing.assert_array_equal(visibility(lambda x: low.run(x).h, x), past)
    np.testing.assert_array_equal(visibility(lambda x: Stacked((low, high)).run(x).h, x), past)
    assert visibility(lambda x: both.run(x).h, x).all()
    np.testing.assert_array_equal(visibility(lambda x: both.run(x).h[:, 4:], x), past.T)


def test_visibility_of_one_position_alone_and_its_neighbour():
    x = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_array_equal(visibility(np.tanh, x), np.eye(5, dtype=bool))
    np.testing.assert_array_equal(visibility(lambda x: np.roll(x, -1, 0), x), np.roll(np.eye(5), -1, 0) == 1)


def test_visibility_leaves_its_input_alone():
    x = np.zeros((3, 1))

    def spoil(rows):
        rows += 1
        return rows

    visibility(spoil, x)
    assert not x.any()


def test_visibility_refuses():
    with pytest.raises(ValueError, match=r"x must have shape \(T, d\), got \(3,\)"):
        visibility(np.tanh, np.zeros(3))
    with pytest.raises(ValueError, match=r"outputs must return 3 rows, got shape \(2, 1\)"):
        visibility(lambda x: x[:2], np.zeros((3, 1)))
    with pytest.raises(ValueError, match="outputs must be finite, got NaN"):
        visibility(lambda x: x * np.nan, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="outputs must be finite"):
        visibility(lambda x: np.where(x > 0, np.inf, x), np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"outputs must return shape \(3, 1\) each time, got \(1, 1\)"):
        visibility(lambda x: x[:1] if x.any() else x, np.zeros((3, 1)))
