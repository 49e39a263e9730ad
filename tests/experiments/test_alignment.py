"""Alignments read by trained translators: agreement with gold, and interventions at single units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.experiments import alignment as al
from onesentence.experiments.fixed_translator import FixedTranslator, data_of

CORPUS = FixedTranslator(pairs=400, dev=10, test=20, probe=5)
TINY = al.Alignment(corpus=CORPUS, width=8, updates=3, seeds=(0, 1))


@pytest.fixture(scope="module")
def data():
    return data_of(CORPUS)


def test_run_has_a_value_per_seed_and_repeats():
    one, other = (al.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    assert np.shape(one.metrics["weights"]) == (2, 8, 9)
    assert np.shape(one.metrics["unread"]) == (2, 8, 9)
    assert np.shape(one.metrics["replaced"]) == (2, 8, len(al.REPLACEMENTS))
    right, count = np.sum(list(one.metrics["by_part"][0].values()), axis=0)
    assert one.metrics["hits"][0] == pytest.approx(right / count)


def test_occlusion_against_the_formula(data):
    model = al.model_of(TINY, data.corpus, 0)
    row = data.running.rows([0])
    source, real = torch.from_numpy(row.source), torch.from_numpy(row.source_mask)
    inputs, labels = torch.from_numpy(row.inputs), torch.from_numpy(row.labels)

    def losses(ids, mask, may_read=None):
        logits, _ = model.run(ids, mask, inputs, may_read)
        return -torch.log_softmax(logits[0], -1)[torch.arange(8), labels[0]].detach().numpy()

    base, kept = losses(source, real), [0, 1, 2, 3, 5, 6, 7, 8]
    deleted = losses(source[:, kept], real[:, kept]) - base
    np.testing.assert_allclose(al.occlusion(model, row, 4, "deleted"), deleted, rtol=0, atol=1e-5)
    may_read = torch.ones_like(real)
    may_read[0, 4] = False
    unread = losses(source, real, may_read) - base
    np.testing.assert_allclose(al.occlusion(model, row, 4, "unread"), unread, rtol=0, atol=1e-5)
    assert np.abs(deleted - unread).max() > 1e-6


def test_replacements_occur_and_change_one_unit(data):
    running = data.corpus.variant("running").source
    for old, new in al.REPLACEMENTS:
        assert running.count(old) == 1
        assert new in data.corpus.source_vocabulary


def test_occlusion_refuses(data):
    model = al.model_of(TINY, data.corpus, 0)
    with pytest.raises(ValueError, match=r"at must lie in \[0, 9\) of one sentence, got 9 of 1"):
        al.occlusion(model, data.running.rows([0]), 9, "unread")
    with pytest.raises(ValueError, match="of one sentence, got 0 of 2 sentences"):
        al.occlusion(model, data.running.rows([0, 1]), 0, "deleted")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seeds": ()}, "seeds: expected at least one, got none"), ({"limit": 0}, "limit must be at least 1")],
)
def test_config_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)
