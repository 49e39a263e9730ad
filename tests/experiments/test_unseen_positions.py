"""The experiment on positions that training never had, in its smallest form."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from onesentence.experiments import unseen_positions
from onesentence.experiments.unseen_positions import (
    Case,
    UnseenPositions,
    build,
    ceiling_without_positions,
    right,
    train,
    untouched,
)

SMALL = UnseenPositions(seen=3, asked=6, d_model=8, updates=4, batch=4, tests=5, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_run_records_every_seed_case_and_position() -> None:
    metrics = unseen_positions.run(SMALL).metrics
    for name in ("loss", "short", "moved"):
        assert np.shape(metrics[name]) == (2, 3)
    assert np.shape(metrics["long"]) == (2, 3, 5)
    assert unseen_positions.run(SMALL).metrics == metrics


def test_forward_depends_on_where_the_sequence_starts_unless_there_are_no_positions() -> None:
    ids = torch.tensor([[1, 2, 3]])
    for positions in ("none", "sinusoidal", "learned"):
        model = build(SMALL, positions, 0)
        with torch.no_grad():
            here, there = (model(ids, torch.tensor([start])) for start in (0, 3))
        assert here.shape == (1, 2, 8)
        assert torch.equal(here, there) == (positions == "none")


def test_forward_starts_each_sequence_at_its_own_position() -> None:
    model, ids = build(SMALL, "learned", 0), torch.tensor([[1, 2, 3], [3, 2, 1]])
    with torch.no_grad():
        both = model(ids, torch.tensor([0, 2]))
        alone = model(ids[1:], torch.tensor([2]))
    torch.testing.assert_close(both[1:], alone)


def test_untouched_rows_are_those_that_training_does_not_ask() -> None:
    moved = untouched(SMALL, 0)
    assert len(moved) == 6
    assert min(moved[:3]) > 0
    assert moved[3:] == [0.0, 0.0, 0.0]


def test_train_from_anywhere_moves_every_row() -> None:
    model = build(SMALL, "learned", 0)
    before = model.embedding.learned.weight.detach().clone()
    train(model, UnseenPositions(seen=3, asked=6, d_model=8, updates=20), np.random.default_rng(0), 3)
    assert bool(((model.embedding.learned.weight - before).abs().amax(dim=1) > 0).all())


def test_right_is_one_for_a_model_that_knows_and_counts_every_position() -> None:
    class Knows(torch.nn.Module):
        def forward(self, ids: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
            scores = torch.nn.functional.one_hot(ids[:, :-1], 8).double()
            scores[:, 1] = 0.0
            scores[:, 1, 0] = 1.0  # always 0 at the second place that is asked
            return scores

    share = right(Knows(), UnseenPositions(tests=4000), 4, np.random.default_rng(0))  # type: ignore[arg-type]
    assert share[[0, 2]].tolist() == [1.0, 1.0]
    assert abs(share[1] - 1 / 8) < 0.03


@pytest.mark.parametrize(("symbols", "T"), [(1, 5), (2, 4), (3, 4), (5, 2)])
def test_ceiling_without_positions_equals_enumeration(symbols: int, T: int) -> None:
    texts = list(product(range(symbols), repeat=T - 1))
    most = np.mean([max(text.count(symbol) for symbol in set(text)) for text in texts])
    assert ceiling_without_positions(symbols, T) == pytest.approx(most / (T - 1), abs=1e-12)


def test_model_without_positions_stays_under_the_ceiling() -> None:
    config = UnseenPositions(cases=(Case("none"),), updates=30, tests=2000)
    model = build(config, "none", 0)
    train(model, config, np.random.default_rng(0))
    share = right(model, config, 8, np.random.default_rng(1)).mean()
    assert share < ceiling_without_positions(8, 8) + 0.02


def test_bad_input_is_named() -> None:
    with pytest.raises(
        ValueError, match="seen must be at least 2 and asked at least twice that, got 8 and 15"
    ):
        UnseenPositions(asked=15)
    with pytest.raises(ValueError, match="cases and seeds must not be empty"):
        UnseenPositions(cases=())
    with pytest.raises(ValueError, match="symbols must be at least 2, got 1"):
        UnseenPositions(symbols=1)
    with pytest.raises(ValueError, match="T must be at least 2, got 1"):
        ceiling_without_positions(3, 1)
