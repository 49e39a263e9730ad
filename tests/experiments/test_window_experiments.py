"""The experiments on fixed windows, in their smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onesentence.experiments import window_distance, window_sharing, window_tagging
from onesentence.experiments.window_distance import Distance
from onesentence.experiments.window_sharing import Sharing
from onesentence.experiments.window_tagging import Tagging
from onesentence.text.window_corpus import counts_after


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_sharing_records_every_seed_and_size() -> None:
    config = Sharing(sizes=(5, 10), steps=4, seeds=(0, 1))
    record = window_sharing.run(config)
    assert record.seeds == (0, 1)
    asked = {"seen", "held_out", "stranger", "strange_verb", "pair", "frequent"}
    assert set(record.metrics) == asked | {"near", "far"}
    for name, values in record.metrics.items():
        assert np.shape(values) == (2, 2)
        assert np.min(values) > 0
        assert name not in asked or np.max(values) < 1
    assert window_sharing.run(config).metrics == record.metrics


def test_sharing_corpus_lacks_the_pair_and_the_stranger() -> None:
    sentences = window_sharing.corpus(Sharing(), 100, seed=0)
    assert not counts_after(sentences, ["gave", "him"])
    assert counts_after(sentences, ["sent", "him"])
    assert not any(window_sharing.STRANGER in s for s in sentences)
    assert window_sharing.corpus(Sharing(), 30, seed=0) == sentences[:30]


def test_sharing_stranger_keeps_its_row() -> None:
    config = Sharing(steps=4)
    lm = window_sharing.train(config, 5, seed=0)
    with pytest.raises(ValueError, match="'nobody' is not among the 26 symbols of the vocabulary"):
        window_sharing.probability(lm, "book", "gave nobody a")
    assert 0 < window_sharing.probability(lm, "book", "gave it a") < 1


def test_distance_cannot_tell_what_lies_outside() -> None:
    config = Distance(windows=(4, 8), clauses=(0, 1), stories=6, asked=1, epochs=1, seeds=(0,))
    record = window_distance.run(config)
    assert np.shape(record.metrics["right"]) == (1, 2, 2)
    narrow, wide = record.metrics["right"][0]
    assert max(narrow) <= 0.5
    assert wide[1] <= 0.5
    assert record.metrics["size"][0][1] - record.metrics["size"][0][0] == 4 * config.embedding * config.hidden


def test_tagging_counts_agree() -> None:
    config = Tagging(sentences=10, held_out=20, epochs=2, seeds=(0, 1))
    record = window_tagging.run(config)
    for seed in range(2):
        m = {name: values[seed] for name, values in record.metrics.items()}
        assert m["sentences"] <= m["illegal"] <= m["wrong"] <= m["positions"]
        assert m["apart"] == m["sentences"]
        assert bool(m["example"]) == (m["sentences"] > 0)


def test_configurations_refuse_nothing_to_do() -> None:
    with pytest.raises(ValueError, match="sizes must be numbers"):
        Sharing(sizes=())
    with pytest.raises(ValueError, match="windows must be at least 1"):
        Distance(windows=(0,))
    with pytest.raises(ValueError, match="clauses must be at least 0"):
        Distance(clauses=(-1,))
    for config in (Sharing, Distance, Tagging):
        with pytest.raises(ValueError, match="seeds: expected at least one"):
            config(seeds=())
