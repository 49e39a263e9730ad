"""Numbers of parameters: torch, this package's cells, the widest layer for a budget."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.recurrent.gru import GRU
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.recurrent.size import GROUPS, parameter_count, widest

cells = st.sampled_from(list(GROUPS))
sizes = st.integers(1, 40)


@given(cells, st.integers(1, 8), st.integers(1, 8))
def test_parameter_count_equals_torch(cell, d, H):
    module = getattr(torch.nn, cell)(d, H)
    theirs = sum(p.numel() for p in module.parameters())
    assert parameter_count(cell, inputs=d, hidden=H, torch_biases=True) == theirs


def test_parameter_count_equals_our_cells():
    rng = np.random.default_rng(0)
    for name, kind in (("RNN", RNN), ("GRU", GRU), ("LSTM", LSTM)):
        cell = kind.initial(inputs=5, hidden=7, rng=rng)
        assert parameter_count(name, inputs=5, hidden=7) == sum(p.size for p in cell.parameters().values())


@given(cells, sizes, sizes, st.booleans())
def test_widest_is_the_last_that_fits(cell, d, H, torch_biases):
    def count(width: int) -> int:
        return parameter_count(cell, inputs=d, hidden=width, torch_biases=torch_biases)

    for budget, expected in ((count(H), H), (count(H + 1) - 1, H)):
        assert widest(cell, inputs=d, budget=budget, torch_biases=torch_biases) == expected


def test_size_refuses():
    with pytest.raises(ValueError, match="cell must be one of RNN, GRU, LSTM, got 'MLP'"):
        parameter_count("MLP", inputs=1, hidden=1)
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        parameter_count("RNN", inputs=1, hidden=0)
    with pytest.raises(TypeError, match="inputs must be an integer, got True"):
        parameter_count("RNN", inputs=True, hidden=1)
    with pytest.raises(ValueError, match="budget must allow H = 1, got 5"):
        widest("LSTM", inputs=1, budget=5)
