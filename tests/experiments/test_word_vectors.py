"""The word vector experiment on a small configuration: what it measures, repeats and refuses."""

import numpy as np
import pytest

from onesentence.embed.word2vec_train import TrainConfig
from onesentence.experiments.word_vectors import (
    NOUNS,
    Variant,
    WordVectorsConfig,
    analogy_scores,
    between_classes,
    run,
    same_class,
)
from onesentence.text.everyday import CLASS_OF, CLASSES, VOCABULARY

SMALL = TrainConfig(width=8, updates=60)


@pytest.fixture(autouse=True)
def _own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def class_vectors(offset):
    """One direction per class; with `offset`, an object is its verb plus one common direction."""
    table = np.zeros((len(VOCABULARY), len(CLASSES) + 1))
    for row, word in enumerate(VOCABULARY):
        name = CLASS_OF[word]
        verbs = dict(zip(NOUNS, ("reading", "eating", "drinking", "using"), strict=True))
        if offset and name in NOUNS:
            table[row, list(CLASSES).index(verbs[name])] = table[row, -1] = 1
        else:
            table[row, list(CLASSES).index(name)] = 1
    return table


def test_scores_of_perfect_tables():
    assert same_class(class_vectors(offset=False)) == 1
    assert between_classes(class_vectors(offset=False), NOUNS) == 0
    assert analogy_scores(class_vectors(offset=True))[0] == 1


def test_run_learns_classes_and_repeats():
    config = WordVectorsConfig(Variant(count=300), SMALL, seeds=(0, 1))
    first, again = run(config), run(config)
    assert first == again  # the second one was kept
    assert first.identity == "trained"
    assert all(
        after > 3 * before
        for before, after in zip(first.metrics["before"], first.metrics["after"], strict=True)
    )
    assert np.shape(first.metrics["centre"]) == (2, len(VOCABULARY), 8)
    unkept = run.__wrapped__(config)
    assert unkept.metrics["loss"] == first.metrics["loss"]


def test_run_sees_fewer_examples_on_one_side_or_thinned_out():
    def examples(**change):
        config = WordVectorsConfig(Variant(count=100, **change), TrainConfig(width=4, updates=1), seeds=(0,))
        return run(config).metrics["examples"][0]

    assert examples(side="left") == examples(side="right") == examples() / 2
    assert examples(threshold=0.01) < examples() < examples(radius=4)


def test_config_refuses_no_seeds():
    with pytest.raises(ValueError, match="seeds must hold at least one seed, got none"):
        WordVectorsConfig(seeds=())
