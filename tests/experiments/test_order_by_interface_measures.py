"""What the four cells measure, by hand; what they are trained on and with which seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.experiments import order_by_interface as obi
from onesentence.seq2seq.training import Training, train
from onesentence.text import clauses
from onesentence.text.parallel import ParallelPair

TINY = obi.OrderByInterface(pairs=40, test=8, clauses=1, width=6, updates=4, every=2, seeds=(0, 1))


@pytest.fixture(scope="module")
def data() -> obi.Data:
    return obi.data_of(TINY)


def test_data_of_draws_again_what_training_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRANSFERS", "MANY", "GOODS"):  # so few sentences that some must come again
        monkeypatch.setattr(clauses, name, getattr(clauses, name)[:1])
    few = obi.data_of(obi.OrderByInterface(pairs=20, test=20, clauses=1))
    assert not {p.source for p in few.train_pairs} & {p.source for p in few.test_pairs}


@pytest.mark.parametrize("order", obi.ORDERS)
def test_train_one_uses_its_seed_and_the_training_part_in_its_order(
    data: obi.Data, order: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    monkeypatch.setattr(obi, "_right", lambda model, *_: kept.append(model) or np.ones((8, 6)))
    found = obi.train_one(TINY, data, (order, "reading", 1))
    mine = obi.model_of(TINY, data, "reading", 1)
    plan = Training(updates=4, batch=16, rate=7e-3, clip=1.0)
    losses = train(mine, data.train[order], plan, np.random.default_rng([1, 1]))
    assert found["loss"] == pytest.approx([np.mean(losses[:2]), np.mean(losses[2:])])
    for one, other in zip(kept[0].parameters(), mine.parameters(), strict=True):
        assert torch.equal(one, other)
    test, total = data.test[order], 0.0
    for n in range(8):
        row = test.rows([n])
        log_p = (
            mine(*map(torch.from_numpy, (row.source, row.source_mask, row.inputs)))[0]
            .detach()
            .log_softmax(-1)
        )
        total -= sum(float(log_p[i, y]) for i, y in enumerate(row.labels[0]))
    assert found["nll"] == pytest.approx(total / (8 * 6), abs=1e-5)


def test_train_one_shares_by_hand(data: obi.Data, monkeypatch: pytest.MonkeyPatch) -> None:
    right = np.ones((8, 6))
    right[0, 0] = right[1, 0] = right[2, 5] = 0  # two wrong words, one wrong EOS
    monkeypatch.setattr(obi, "_right", lambda *_: right)
    found = obi.train_one(TINY, data, ("forward", "fixed", 0))
    assert found["positions"] == [6 / 8, 1, 1, 1, 1, 7 / 8]
    assert found["words"] == pytest.approx(38 / 40)
    assert found["exact"] == pytest.approx(5 / 8)


def test_model_of_differs_by_its_seed(data: obi.Data) -> None:
    one, same, other = (obi.model_of(TINY, data, "fixed", seed).embedding.weight for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_most_frequent_by_hand() -> None:
    def pairs(*targets: str) -> tuple[ParallelPair, ...]:
        return tuple(ParallelPair(("x", "x"), tuple(t.split()), frozenset({(0, 0)})) for t in targets)

    few = obi.Data(pairs("a b", "a c", "d c"), pairs("a c", "d b"), None, None, {}, {})  # type: ignore[arg-type]
    assert obi.most_frequent(few).tolist() == [0.5, 0.5]
    more = obi.Data(pairs("a b", "a c", "d c"), pairs("a c", "a c", "d c"), None, None, {}, {})  # type: ignore[arg-type]
    assert obi.most_frequent(more) == pytest.approx([2 / 3, 1])
