"""Which sentences the two ways of labelling are trained on and measured with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onesentence.experiments import label_shift
from onesentence.experiments.label_shift import LabelShift, train_one
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.text.translation_config import TranslationConfig
from onesentence.text.translation_corpus import translation_corpus
from onesentence.text.vocabulary import PAD

SMALL = LabelShift(pairs=20, test=12, width=8, updates=2, batch=4, seeds=(0,))
VARIED = TranslationConfig(train=300, dev=1, test=12, probe=1, seed=5)
"""Sentences of several lengths, which the corpus of the experiment has not."""


def same(one: Batch, other: Batch, *but: str) -> bool:
    names = [n for n in ("source", "source_mask", "inputs", "labels", "mask") if n not in but]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("shift", [True, False])
def test_train_one_differs_in_labels_alone(shift: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, got = translation_corpus(VARIED), []
    sides = corpus.source_vocabulary, corpus.target_vocabulary
    train, test = (
        batch_of([(e.source, e.target) for e in part], *sides) for part in (corpus.train, corpus.test)
    )
    for name, place in (("train", 1), ("label_scores", 1), ("translate", 1)):
        real = getattr(label_shift, name)

        def watched(*args: Any, name: str = name, place: int = place, real: Any = real, **more: Any) -> Any:
            got.append((name, args[place]))
            return real(*args, **more)

        monkeypatch.setattr(label_shift, name, watched)
    train_one(SMALL, corpus, (shift, 0))
    parts: dict[str, list[Batch]] = {}
    for name, batch in got:
        parts.setdefault(name, []).append(batch)
    (trained,), (right, wrong), (written, running) = (
        parts[n] for n in ("train", "label_scores", "translate")
    )
    for batch, part in ((trained, train), (right, test)):
        assert same(batch, part, "labels")
        np.testing.assert_array_equal(batch.labels, part.labels if shift else part.inputs)
    assert not test.source_mask.all()  # lengths differ, so masks have to move with their sources
    assert same(wrong, right, "source", "source_mask")
    np.testing.assert_array_equal(wrong.source_mask, wrong.source != sides[0].id(PAD))
    assert not (wrong.source == right.source).all(axis=1).any()
    assert sorted(wrong.source.tolist()) == sorted(right.source.tolist())
    assert same(written, test)
    assert len(running) == len(corpus.running)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"width": 30}, ValueError, "width must be a multiple of the four heads, got 30"),
        ({"updates": 0}, ValueError, "updates must be at least 1, got 0"),
        ({"limit": 1.5}, TypeError, "limit must be an integer"),
    ],
)
def test_configuration_refuses_sizes(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        LabelShift(**change)
