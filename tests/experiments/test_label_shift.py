"""Labels that are the inputs, in the smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onesentence.experiments import label_shift
from onesentence.experiments.label_shift import PEOPLE, LabelShift, unshifted
from onesentence.seq2seq.batches import batch_of

SMALL = LabelShift(pairs=20, test=4, width=8, updates=2, batch=4, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_corpus_has_statements_of_giving_only_and_new_triples_in_test() -> None:
    corpus = label_shift.corpus_of(SMALL)
    events = [e.event for e in (*corpus.train, *corpus.test)]
    assert {e.verb.zh for e in events} == {"给"}
    assert {e.giver.zh for e in events} <= set(PEOPLE)
    assert not any(e.negated or e.question for e in events)
    triples = [
        {(e.event.giver.zh, e.event.recipient.zh, e.event.thing.zh) for e in part}
        for part in (corpus.train, corpus.test)
    ]
    assert not triples[0] & triples[1]


def test_unshifted_changes_the_labels_only() -> None:
    corpus = label_shift.corpus_of(SMALL)
    data = batch_of(
        [(e.source, e.target) for e in corpus.test], corpus.source_vocabulary, corpus.target_vocabulary
    )
    other = unshifted(data)
    assert (other.labels == data.inputs).all()
    assert (other.labels[:, 1:] == data.labels[:, :-1])[data.mask[:, 1:]].all()
    for name in ("source", "source_mask", "inputs", "mask"):
        assert getattr(other, name) is getattr(data, name)


def test_run_records_every_seed_and_starts_both_alike() -> None:
    metrics = label_shift.run(SMALL).metrics
    for kind in ("shifted", "unshifted"):
        assert np.shape(metrics[f"{kind}_loss"]) == (2, 2)
        for name in ("nll", "wrong_source", "exact", "running"):
            assert len(metrics[f"{kind}_{name}"]) == 2
        assert (np.array(metrics[f"{kind}_nll"]) != metrics[f"{kind}_wrong_source"]).all()
    assert label_shift.run(SMALL).metrics == metrics
    once = label_shift.train_one(SMALL, label_shift.corpus_of(SMALL), (False, 1))
    assert once["loss"] == metrics["unshifted_loss"][1]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seeds": ()}, "seeds: expected at least one"), ({"limit": 0}, "limit must be at least 1, got 0")],
)
def test_configuration_refuses(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        LabelShift(**change)
