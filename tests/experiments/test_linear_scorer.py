"""The retrieval task and its four scorers, in their smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onesentence.embed.optim import Adam
from onesentence.experiments import linear_scorer
from onesentence.experiments.linear_scorer import SCORERS, Retrieval, Retriever, one, scorer_of, stories
from onesentence.numerics import numerical_gradient, token_losses

SMALL = Retrieval(keys=5, slots=3, items=3, width=4, updates=3, batch=4, asked=10, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_stories_have_different_keys_and_every_item_once() -> None:
    keys, items = stories(SMALL, 50, np.random.default_rng(0))
    assert keys.shape == items.shape == (50, 3)
    assert keys.max() == 4
    assert all(len(set(row)) == 3 for row in keys.tolist())
    assert (np.sort(items, axis=1) == [0, 1, 2]).all()
    _, more = stories(Retrieval(keys=5, slots=3, items=6), 50, np.random.default_rng(0))
    assert more.max() == 5
    assert all(len(set(row)) == 3 for row in more.tolist())


@pytest.mark.parametrize("name", SCORERS)
def test_gradients_equal_finite_differences(name: str) -> None:
    rng = np.random.default_rng(1)
    model = Retriever.initial(SMALL, name, rng)
    keys, items = stories(SMALL, 4, rng)
    question, answer = keys[:, :2], items[:, :2]
    loss, gradients = model.gradients(question, keys, items, answer)
    assert loss == float(token_losses(model.forward(question, keys, items)[2], answer).mean())
    assert set(gradients) == set(model.parameters())
    for parameter, array in model.parameters().items():
        kept = array.copy()

        def at(values: np.ndarray, array: np.ndarray = array, kept: np.ndarray = kept) -> float:
            array[...] = values
            value = model.gradients(question, keys, items, answer)[0]
            array[...] = kept
            return value

        np.testing.assert_allclose(gradients[parameter], numerical_gradient(at, kept), rtol=0, atol=1e-8)


def test_linear_is_right_once_per_story_whatever_its_parameters() -> None:
    for seed in range(5):
        model = Retriever.initial(SMALL, "linear", np.random.default_rng(seed))
        keys, items = stories(SMALL, 40, np.random.default_rng([seed, 1]))
        _, _, logits = model.forward(keys, keys, items)
        assert ((logits.argmax(-1) == items).sum(axis=1) == 1).all()


def test_dot_learns_the_task() -> None:
    result = one(Retrieval(keys=4, slots=2, items=2, width=8, updates=120, rate=0.03, asked=50), ("dot", 0))
    assert result["right"] > 0.9
    assert result["moved"] > 0.5


def test_run_records_every_seed_and_scorer() -> None:
    record = linear_scorer.run(SMALL)
    for name in ("right", "loss", "moved", "placed"):
        assert np.shape(record.metrics[name]) == (2, 4)
    assert np.shape(record.metrics["weights"]) == (2, 4, 3, 3)
    np.testing.assert_allclose(np.sum(record.metrics["weights"], axis=-1), 1)
    assert linear_scorer.run(SMALL).metrics == record.metrics


@pytest.mark.parametrize("name", ["linear", "general"])
def test_one_counts_questions_of_stories_that_are_not_those_of_training(name: str) -> None:
    model = linear_scorer.train(SMALL, name, 1)
    keys, items = stories(SMALL, 10, np.random.default_rng([1, 2]))
    right, losses, placed, moved = [], [], [], []
    for row, there in zip(keys, items, strict=True):
        weights = []
        for place, question in enumerate(row):
            alpha, _, logits = (
                x[0, 0] for x in model.forward(np.array([[question]]), row[None], there[None])
            )
            right.append(int(logits.argmax()) == there[place])
            losses.append(np.log(np.exp(logits).sum()) - logits[there[place]])
            placed.append(alpha[place])
            weights.append(alpha)
        moved.append((np.max(weights, axis=0) - np.min(weights, axis=0)).max())
    found = one(SMALL, (name, 1))
    for metric, value in (("right", np.mean(right)), ("loss", np.mean(losses)), ("placed", np.mean(placed))):
        assert found[metric] == pytest.approx(value), metric
    assert found["moved"] == pytest.approx(max(moved), abs=1e-12)


def test_train_draws_parameters_and_stories_with_its_seed() -> None:
    model, rng = (
        Retriever.initial(SMALL, "general", np.random.default_rng([1, 1])),
        np.random.default_rng([1, 0]),
    )
    adam = Adam(rate=SMALL.rate)
    for _ in range(SMALL.updates):
        keys, items = stories(SMALL, 4, rng)
        place = rng.integers(3, size=4)
        asked, answer = (
            np.array([[row[at]] for row, at in zip(x, place, strict=True)]) for x in (keys, items)
        )
        adam.step(model.parameters(), model.gradients(asked, keys, items, answer)[1])
    for name, array in linear_scorer.train(SMALL, "general", 1).parameters().items():
        np.testing.assert_array_equal(array, model.parameters()[name])


def test_run_puts_every_result_under_its_seed_and_scorer() -> None:
    record = linear_scorer.run(SMALL)
    for s, seed in enumerate(SMALL.seeds):
        for n, name in enumerate(SMALL.scorers):
            found = one(SMALL, (name, seed))
            assert {metric: record.metrics[metric][s][n] for metric in found} == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scorers": ()}, "scorers: expected some of linear"),
        ({"scorers": ("cosine",)}, "scorers: expected some of linear"),
        ({"slots": 9}, r"slots must lie in \[2, keys = 8\], got 9"),
        ({"items": 3}, "items must be at least slots = 4, got 3"),
        ({"updates": 0}, "updates must be at least 1, got 0"),
        ({"seeds": ()}, "seeds: expected at least one"),
    ],
)
def test_configuration_refuses(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        Retrieval(**change)


def test_scorer_of_refuses() -> None:
    with pytest.raises(ValueError, match=r"name: expected one of linear.*got 'cosine'"):
        scorer_of("cosine", 2, np.random.default_rng(0))
