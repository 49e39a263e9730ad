"""Counts and a window network on the same held-out text: loss, an unseen pair of words, over-training.

Every seed draws its own texts from the grammar of giving, for training, for choosing and for testing; the pair
`gave you` never occurs in the first two. Count models are fitted on the training text, their free parameter is chosen
on the choosing text. The window network is trained for a fixed number of epochs and measured after each; the epoch is
chosen on the choosing text too. One model reads characters instead of words, so that losses per token and per
character can be told apart. BOS is never predicted, EOS always, and nothing is padded. Sections 1.6 to 1.8 and 1.13 of
the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from onesentence.embed.optim import Adam
from onesentence.embed.window import WindowLM
from onesentence.embed.window_train import fit
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.interpolation import Interpolated, fit_weights
from onesentence.text.kneser_ney import KneserNey, estimate_discount
from onesentence.text.language_model import ContextModel
from onesentence.text.ngram import AddAlpha, MaximumLikelihood
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, Vocabulary
from onesentence.text.window_corpus import Sentence, giving_sentences

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Pseudo-counts to choose from."""

LEAST = 1e-4
"""Weight of the uniform distribution in the interpolation, at least."""

WORD_MODELS = ("mle", "add_alpha", "interpolated", "kneser_ney", "window")
MODELS = (*WORD_MODELS, "characters")


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
        embedding: d of the network.
        hidden: H of the network.
        epochs: epochs of training.
        batch: windows per step.
        rate: of Adam.
        seeds: each draws texts and a network.
    """

    train: int = 400
    choose: int = 100
    test: int = 150
    pair: tuple[str, str] = ("gave", "you")
    order: int = 4
    characters: int = 7
    embedding: int = 8
    hidden: int = 16
    epochs: int = 24
    batch: int = 64
    rate: float = 0.01
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        for name in ("train", "choose", "test", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.order < 2:
            raise ValueError(f"order must be at least 2, so that a window has a word, got {self.order}")
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


def loss_per_token(model: ContextModel, sentences: Sequence[Sequence[str]]) -> float:
    """Return the mean negative log probability in nats per predicted token, EOS counted; `inf` where one is 0."""
    total = -sum(model.log_prob_sentence(words) for words in sentences)
    return total / sum(len(words) + 1 for words in sentences)


def characters_per_token(sentences: Sequence[Sentence]) -> float:
    """Return how many characters a predicted token stands for, the end of the sentence as one of both."""
    return sum(len(" ".join(words)) + 1 for words in sentences) / sum(len(words) + 1 for words in sentences)


def count_models(config: HeldOut, texts: Texts) -> dict[str, ContextModel]:
    """Fit the word models that count; parameters are chosen on the choosing text."""
    vocabulary = Vocabulary.from_sentences(texts.train, specials=[BOS, EOS])
    counts = NgramCounts.of(texts.train, config.order, vocabulary)
    smoothed = [AddAlpha(counts, alpha) for alpha in ALPHAS]
    return {
        "mle": MaximumLikelihood(counts),
        "add_alpha": min(smoothed, key=lambda model: loss_per_token(model, texts.choose)),
        "interpolated": Interpolated(counts, fit_weights(counts, texts.choose, least=LEAST).weights),
        "kneser_ney": KneserNey(counts, estimate_discount(counts)),
    }


def train_window(config: HeldOut, texts: Texts, seed: int) -> dict[str, list[float]]:
    """Train the network; return its losses per token after every epoch, by text."""
    vocabulary = Vocabulary.from_sentences(texts.train, specials=[BOS, EOS])
    rng = np.random.default_rng([seed, 4])
    model = WindowLM.initial(
        vocabulary.symbols,
        window=config.order - 1,
        embedding=config.embedding,
        hidden=config.hidden,
        rng=rng,
    )
    examples = {
        name: model.examples([vocabulary.encode(words).tolist() for words in getattr(texts, name)])
        for name in ("train", "choose", "test", "unseen")
    }
    network, optimiser = model.network, Adam(rate=config.rate)
    curves = {name: list[float]() for name in examples}
    for _ in range(config.epochs):
        network, _ = fit(
            network, *examples["train"], optimiser=optimiser, epochs=1, batch=config.batch, rng=rng
        )
        for name, (windows, targets) in examples.items():
            curves[name].append(network.loss(windows, targets))
    return curves


def _finite(loss: float) -> float | None:
    return loss if isfinite(loss) else None  # JSON has no infinity


@memoised
def run(config: HeldOut) -> Record:
    """Compare the models on every seed.

    Args:
        config: what is compared.

    Returns:
        Per seed: `test` and `unseen`, the loss in nats per token of each of `MODELS` (None where a sentence has
        probability 0); `per_character`, the test loss in nats per character; `best`, the network's epoch that was
        chosen; `curve_train`, `curve_choose`, `curve_test`, `curve_unseen`, its losses by epoch.
    """
    names = ("test", "unseen", "per_character", "best")
    metrics: dict[str, list[object]] = {name: [] for name in names}
    metrics |= {f"curve_{name}": [] for name in ("train", "choose", "test", "unseen")}
    for seed in config.seeds:
        texts = draw_texts(config, seed)
        models, curves = count_models(config, texts), train_window(config, texts, seed)
        letters = {name: as_characters(getattr(texts, name)) for name in ("train", "test", "unseen")}
        spelled = KneserNey(NgramCounts.of(letters["train"], config.characters), 0.75)
        best = int(np.argmin(curves["choose"]))
        for name in ("test", "unseen"):
            losses = [loss_per_token(model, getattr(texts, name)) for model in models.values()]
            losses += [curves[name][best], loss_per_token(spelled, letters[name])]
            metrics[name].append([_finite(loss) for loss in losses])
        metrics["per_character"].append(_per_character(metrics["test"][-1], characters_per_token(texts.test)))
        metrics["best"].append(best + 1)
        for name, curve in curves.items():
            metrics[f"curve_{name}"].append(curve)
    return Record(
        name="held_out_text",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=metrics,
        versions=versions_of("numpy"),
    )


def _per_character(losses: object, ratio: float) -> list[float | None]:
    """Turn losses per token into losses per character; the last model's tokens are characters already."""
    assert isinstance(losses, list)
    return [None if x is None else x / ratio for x in losses[:-1]] + [losses[-1]]


def by_model(record: Record, metric: str) -> Mapping[str, list[float]]:
    """Return a metric of a record as values per seed, by model; `inf` where a sentence has probability 0."""
    rows = record.metrics[metric]
    return {
        name: [inf if row[place] is None else row[place] for row in rows] for place, name in enumerate(MODELS)
    }
