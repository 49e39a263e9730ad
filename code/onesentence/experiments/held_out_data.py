"""The texts of the comparison on held-out text, and what it compares.

Every seed draws its own texts from the grammar of giving, for training, for choosing and for testing; the pair
`gave you` never occurs in these three. A further test text, `unseen`, has it in every sentence. Sections 1.6 to 1.8 of
the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from onesentence.text.window_corpus import Sentence, giving_sentences

NETWORKS = ("window", "rnn", "lstm")


@dataclass(frozen=True)
class HeldOut:
    """What is compared.

    Attributes:
        train: training sentences.
        choose: sentences for choosing parameters and the epoch.
        test: test sentences.
        pair: the verb and recipient of the unseen sentences.
        order: n of the word models; the network's window is n - 1.
        characters: n of the character model.
        embedding: d of the networks.
        hidden: H of the window network and of the RNN.
        lstm_hidden: H of the LSTM, whose four blocks of weights would otherwise make it twice as large.
        epochs: epochs of training.
        batch: windows per step.
        sentences: sentences per step of the recurrent networks; 16 have about twice as many tokens as a batch of
            windows, hence their rate.
        rate: of Adam for the window network.
        recurrent_rate: of Adam for the recurrent ones.
        networks: those that are trained, in this order.
        seeds: each draws texts and networks.
    """

    train: int = 400
    choose: int = 100
    test: int = 150
    pair: tuple[str, str] = ("gave", "you")
    order: int = 4
    characters: int = 7
    embedding: int = 8
    hidden: int = 16
    lstm_hidden: int = 8
    epochs: int = 24
    batch: int = 64
    sentences: int = 16
    rate: float = 0.01
    recurrent_rate: float = 0.02
    networks: tuple[str, ...] = NETWORKS
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        for name in ("train", "choose", "test", "epochs", "batch", "sentences"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.order < 2:
            raise ValueError(f"order must be at least 2, so that a window has a word, got {self.order}")
        if not self.networks or not set(self.networks) <= set(NETWORKS):
            raise ValueError(f"networks must name some of {NETWORKS}, got {self.networks}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


@dataclass(frozen=True)
class Texts:
    """The texts of one seed; `unseen` are the sentences with the pair, drawn like the test text."""

    train: tuple[Sentence, ...]
    choose: tuple[Sentence, ...]
    test: tuple[Sentence, ...]
    unseen: tuple[Sentence, ...]


def draw_texts(config: HeldOut, seed: int) -> Texts:
    """Draw the texts of one seed."""
    train, choose, test = (
        giving_sentences(count, np.random.default_rng([seed, part]), held_out=[config.pair])
        for part, count in enumerate((config.train, config.choose, config.test))
    )
    whole = giving_sentences(120 * config.test, np.random.default_rng([seed, 3]))
    unseen = [words for words in whole if config.pair in pairwise(words)]
    return Texts(train, choose, test, tuple(unseen[: config.test]))


def as_characters(sentences: Sequence[Sentence]) -> tuple[tuple[str, ...], ...]:
    """Return sentences as characters, a space between words."""
    return tuple(tuple(" ".join(words)) for words in sentences)


def characters_per_token(sentences: Sequence[Sentence]) -> float:
    """Return how many characters a predicted token stands for, the end of the sentence as one of both."""
    return sum(len(" ".join(words)) + 1 for words in sentences) / sum(len(words) + 1 for words in sentences)
