"""What the bank experiment is trained on and asked, against answers that a reader built for the purpose must get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from onesentence.experiments import bank_senses
from onesentence.experiments.bank_models import BankReader
from onesentence.experiments.bank_senses import BankSenses, Data, ask, data_of, train
from onesentence.text.bank_corpus import course_sentences

CONFIG = BankSenses(updates=2, batch=8, held_out=40, width=8, seeds=(0, 1), ways=("average", "attention"))


@pytest.fixture(scope="module")
def data() -> Data:
    return data_of(CONFIG)


class Knower(nn.Module):
    """Knows the sense of training's cues within `reach`, and answers 0 elsewhere; its states are made by `state`."""

    def __init__(self, data: Data, reach: int, state: Any) -> None:
        super().__init__()
        known = {s.tokens[s.cue]: s.sense for s in data.corpus.train}
        self.senses = {data.vocabulary.id(word): sense for word, sense in known.items()}
        self.reach, self.state = reach, state

    def sense(self, ids: Tensor, place: int) -> int:
        near = ids[max(place - self.reach, 0) : place + self.reach + 1].tolist()
        return next((self.senses[i] for i in near if i in self.senses), 0)

    def states(self, ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        rows = [self.state(self, row[real], int(at)) for row, real, at in zip(ids, mask, places, strict=True)]
        return torch.tensor(rows)

    def forward(self, ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        senses = [self.sense(row[real], int(at)) for row, real, at in zip(ids, mask, places, strict=True)]
        return torch.eye(2)[senses]


def numbers(reader: Knower, ids: Tensor, place: int) -> list[float]:
    return [float(ids.sum()) / 10, float(ids.square().sum()) / 100, float(place)]


def test_ask_counts_pairs_right_in_both_by_reach_and_new_cues_apart(data: Data) -> None:
    near, all_ = (ask(Knower(data, reach, numbers), CONFIG, data) for reach in (2, 99))  # type: ignore[arg-type]
    assert (near["near"], near["far"], near["new"]) == (1.0, 0.0, 0.0)
    assert (all_["near"], all_["far"], all_["new"]) == (
        1.0,
        1.0,
        0.0,
    )  # one of each new pair is right by chance
    half = ask(Knower(data, 0, numbers), CONFIG, data)  # type: ignore[arg-type]
    assert (half["near"], half["far"]) == (0.0, 0.0)  # always the same answer: one of each pair
    assert (near["course"], all_["course"]) == ([True, False], [True, True])
    assert {pair[0].distance for pair in data.corpus.test} >= {CONFIG.radius, CONFIG.radius + 1}


def test_ask_measures_the_two_vectors_of_a_pair(data: Data) -> None:
    reader = Knower(data, 99, numbers)
    answers = ask(reader, CONFIG, data)  # type: ignore[arg-type]

    def vector(sentence: Any) -> np.ndarray:
        return reader.states(*data.batch([sentence])).double().numpy()[0]

    apart: dict[bool, list[float]] = {True: [], False: []}
    for money, river in data.corpus.test:
        apart[money.distance > 2].append(float(np.linalg.norm(vector(money) - vector(river))))
    assert answers["apart_near"] == pytest.approx(min(apart[False]))
    assert answers["apart_far"] == pytest.approx(min(apart[True]))
    assert answers["apart_most"] == pytest.approx(max(apart[True]))


def test_ask_fits_its_linear_reader_to_training_alone(data: Data) -> None:
    trained = {tuple(data.vocabulary.encode(s.tokens).tolist()) for s in data.corpus.train}

    def lies(reader: Knower, ids: Tensor, place: int) -> list[float]:
        sign = 2.0 * reader.sense(ids, place) - 1
        return [sign if tuple(ids.tolist()) in trained else -sign]

    def right(reader: Knower, ids: Tensor, place: int) -> list[float]:
        return [2.0 * reader.sense(ids, place) - 1]

    for state, share in ((lies, 0.0), (right, 1.0)):
        assert ask(Knower(data, 99, state), CONFIG, data)["readout"] == share  # type: ignore[arg-type]


def test_train_reads_training_sentences_alone(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = Data.batch
    monkeypatch.setattr(
        Data, "batch", lambda self, sentences: (seen.append(sentences), real(self, sentences))[1]
    )
    model = BankReader.initial("average", len(data.vocabulary), C=8, radius=2, seed=0)
    train(model, CONFIG, data, np.random.default_rng(0))
    assert seen == [data.corpus.train]
    known = {s.tokens for s in data.corpus.train}
    asked = [s for pair in (*data.corpus.test, *data.corpus.new, course_sentences()) for s in pair]
    assert not known & {s.tokens for s in asked}


def test_run_puts_each_seed_and_way_in_its_place_and_asks_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Data
) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))
    metrics = bank_senses.run(CONFIG).metrics
    for i, seed in enumerate(CONFIG.seeds):
        for j, way in enumerate(CONFIG.ways):
            model = BankReader.initial(way, len(data.vocabulary), C=8, radius=2, seed=seed)
            before = ask(model, CONFIG, data)
            losses = train(model, CONFIG, data, np.random.default_rng([seed, 1]))
            assert metrics["loss"][i][j] == pytest.approx(losses[-1], rel=1e-5)
            for name in ("apart_near", "apart_most"):
                assert metrics[f"{name}_before"][i][j] == pytest.approx(before[name], rel=1e-5)
                assert metrics[f"{name}_after"][i][j] != metrics[f"{name}_before"][i][j]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ways": ("sum",)}, ValueError, "ways: expected some of average, .*, got 'sum'"),
        ({"width": 3}, ValueError, "width must be even and at least 2, got 3"),
        ({"updates": 1.5}, TypeError, "updates must be an integer, got 1.5"),
        ({"rate": float("nan")}, ValueError, "rate must be finite, got nan"),
        ({"rate": -1.0}, ValueError, "rate must be positive, got -1.0"),
    ],
)
def test_configuration_refuses(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        BankSenses(**change)


def test_same_sense_and_reader_refuse() -> None:
    for states in (np.array([[np.nan], [1.0]]), np.zeros(2), np.zeros((3, 1))):
        with pytest.raises(ValueError, match="states must have shape"):
            bank_senses.same_sense(states, np.array([0, 1]))
    with pytest.raises(ValueError, match="radius must be at least 1, got -1"):
        BankReader("window", 5, 4, -1)
    with pytest.raises(TypeError, match=r"C must be an integer, got 4\.0"):
        BankReader("average", 5, 4.0, 1)  # type: ignore[arg-type]
