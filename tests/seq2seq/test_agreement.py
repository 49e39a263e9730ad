"""Weights beside a gold alignment and beside an intervention; the worked cases are the doctests."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.seq2seq.agreement import agreement, disagreements, gold_of
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import TranslationConfig, running_events


def test_agreement_of_the_gold_alignment_with_itself_is_full():
    gold = gold_of(pair_of(running_events(TranslationConfig())["question"]))
    hits, mass = agreement(gold / np.maximum(gold.sum(axis=1, keepdims=True), 1), gold)
    assert hits.all()
    np.testing.assert_allclose(mass, 1, rtol=0, atol=1e-12)


def test_gold_of_the_running_sentence():
    pair = pair_of(running_events(TranslationConfig())["running"])
    gold = gold_of(pair, eos=True)
    assert gold.shape == (8, 9)
    assert gold.sum() == len(pair.alignment) == 8
    assert not gold[-1].any()
    assert not gold[:, pair.source.index("本")].any()


def test_agreement_refuses():
    with pytest.raises(ValueError, match=r"weights must have the shape of gold, \(1, 2\), got \(1, 3\)"):
        agreement(np.ones((1, 3)), np.ones((1, 2), dtype=bool))


def test_disagreements_refuses():
    with pytest.raises(ValueError, match="added must have the shape of weights"):
        disagreements(np.ones((1, 3)), np.ones((1, 2)))


def test_agreement_of_a_batch_by_hand():
    alpha = np.array([[[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [1.0, 0.0, 0.0]]])
    links = np.array([[[True, True, False], [True, False, False], [False, False, False]]])
    hit, mass = agreement(alpha, links)
    assert hit.tolist() == [True, False]
    np.testing.assert_allclose(mass, [0.9, 0.2])
