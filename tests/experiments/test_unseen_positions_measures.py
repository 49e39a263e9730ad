"""What the models of unseen positions are trained on and asked, and when the rate rises and falls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from onesentence.experiments import unseen_positions
from onesentence.experiments.unseen_positions import (
    Case,
    UnseenPositions,
    ceiling_without_positions,
    one,
    train,
)

CONFIG = UnseenPositions(updates=8, batch=4, tests=30, d_model=8)


class Knows(nn.Module):
    """Answers with the symbol before, as sure as its one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.sure = nn.Parameter(torch.tensor(50.0))
        self.starts: list[int] = []

    def forward(self, ids: Tensor, start: Tensor) -> Tensor:
        self.starts += start.tolist()
        return self.sure * nn.functional.one_hot(ids[:, :-1], CONFIG.symbols)


def test_train_asks_for_the_symbol_before_from_every_start_up_to_the_last() -> None:
    for last in (0, 3):
        model = Knows()
        config = UnseenPositions(updates=20, batch=8)
        assert train(model, config, np.random.default_rng(0), last) < 1e-6  # type: ignore[arg-type]
        assert set(model.starts) == set(range(last + 1))


def test_train_raises_its_rate_over_a_quarter_and_lowers_it_over_a_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates: list[float] = []

    class Watched(torch.optim.Adam):
        def step(self, *args: Any, **kwargs: Any) -> Any:
            rates.append(self.param_groups[0]["lr"])
            return super().step(*args, **kwargs)

    monkeypatch.setattr(unseen_positions.torch.optim, "Adam", Watched)
    train(Knows(), CONFIG, np.random.default_rng(0))  # type: ignore[arg-type]
    shares = [0.5, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25]
    np.testing.assert_allclose(rates, CONFIG.rate * np.array(shares), rtol=1e-6)


@pytest.mark.parametrize(("case", "last"), [(Case("learned"), 0), (Case("sinusoidal", anywhere=True), 8)])
def test_one_asks_short_long_and_moved_with_new_sequences(
    case: Case, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, calls, drawn = [], [], []
    real_train, real_right, real_draw = train, unseen_positions.right, unseen_positions._sequences

    def watched_train(model: Any, config: Any, rng: Any, last: int = 0) -> float:
        trained.append((model.embedding.positions, last))
        return real_train(model, config, rng, last)

    def watched_right(model: Any, config: Any, T: int, rng: Any, start: int = 0) -> Any:
        calls.append((T, start))
        return real_right(model, config, T, rng, start)

    def watched_draw(*args: Any) -> Tensor:
        drawn.append(real_draw(*args))
        return drawn[-1]

    monkeypatch.setattr(unseen_positions, "train", watched_train)
    monkeypatch.setattr(unseen_positions, "right", watched_right)
    monkeypatch.setattr(unseen_positions, "_sequences", watched_draw)
    found = one((case, 0), CONFIG)
    assert trained == [(case.positions, last)]
    assert calls == [(8, 0), (16, 0), (8, 8)]
    assert len(found["long"]) == 15
    read, asked = drawn[: CONFIG.updates], drawn[CONFIG.updates :]
    known = {tuple(row) for ids in read for row in ids.tolist()}
    assert not known & {tuple(row) for ids in asked for row in ids[:, :8].tolist()}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"updates": 0}, ValueError, "updates must be at least 1, got 0"),
        ({"tests": 0}, ValueError, "tests must be at least 1, got 0"),
        ({"batch": 2.0}, TypeError, "batch must be an integer"),
        ({"seen": 2.5}, TypeError, "seen must be an integer"),
        ({"rate": float("nan")}, ValueError, "rate must be finite, got nan"),
        ({"clip": -1.0}, ValueError, "clip must be positive, got -1.0"),
    ],
)
def test_configuration_refuses(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        UnseenPositions(**change)


def test_ceiling_without_positions_refuses_what_leaves_the_range_of_numbers() -> None:
    assert 1 / 8 < ceiling_without_positions(8, 171) < ceiling_without_positions(8, 20)
    for symbols, T in ((8, 172), (100, 152)):
        with pytest.raises(ValueError, match="T must be at most 171"):
            ceiling_without_positions(symbols, T)
