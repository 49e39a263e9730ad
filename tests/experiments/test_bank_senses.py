"""The bank experiment and its networks, in their smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from onesentence.experiments import bank_senses
from onesentence.experiments.bank_models import WAYS, BankReader, Way
from onesentence.experiments.bank_senses import BankSenses, data_of, same_sense, two_axes
from onesentence.text.bank_corpus import course_sentences

SMALL = BankSenses(updates=2, batch=8, held_out=20, width=8, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def reader(way: Way, seed: int = 0) -> BankReader:
    return BankReader.initial(way, 20, C=8, radius=2, seed=seed)


def test_run_records_every_seed_and_way_before_and_after() -> None:
    metrics = bank_senses.run(SMALL).metrics
    names = ("apart_near", "apart_far", "apart_most", "nearest", "near", "far", "new", "readout")
    for name in names:
        for when in ("before", "after"):
            assert np.shape(metrics[f"{name}_{when}"]) == (2, 4)
    assert np.shape(metrics["points_after"]) == (2, 4, 40, 2)
    assert np.shape(metrics["course_before"]) == (2, 4, 2)
    assert bank_senses.run(SMALL).metrics == metrics


@pytest.mark.parametrize("way", WAYS)
def test_states_do_not_depend_on_padding_or_the_batch(way: Way) -> None:
    model = reader(way)
    ids = torch.tensor([[3, 4, 5, 9, 9], [6, 7, 8, 1, 2]])
    mask = torch.tensor([[True, True, True, False, False], [True] * 5])
    with torch.no_grad():
        both = model.states(ids, mask, torch.tensor([2, 0]))
        alone = model.states(ids[:1, :3], mask[:1, :3], torch.tensor([2]))
    torch.testing.assert_close(both[:1], alone)


@pytest.mark.parametrize("way", WAYS)
def test_states_read_the_sentence_within_reach_alone(way: Way) -> None:
    model = reader(way)
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    far = ids.clone()
    far[0, 5] = 9  # three places from the one that is asked
    mask, place = torch.ones(1, 6, dtype=torch.bool), torch.tensor([2])
    with torch.no_grad():
        same = torch.equal(model.states(ids, mask, place), model.states(far, mask, place))
    assert same == (way == "window")


def test_average_does_not_know_the_order_and_the_others_do() -> None:
    ids, turned = torch.tensor([[1, 2, 3]]), torch.tensor([[2, 1, 3]])
    mask, place = torch.ones(1, 3, dtype=torch.bool), torch.tensor([2])
    for way in WAYS:
        with torch.no_grad():
            a, b = (reader(way).states(x, mask, place) for x in (ids, turned))
        assert torch.allclose(a, b, atol=1e-6) == (way == "average"), way


def test_window_reads_zeros_beyond_the_ends_by_hand() -> None:
    model = reader("window")
    ids = torch.tensor([[4, 5]])
    with torch.no_grad():
        got = model.states(ids, torch.ones(1, 2, dtype=torch.bool), torch.tensor([0]))
        rows = model.context.table.weight[[4, 5]]
        kernel = model.context.slide.weight  # (C out, C in, 2 r + 1)
        wanted = torch.tanh(kernel[:, :, 2] @ rows[0] + kernel[:, :, 3] @ rows[1] + model.context.slide.bias)
    torch.testing.assert_close(got[0], wanted)


def test_initial_repeats_with_its_seed_and_leaves_the_generator() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = reader("attention"), reader("attention"), reader("attention", seed=1)
    assert torch.equal(torch.rand(1), expected)
    assert torch.equal(first.head.weight, again.head.weight)
    assert not torch.equal(first.head.weight, other.head.weight)


def test_batch_has_bank_at_its_place() -> None:
    data = data_of(SMALL)
    ids, mask, places = data.batch(course_sentences())
    bank = data.vocabulary.id("bank")
    assert ids[torch.arange(2), places].tolist() == [bank, bank]
    assert mask.sum(dim=1).tolist() == [7, 9]


def test_train_lowers_the_loss() -> None:
    config = BankSenses(updates=30)
    data = data_of(config)
    model = BankReader.initial("average", len(data.vocabulary), C=16, radius=2, seed=0)
    losses = bank_senses.train(model, config, data, np.random.default_rng(0))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2


def test_same_sense_by_hand() -> None:
    states = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    assert same_sense(states, np.array([0, 0, 1, 1])) == 1.0
    assert same_sense(states, np.array([0, 1, 0, 1])) == 0.0
    with pytest.raises(ValueError, match="states: expected at least two, got 1"):
        same_sense(states[:1], np.array([0]))


def test_two_axes_keeps_distances_in_a_plane() -> None:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(6, 2)) @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T + 3.0
    flat = two_axes(plane)
    apart = [np.linalg.norm(x[:, None] - x[None], axis=-1) for x in (plane, flat)]
    np.testing.assert_allclose(apart[0], apart[1], atol=1e-12)
    assert flat[:, 0].std() >= flat[:, 1].std()


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"way must be one of .*, got 'sum'"):
        BankReader("sum", 5, 4, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="C must be even, got 3"):
        BankReader("average", 5, 3, 1)
    with pytest.raises(ValueError, match="ways and seeds must not be empty"):
        BankSenses(seeds=())
    with pytest.raises(ValueError, match="updates, batch and radius must be at least 1, got 0, 32, 2"):
        BankSenses(updates=0)
    with pytest.raises(
        ValueError, match="held_out: expected test pairs within and beyond radius = 9, got 60 of one kind"
    ):
        data_of(BankSenses(radius=9))
