"""What skip-gram learns from the everyday corpus, and what changes when one condition does.

Each variant changes one thing of the first one (`BASE`): the amount of text, the radius, the side, or whether
frequent words are thinned out. Objective, width, number of updates and seeds stay. Everything random of a run,
corpus, first values, order and noise, comes from its seed. Section 1.5 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from onesentence.embed.pairs import skip_gram_arrays
from onesentence.embed.sampling import subsample
from onesentence.embed.word2vec_train import TrainConfig, Vectors, initial_vectors, train
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.cooccurrence import Side
from onesentence.text.everyday import CLASS_OF, CLASSES, VOCABULARY, EverydayConfig, sentences
from onesentence.text.neighbours import analogy, cosines, same_class_share
from onesentence.text.vocabulary import Vocabulary

UNSCORED = ("particles", "measures")
"""Classes whose words are not interchangeable, so that being neighbours would say nothing."""

NOUNS = ("readables", "foods", "drinks", "tools")
VERBS = ("reading", "eating", "drinking", "using")


@dataclass(frozen=True)
class Variant:
    """One condition.

    Attributes:
        count: sentences of the corpus.
        radius: reach of a window.
        side: side of the centre that is used.
        threshold: t of subsampling; None keeps every occurrence.
    """

    count: int = 2000
    radius: int = 2
    side: Side = "both"
    threshold: float | None = None


BASE = Variant()


@dataclass(frozen=True)
class WordVectorsConfig:
    """What to run.

    Attributes:
        variant: the condition.
        training: how to train.
        seeds: one run each.
    """

    variant: Variant = BASE
    training: TrainConfig = field(default_factory=TrainConfig)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError("seeds must hold at least one seed, got none")


@memoised
def run(config: WordVectorsConfig) -> Record:
    """Train once per seed and measure neighbours before and after.

    Args:
        config: the condition, how to train, the seeds.

    Returns:
        Per seed: `loss` (one value per update), `examples`, `before` and `after` (same-class share of the
        two nearest neighbours), `nouns` and `verbs` (mean cosine between words of different classes of
        objects, of verbs for them), `analogies` (see `analogy_scores`), `centre` and `context` (V, d).

    Example:
        >>> small = WordVectorsConfig(Variant(count=20), TrainConfig(width=4, updates=3), seeds=(0,))
        >>> sorted(run.__wrapped__(small).metrics)
        ['after', 'analogies', 'before', 'centre', 'context', 'examples', 'loss', 'nouns', 'verbs']
    """
    rows = [_run_once(config, seed) for seed in config.seeds]
    return Record(
        name="word_vectors",
        identity="trained",
        config={"variant": vars(config.variant), "training": vars(config.training)},
        seeds=config.seeds,
        metrics={name: [row[name] for row in rows] for name in rows[0]},
        versions=versions_of("numpy"),
    )


def same_class(vectors: np.ndarray) -> float:
    """Share of the two nearest neighbours that are of the word's own class, without the unscored classes.

    Args:
        vectors: (V, d), one row per word of `VOCABULARY`.

    Example:
        >>> same_class(np.ones((len(VOCABULARY), 2)) + np.eye(len(VOCABULARY), 2)) < 0.2
        True
    """
    return same_class_share(vectors, VOCABULARY, CLASSES, 2, unscored=UNSCORED)


def between_classes(vectors: np.ndarray, classes: tuple[str, ...]) -> float:
    """Mean cosine between words of different ones of the given classes.

    Args:
        vectors: (V, d), one row per word of `VOCABULARY`.
        classes: names of at least two classes.

    Example:
        >>> between_classes(np.ones((len(VOCABULARY), 2)), ("foods", "tools")).__round__(6)
        1.0
    """
    names = np.array([CLASS_OF[word] for word in VOCABULARY])
    inside = np.isin(names, classes)
    apart = inside[:, None] & inside & (names[:, None] != names)
    return float(cosines(vectors)[apart].mean())


def analogy_scores(vectors: np.ndarray) -> tuple[float, float, float]:
    """Ask "verb is to its object as other verb is to ..." over all pairs of classes, frequent words first.

    Args:
        vectors: (V, d), one row per word of `VOCABULARY`.

    Returns:
        Share of answers that are objects of the other verb; the same where the three words of the question
        may be the answer too; share of answers (words of the question excluded) of the given object's class.

    Example:
        >>> analogy_scores(np.eye(len(VOCABULARY)))[1]
        0.0
    """

    def class_of_answer(question: tuple[str, str, str], *, leave_out: bool) -> str:
        (answer, _), *_ = analogy(vectors, VOCABULARY, question, leave_out=leave_out, unit=False)
        return CLASS_OF[answer]

    hits = []
    for i, j in ((i, j) for i in range(len(VERBS)) for j in range(len(VERBS)) if i != j):
        for verb, noun, other in zip(CLASSES[VERBS[i]], CLASSES[NOUNS[i]], CLASSES[VERBS[j]], strict=False):
            usual = class_of_answer((verb, noun, other), leave_out=True)
            free = class_of_answer((verb, noun, other), leave_out=False)
            hits.append((usual == NOUNS[j], free == NOUNS[j], usual == NOUNS[i]))
    right, without_exclusion, stayed = np.mean(hits, axis=0)
    return float(right), float(without_exclusion), float(stayed)


def _run_once(config: WordVectorsConfig, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    variant, size = config.variant, len(VOCABULARY)
    encode = Vocabulary.from_words(VOCABULARY).encode
    corpus = sentences(EverydayConfig(count=variant.count), rng)
    ids = tuple(tuple(encode(words).tolist()) for words in corpus)
    if variant.threshold is not None:
        ids = subsample(ids, size, variant.threshold, rng)
    inputs, outputs = skip_gram_arrays(ids, variant.radius, variant.side)
    start = initial_vectors(size, config.training.width, rng)
    end: Vectors = train(inputs, outputs, start, config.training, rng)
    return {
        "loss": end.losses,
        "examples": len(outputs),
        "before": same_class(start.centre),
        "after": same_class(end.centre),
        "nouns": between_classes(end.centre, NOUNS),
        "verbs": between_classes(end.centre, VERBS),
        "analogies": list(analogy_scores(end.centre)),
        "centre": end.centre.round(6).tolist(),
        "context": end.context.round(6).tolist(),
    }
