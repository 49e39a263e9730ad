"""How far back an answer may stand: a key in a red or a blue box, and windows of several widths.

A story names the colour, wanders off for some clauses of five tokens, and asks again. Models with different windows
are trained on the same stories and asked for the colour at every distance. Section 1.6 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from onesentence.embed.optim import Adam
from onesentence.embed.window import WindowLM
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.vocabulary import BOS, EOS, Vocabulary
from onesentence.text.window_corpus import COLOURS, FILLERS, Sentence, key_story

WORDS = Vocabulary.from_sentences(
    [*FILLERS, *(key_story(colour, ()) for colour in COLOURS)], specials=[BOS, EOS], order="sorted"
)
"""Vocabulary of all stories."""


@dataclass(frozen=True)
class Distance:
    """What is trained.

    Attributes:
        windows: values of k.
        clauses: numbers of clauses between fact and question, in training and in the test.
        stories: training stories, colours in turn, numbers of clauses at random.
        asked: test stories per number of clauses and colour.
        embedding: d.
        hidden: H.
        epochs: passes over the stories.
        batch: windows per step.
        rate: of Adam.
        seeds: each draws stories and network.
    """

    windows: tuple[int, ...] = (4, 13, 23)
    clauses: tuple[int, ...] = (0, 1, 2, 3, 4)
    stories: int = 200
    asked: int = 8
    embedding: int = 8
    hidden: int = 16
    epochs: int = 8
    batch: int = 80
    rate: float = 0.01
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) < 1:
            raise ValueError(f"windows must be at least 1, got {self.windows}")
        if not self.clauses or min(self.clauses) < 0:
            raise ValueError(f"clauses must be at least 0, got {self.clauses}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


def fillers(count: int, rng: np.random.Generator) -> list[Sentence]:
    """Draw clauses that say nothing of the box.

    Args:
        count: how many.
        rng: source of all randomness.
    """
    return [FILLERS[int(i)] for i in rng.integers(len(FILLERS), size=count)]


def train(config: Distance, window: int, seed: int) -> WindowLM:
    """Train one model on stories that end with their colour.

    Args:
        config: what is trained.
        window: k.
        seed: of stories, network and shuffling.
    """
    text = np.random.default_rng([seed, 0])  # the same stories for every window
    stories = []
    for number in range(config.stories):
        colour = COLOURS[number % len(COLOURS)]
        between = fillers(int(text.choice(config.clauses)), text)
        stories.append(WORDS.encode((*key_story(colour, between), colour)))
    rng = np.random.default_rng([seed, 1])
    lm = WindowLM.initial(
        WORDS.symbols, window=window, embedding=config.embedding, hidden=config.hidden, rng=rng
    )
    return lm.trained(
        stories, optimiser=Adam(rate=config.rate), epochs=config.epochs, batch=config.batch, rng=rng
    )[0]


def right(lm: WindowLM, clauses: int, asked: int, rng: np.random.Generator) -> float:
    """Return the mean probability of the right colour over stories of both colours with the same clauses.

    Args:
        lm: a model of `train`.
        clauses: clauses between fact and question.
        asked: stories per colour.
        rng: draws the clauses.
    """
    total = 0.0
    for _ in range(asked):
        between = fillers(clauses, rng)
        for colour in COLOURS:
            total += lm.prob(WORDS.id(colour), WORDS.encode(key_story(colour, between)))
    return total / (asked * len(COLOURS))


@memoised
def run(config: Distance) -> Record:
    """Train every window with every seed and ask at every distance.

    Args:
        config: what is trained.

    Returns:
        Per seed: `right`, one row per window with one probability per number of clauses; `size`, parameters per
        window.
    """
    metrics: dict[str, list[list[float] | list[list[float]]]] = {"right": [], "size": []}
    for seed in config.seeds:
        models = [train(config, window, seed) for window in config.windows]
        rng = np.random.default_rng([seed, 2])
        rows = [[right(lm, n, config.asked, rng) for n in config.clauses] for lm in models]
        metrics["right"].append(rows)
        metrics["size"].append([float(lm.network.size) for lm in models])
    return Record(
        name="window_distance",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=dict(metrics),
        versions=versions_of("numpy"),
    )
