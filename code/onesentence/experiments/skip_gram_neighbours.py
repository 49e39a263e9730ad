"""Skip-gram with negative sampling on the corpus, window and dimension of `glove_neighbours`, once per seed.

So that counted vectors, fitted ones and trained ones can be compared on the same words. A seed draws the starting
values, the order of the pairs and the noise; the corpus stays. Section 1.14 of the course.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from onesentence.embed.pairs import skip_gram_arrays
from onesentence.embed.word2vec_train import TrainConfig, initial_vectors, train
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.everyday import VOCABULARY, EverydayConfig, sentences
from onesentence.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class SkipGramNeighboursConfig:
    """What is trained.

    Attributes:
        corpus: size and inequality of the corpus.
        corpus_seed: seed of the corpus.
        radius: reach of a window, to both sides.
        training: width, negatives, budget.
        seeds: seeds of the training, at least three different ones.
    """

    corpus: EverydayConfig = field(default_factory=EverydayConfig)
    corpus_seed: int = 0
    radius: int = 2
    training: TrainConfig = field(default_factory=lambda: TrainConfig(width=8))
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if len(set(self.seeds)) != len(self.seeds) or len(self.seeds) < 3:
            raise ValueError(f"seeds must be at least three different ones, got {self.seeds}")


@memoised
def run(config: SkipGramNeighboursConfig) -> Record:
    """Train once per seed on the same pairs.

    Args:
        config: corpus, radius, training and seeds.

    Returns:
        A record with, per seed, `losses` (one per update) and `vectors` (74 x d, the centre table, rows in the order
        of `everyday.VOCABULARY`).
    """
    corpus = sentences(config.corpus, np.random.default_rng(config.corpus_seed))
    vocabulary = Vocabulary.from_words(VOCABULARY)
    inputs, outputs = skip_gram_arrays([vocabulary.encode(words).tolist() for words in corpus], config.radius)
    runs = []
    for seed in config.seeds:
        rng = np.random.default_rng(seed)
        start = initial_vectors(len(VOCABULARY), config.training.width, rng)
        runs.append(train(inputs, outputs, start, config.training, rng))
    return Record(
        name="skip-gram-neighbours",
        identity="trained",
        config=asdict(config),
        seeds=config.seeds,
        metrics={
            "losses": [one.losses for one in runs],
            "vectors": [one.centre.tolist() for one in runs],
        },
        versions=versions_of("numpy"),
    )
