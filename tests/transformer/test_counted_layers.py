"""Counted layers against the book's own layers and PyTorch's convolution, and against the formulas of their costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.multi_head import MultiHead
from onesentence.recurrent.rnn import RNN
from onesentence.transformer.counted_layers import (
    Counted,
    Tally,
    attention,
    convolution,
    drawn,
    recurrence,
    run,
)
from onesentence.transformer.layer_costs import (
    attention_cost,
    convolution_cost,
    dilated_layers,
    recurrent_cost,
    stacked_layers,
)

SIZES = [(1, 1), (2, 3), (5, 2), (4, 4)]


def test_counted_knows_its_history() -> None:
    tally = Tally()
    a, b = Counted(2.0, tally, read=frozenset([0])), Counted(3.0, tally, chain=1, read=frozenset([4]))
    c = a * b + a
    assert (c.value, c.chain, set(c.read), tally.products) == (8.0, 2, {0, 4}, {"own": 1})
    for same in (c.exp(), c.tanh(), c / 2.0):
        assert (same.chain, same.read) == (c.chain, c.read)
    assert (c / b).value == pytest.approx(8 / 3)
    longer = b * b  # a quotient has the longer chain and the positions of both
    assert ((a / longer).chain, set((a / longer).read)) == (2, {0, 4})
    assert ((longer / a).chain, set((longer / a).read)) == (2, {0, 4})
    assert tally.products.total() == 2


@pytest.mark.parametrize(("n", "C"), SIZES)
def test_run_counts_what_the_formulas_say(n: int, C: int) -> None:
    for layers, cost in [
        ([(attention, 4)], attention_cost(n, C)),
        ([(recurrence, 2)], recurrent_cost(n, C)),
        ([(convolution(), 3)], convolution_cost(n, C, k=3)),
        ([(convolution(2), 2)], convolution_cost(n, C, k=2)),
    ]:
        counts = run(layers, n, C)  # type: ignore[arg-type]
        assert (counts.own, counts.between, counts.chain) == (cost.own, cost.between, cost.chain)


def test_attention_equals_multi_head_of_one_head() -> None:
    X, (W,) = drawn([4], 5, 3, seed=1)
    theirs = MultiHead(w_q=W[:1], w_k=W[1:2], w_v=W[2:3], w_o=W[3])(X, X).output
    np.testing.assert_allclose(run([(attention, 4)], 5, 3, seed=1).output, theirs, rtol=0, atol=1e-13)


def test_recurrence_equals_rnn() -> None:
    X, (W,) = drawn([2], 5, 3, seed=1)
    theirs = RNN(W_x=W[0].T, W_h=W[1].T, b=np.zeros(3)).run(X).h
    np.testing.assert_allclose(run([(recurrence, 2)], 5, 3, seed=1).output, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dilation", [1, 2])
def test_convolution_equals_torch(dilation: int) -> None:
    n, C, k = 6, 3, 3
    X, (W,) = drawn([k], n, C, seed=1)
    weight = torch.from_numpy(W[::-1].copy()).permute(2, 1, 0)  # (out, in, taps), the latest position last
    padded = torch.nn.functional.pad(torch.from_numpy(X.T), ((k - 1) * dilation, 0))
    theirs = torch.nn.functional.conv1d(padded[None], weight, dilation=dilation)[0].T.numpy()
    ours = run([(convolution(dilation), k)], n, C, seed=1).output
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


def test_run_says_which_positions_were_read() -> None:
    everything, n = frozenset(range(5)), 5
    assert run([(attention, 4)], n, 2).read == (everything,) * n
    assert run([(recurrence, 2)], n, 2).read == tuple(frozenset(range(t + 1)) for t in range(n))
    assert run([(convolution(2), 2)], n, 2).read == tuple(
        frozenset(p for p in (t, t - 2) if p >= 0) for t in range(n)
    )


@pytest.mark.parametrize(("n", "k"), [(2, 2), (7, 3), (9, 2), (10, 3), (12, 4)])
def test_stacks_reach_the_first_position_with_as_many_layers_as_said(n: int, k: int) -> None:
    for depth, gap in ((stacked_layers(n, k), 1), (dilated_layers(n, k), k)):
        enough: Any = [(convolution(gap**i), k) for i in range(depth)]
        counts = run(enough, n, 1)
        assert 0 in counts.read[-1]
        assert counts.chain == depth
        if depth > 1:
            assert 0 not in run(enough[:-1], n, 1).read[-1]


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="layers must hold at least one layer, got none"):
        run([], 3, 2)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        run([(attention, 4)], 0, 2)
    for layer, count, name in (
        (attention, 3, "attention"),
        (attention, 5, "attention"),
        (recurrence, 3, "recurrence"),
    ):
        with pytest.raises(ValueError, match=rf"layers: {name} must have \d matrices, got {count}"):
            run([(layer, count)], 3, 2)
    with pytest.raises(ValueError, match="layers: number of matrices must be at least 1, got 0"):
        run([(convolution(), 0)], 3, 2)
    with pytest.raises(TypeError, match="layers: number of matrices must be an integer"):
        run([(recurrence, 2.0)], 3, 2)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="dilation must be at least 1, got 0"):
        convolution(0)
