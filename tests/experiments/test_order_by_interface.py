"""Source order by interface: the four cells on a few sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesentence.experiments import order_by_interface as obi
from onesentence.text.vocabulary import EOS

TINY = obi.OrderByInterface(pairs=40, test=8, clauses=1, width=6, updates=4, every=2, seeds=(0, 1))


def test_run_has_a_value_per_cell_and_seed_and_repeats():
    one, other = (obi.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    cells = {f"{order}_{way}" for order in obi.ORDERS for way in obi.WAYS}
    assert {name.rpartition("_")[0] for name in one.metrics} == cells
    assert [len(row) for row in one.metrics["reversed_reading_positions"]] == [6, 6]
    assert [len(row) for row in one.metrics["forward_fixed_loss"]] == [2, 2]


def test_data_orders_differ_in_the_source_only():
    data = obi.data_of(TINY)
    there, back = data.test["forward"], data.test["reversed"]
    np.testing.assert_array_equal(there.source[:, ::-1], back.source)
    np.testing.assert_array_equal(there.inputs, back.inputs)
    np.testing.assert_array_equal(there.labels, back.labels)
    assert not {p.source for p in data.test_pairs} & {p.source for p in data.train_pairs}


def test_run_learns_a_short_task_in_every_cell():
    longer = replace(
        TINY,
        pairs=400,
        test=40,
        width=24,
        updates=200,
        every=200,
        seeds=(0,),
        rate=0.02,
        forget_bias=1.0,
    )
    metrics = obi.run.__wrapped__(longer).metrics
    guess = obi.most_frequent(obi.data_of(longer))[obi.content(longer)].mean()
    for order in obi.ORDERS:
        for way in obi.WAYS:
            assert metrics[f"{order}_{way}_words"][0] > guess + 0.2


def test_right_counts_positions_by_hand():
    data = obi.data_of(TINY)
    test = data.test["forward"].rows([0, 1])
    labels, eos = test.labels, data.target.id(EOS)

    class Writes:
        """Writes the labels, but a wrong first word in the second sentence."""

        def start(self, source, mask):
            return 0

        def step(self, ids, state):
            logits = np.eye(len(data.target))[labels[:, state]]
            if state == 0:
                logits[1] = np.eye(len(data.target))[(labels[1, 0] + 1) % len(data.target)]
            return logits, state + 1

    right = obi._right(Writes(), test, eos)
    assert right.tolist() == [[1] * 6, [0] + [1] * 5]


def test_most_frequent_is_at_least_the_share_of_the_commas():
    shares = obi.most_frequent(obi.data_of(replace(TINY, clauses=2)))
    assert shares.shape == (11,)
    assert shares[5] == 1.0
    assert shares[0] < 0.9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": ()}, "seeds and ways must not be empty"),
        ({"every": 3}, "every must divide updates = 4, got 3"),
        ({"test": 0}, "pairs and test must be at least 1, got 40 and 0"),
    ],
)
def test_config_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)
