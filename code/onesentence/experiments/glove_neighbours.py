"""GloVe on the everyday corpus, once per seed: the loss curve and the vectors, whose neighbours pages compare.

The corpus, the window and the dimension are fixed by the configuration; a seed draws the starting values of the
training and nothing else. `added` is the intervention: a constant added to the counts. Added to all cells, it gives
pairs which never met a count, and they enter the objective; added only to the cells that were seen, it changes the
small counts as much and leaves those pairs out, which makes it the control. Section 1.14 of the course.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from math import isfinite
from numbers import Real
from typing import Literal

import numpy as np

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.cooccurrence import Cooccurrence, Window, count_pairs
from onesentence.text.everyday import VOCABULARY, EverydayConfig, sentences
from onesentence.text.glove import GloveConfig, train


@dataclass(frozen=True)
class GloveNeighboursConfig:
    """What is counted and how GloVe is fitted to it.

    Attributes:
        corpus: size and inequality of the corpus.
        corpus_seed: seed of the corpus.
        window: the counting.
        glove: dimension, weights and budget.
        added: constant added to the counts, finite and not negative; 0 leaves them as they are.
        added_to: `all` cells, or only those that were `seen`.
        seeds: seeds of the starting values, at least three different ones.
    """

    corpus: EverydayConfig = field(default_factory=EverydayConfig)
    corpus_seed: int = 0
    window: Window = field(default_factory=lambda: Window(radius=2))
    glove: GloveConfig = field(default_factory=lambda: GloveConfig(dimension=8, steps=1000))
    added: float = 0.0
    added_to: Literal["all", "seen"] = "all"
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        """Refuse what cannot be run or shows too little."""
        if isinstance(self.added, bool) or not isinstance(self.added, Real):
            raise TypeError(f"added must be a number, got {self.added!r}")
        if not (isfinite(self.added) and self.added >= 0):
            raise ValueError(f"added must be finite and not negative, got {self.added}")
        if self.added_to not in ("all", "seen"):
            raise ValueError(f"added_to must be 'all' or 'seen', got {self.added_to!r}")
        if len(set(self.seeds)) != len(self.seeds) or len(self.seeds) < 3:
            raise ValueError(f"seeds must be at least three different ones, got {self.seeds}")


def counts_of(config: GloveNeighboursConfig) -> Cooccurrence:
    """Return the co-occurrence counts of the configured corpus, before anything is added.

    Example:
        >>> counts_of(GloveNeighboursConfig(corpus=EverydayConfig(count=20))).matrix.shape
        (74, 74)
    """
    corpus = sentences(config.corpus, np.random.default_rng(config.corpus_seed))
    return count_pairs(corpus, config.window, VOCABULARY)


@memoised
def run(config: GloveNeighboursConfig) -> Record:
    """Train GloVe once per seed on the same counts.

    Args:
        config: corpus, window, GloVe and seeds.

    Returns:
        A record of identity `trained` with, per seed, `losses` (steps + 1 values of J, from the start) and
        `vectors` (74 x d, w + c, rows in the order of `everyday.VOCABULARY`).
    """
    counts = counts_of(config).matrix
    fitted = counts + config.added * ((counts > 0) if config.added_to == "seen" else 1.0)
    runs = [train(fitted, config.glove, np.random.default_rng(s)) for s in config.seeds]
    return Record(
        name="glove-neighbours",
        identity="trained",
        config=asdict(config),
        seeds=config.seeds,
        metrics={
            "losses": [one.losses.tolist() for one in runs],
            "vectors": [one.vectors.tolist() for one in runs],
        },
        data_hash=hashlib.sha256(counts.tobytes()).hexdigest()[:16],
        versions=versions_of("numpy"),
    )
