"""Skip-gram on the corpus of the GloVe comparison, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.embed.word2vec_train import TrainConfig
from onesentence.experiments.skip_gram_neighbours import SkipGramNeighboursConfig, run
from onesentence.text.everyday import VOCABULARY, EverydayConfig

SMALL = SkipGramNeighboursConfig(
    corpus=EverydayConfig(count=40), training=TrainConfig(width=3, updates=5), seeds=(0, 1, 2)
)


def test_run_trains_every_seed_on_the_same_pairs(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))
    record = run(SMALL)
    vectors = np.array(record.metrics["vectors"])
    assert vectors.shape == (3, len(VOCABULARY), 3)
    assert not np.allclose(vectors[0], vectors[1])
    assert [len(losses) for losses in record.metrics["losses"]] == [5, 5, 5]
    again = run.__wrapped__(SMALL)
    assert np.array_equal(vectors, np.array(again.metrics["vectors"])), "a seed fixes the run"


@pytest.mark.parametrize("seeds", [(0, 1), (0, 0, 1), ()])
def test_too_few_or_equal_seeds_are_refused(seeds: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="seeds must be at least three different ones"):
        SkipGramNeighboursConfig(seeds=seeds)
