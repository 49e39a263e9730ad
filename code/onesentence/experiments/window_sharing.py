"""What a fixed-window model makes of a pair of words that it never met together.

The corpus of giving holds out one pair of verb and recipient, `gave him`. The verb alone decides how likely each noun
is. So the grammar's p(book | gave him a) is known although no training sentence contains the words, and a model can
be compared with it: the same training text, several sizes of it, several seeds for the text and the network at once.
Section 1.6 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from onesentence.embed.optim import Adam
from onesentence.embed.window import WindowLM
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.vocabulary import BOS, EOS, Vocabulary
from onesentence.text.window_corpus import (
    NOUNS,
    RECIPIENTS,
    SUBJECTS,
    VERBS,
    Sentence,
    giving_sentences,
)

STRANGER = "it"
"""A word of the vocabulary that no training sentence has: its row of E keeps the numbers that it was drawn with."""

_WORDS = Vocabulary.from_sentences(
    [SUBJECTS, VERBS, tuple(RECIPIENTS), NOUNS, ("a", "yesterday", "today", ".", STRANGER)],
    specials=[BOS, EOS],
    order="sorted",
)


@dataclass(frozen=True)
class Sharing:
    """What is trained.

    Attributes:
        held_out: the pair of verb and recipient that no training sentence has.
        sizes: numbers of training sentences.
        window: k.
        embedding: d.
        hidden: H.
        steps: about how many steps of Adam, the same for every size.
        batch: windows per step.
        rate: of Adam.
        seeds: each draws a text and a network.
    """

    held_out: tuple[str, str] = ("gave", "him")
    sizes: tuple[int, ...] = (25, 200, 1600)
    window: int = 3
    embedding: int = 8
    hidden: int = 16
    steps: int = 500
    batch: int = 64
    rate: float = 0.01
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(f"sizes must be numbers of sentences from 1 up, got {self.sizes}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


def corpus(config: Sharing, size: int, seed: int) -> tuple[Sentence, ...]:
    """Return the training sentences of one size and seed; a smaller size is the beginning of a larger.

    Args:
        config: what is trained.
        size: how many sentences.
        seed: of the text.
    """
    return giving_sentences(size, np.random.default_rng([seed, 0]), held_out=[config.held_out])


def train(config: Sharing, size: int, seed: int) -> WindowLM:
    """Train one model.

    Args:
        config: what is trained.
        size: how many sentences.
        seed: of text, network and shuffling.
    """
    rng = np.random.default_rng([seed, 1])
    lm = WindowLM.initial(
        _WORDS.symbols, window=config.window, embedding=config.embedding, hidden=config.hidden, rng=rng
    )
    sentences = [_WORDS.encode(words) for words in corpus(config, size, seed)]
    windows = sum(len(s) + 1 for s in sentences)
    epochs = max(1, round(config.steps / np.ceil(windows / config.batch)))
    return lm.trained(
        sentences, optimiser=Adam(rate=config.rate), epochs=epochs, batch=config.batch, rng=rng
    )[0]


def probability(lm: WindowLM, word: str, context: str) -> float:
    """Return a trained model's probability of a word after a context.

    Args:
        lm: a model of `train`.
        word: the word.
        context: words with spaces between.

    Raises:
        ValueError: for a word outside the corpus.
    """
    return lm.prob(_WORDS.id(word), _WORDS.encode(context.split()))


def _hidden_distance(lm: WindowLM, one: str, other: str) -> float:
    windows = [lm.window_of(_WORDS.encode(context.split())) for context in (one, other)]
    h = lm.network.forward(windows).h
    return float(np.linalg.norm(h[0] - h[1]))


@memoised
def run(config: Sharing) -> Record:
    """Train every size with every seed and ask for what was held out and for what was not.

    Args:
        config: what is trained.

    Returns:
        Per seed a list with one value per size. For the verb's own noun: `seen` = p(noun | verb her a), `held_out` =
        p(noun | verb recipient a), `stranger` = p(noun | verb it a), `strange_verb` = p(noun | it recipient a). Two
        tokens earlier: `pair` = p(recipient | I verb), `frequent` = p(her | I verb). Distances of the hidden layer
        from that of verb her a: `near` for verb recipient a, `far` for another verb, her a.
    """
    verb, recipient = config.held_out
    noun = NOUNS[VERBS.index(verb)]
    asked = {
        "seen": (noun, f"{verb} her a"),
        "held_out": (noun, f"{verb} {recipient} a"),
        "stranger": (noun, f"{verb} {STRANGER} a"),
        "strange_verb": (noun, f"{STRANGER} {recipient} a"),
        "pair": (recipient, f"I {verb}"),
        "frequent": ("her", f"I {verb}"),
    }
    anchor, other = f"{verb} her a", next(v for v in VERBS if v != verb)
    hidden = {"near": f"{verb} {recipient} a", "far": f"{other} her a"}
    metrics: dict[str, list[list[float]]] = {name: [] for name in (*asked, *hidden)}
    for seed in config.seeds:
        models = [train(config, size, seed) for size in config.sizes]
        for name, (word, context) in asked.items():
            metrics[name].append([probability(lm, word, context) for lm in models])
        for name, context in hidden.items():
            metrics[name].append([_hidden_distance(lm, anchor, context) for lm in models])
    return Record(
        name="window_sharing",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=dict(metrics),
        versions=versions_of("numpy"),
    )
