"""The translator whose weights are compared with gold alignments, in its smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from onesentence.attention.read import read
from onesentence.experiments import learning_read
from onesentence.experiments.fixed_translator import WRONG
from onesentence.experiments.learning_read import KINDS, LearningRead, gold, kind_at, told_her
from onesentence.experiments.reading_translator import ReadingTranslator, Sizes

SMALL = LearningRead(pairs=40, test=8, width=6, updates=2, batch=8, every=1, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


@pytest.fixture(scope="module")
def corpus():
    return learning_read.corpus_of(SMALL)


def model_of(corpus) -> ReadingTranslator:
    sizes = Sizes(len(corpus.source_vocabulary), len(corpus.target_vocabulary), 6)
    return ReadingTranslator.initial(sizes, seed=0)


def test_weights_equal_the_read_of_the_book(corpus) -> None:
    model, data = model_of(corpus).double(), learning_read.batch(corpus, corpus.test)
    h = model.annotations(torch.from_numpy(data.source), torch.from_numpy(data.source_mask))
    s = model.states(torch.from_numpy(data.inputs))
    arrays = [x.detach().numpy() for x in (model.Q(s), model.K(h), model.V(h))]
    ours = read(*arrays, mask=data.source_mask[:, None], scale=None)
    np.testing.assert_allclose(model.weights(data), ours.weights, rtol=0, atol=1e-12)
    assert not model.weights(data)[~np.broadcast_to(data.source_mask[:, None], ours.weights.shape)].any()
    combined = torch.cat([s, torch.from_numpy(ours.context)], -1)
    expected = model.output(torch.tanh(model.combine(combined)))
    logits = model(*map(torch.from_numpy, (data.source, data.source_mask, data.inputs)))
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-12)


def test_annotations_refuse_more_units_than_there_are_positions(corpus) -> None:
    model, source = model_of(corpus), torch.zeros(1, 19, dtype=torch.long)
    real = torch.arange(19)[None] < 17
    with pytest.raises(ValueError, match="source must have at most 16 real units, got 17"):
        model.annotations(source, real)
    assert model.annotations(source, real.roll(2) & real).shape == (1, 19, 6)


def test_logits_do_not_see_the_future(corpus) -> None:
    model, data = model_of(corpus), learning_read.batch(corpus, corpus.test)
    source, mask, inputs = map(torch.from_numpy, (data.source, data.source_mask, data.inputs))
    changed = inputs.clone()
    changed[:, 4:] = 4
    before, after = (model(source, mask, x) for x in (inputs, changed))
    torch.testing.assert_close(before[:, :4], after[:, :4], rtol=0, atol=0)


def test_gold_and_kinds_of_the_running_sentence(corpus) -> None:
    running = corpus.variant("running")
    links = gold((running,), (1, 8, 9))[0]
    assert {(j, i) for i, j in np.argwhere(links)} == running.pair.alignment
    assert not links[7].any()
    kinds = [kind_at(running, j) for j in range(9)]
    expected = ["giver", "time", "verb", "other", "recipient", "number", "measure", "thing", "other"]
    assert kinds == expected


def test_told_her_differs_in_the_recipient_only(corpus) -> None:
    her, him = told_her(corpus)
    assert "".join(her.source) == "我昨天给了她一本书。"
    assert " ".join(her.target) == "I gave her a book yesterday ."
    assert [a == b for a, b in zip(her.source, him.source, strict=True)].count(False) == 1


def test_diagnose_takes_away_what_it_says(corpus) -> None:
    model = model_of(corpus)
    with torch.no_grad():
        model.V.weight.zero_()  # nothing is read: no intervention on the source can matter
    found = learning_read.diagnose(model, corpus)
    answers = [found[name] for name in ("unread", "value", "key", "both")]
    np.testing.assert_allclose(answers, found["intact"], rtol=0, atol=1e-6)
    assert 0 < found["weight"] < 1


def test_run_records_every_seed() -> None:
    record = learning_read.run(SMALL)
    for name in ("hit", "mass", "nll"):
        assert np.shape(record.metrics[name]) == (2, 3)
    assert np.shape(record.metrics["looks"]) == (2, len(WRONG), len(KINDS))
    assert np.sum(record.metrics["looks"], axis=(1, 2)).tolist() == record.metrics["linked"]
    for name in ("before", "after"):
        assert np.shape(record.metrics[name]) == (2, 8, 9)
        np.testing.assert_allclose(np.sum(record.metrics[name], axis=-1), 1, atol=1e-5)
    assert learning_read.run(SMALL).metrics == record.metrics


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"every": 3}, "every must divide updates = 200, got 3"),
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"seeds": ()}, "seeds: expected at least one"),
    ],
)
def test_configuration_refuses(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        LearningRead(**change)
