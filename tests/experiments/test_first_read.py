"""The conditions of the first read stand beside the lab's runs of the same seeds."""

from __future__ import annotations

import pytest

from onesentence.experiments import first_read, reversal
from onesentence.text.reversal import ReversalData, reversal_corpus

TINY = reversal.ReversalLab(
    data=ReversalData(train=60, dev=5, test=40, shortest=2, longest=4),
    updates=6,
    every=3,
    limit=6,
    seeds=(0, 1, 2),
    wide_seeds=(),
)


def test_run_is_train_one_of_each_condition_and_names_its_data() -> None:
    record = first_read.run.__wrapped__(first_read.FirstRead(lab=TINY, seeds=(2, 0)))
    parts = reversal.parts_of(TINY.data)
    for first in ("encoder", "bias"):
        for at, seed in enumerate((2, 0)):
            alone = reversal.train_one(TINY, parts, ("dynamic", first, seed))
            assert {name: record.metrics[f"{first}_{name}"][at] for name in alone} == alone
    assert record.data_hash == reversal_corpus(TINY.data).digest


def test_compared_pairs_seeds_in_whatever_order_they_are_given() -> None:
    table, lab = first_read.compared(first_read.FirstRead(lab=TINY, seeds=(2, 0))), reversal.run(TINY).metrics
    assert table["zero"] == [
        (seed, lab["dynamic_exact"][seed], lab["dynamic_by_position"][seed][0][2]) for seed in (2, 0)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": (0, 0)}, r"seeds must differ, got \(0, 0\)"),
        ({"firsts": ("zero",)}, "firsts: expected different ones of encoder, bias, got"),
        ({"firsts": ("bias", "bias")}, "firsts: expected different ones of encoder, bias, got"),
    ],
)
def test_first_read_refuses(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        first_read.FirstRead(**{"lab": TINY, "seeds": (0,), **change})
