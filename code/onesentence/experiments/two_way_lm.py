"""Predicting the next token while reading it: what a bidirectional language model is worth.

Texts are drawn so that the best possible loss is known. At every step each of V symbols and the end are equally
probable, so no model that sees only the past can expect less than ln(V + 1) nats a token, however it was trained. A
model that reads both ways finds the label of position t among its inputs, at position t + 1.

The same two models then do what going both ways is for: in a sentence that is given, fill in the measure word that a
later noun asks for. The noun is an input there, the label is not. Section 2.13 of the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onesentence.embed.optim import Adam
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.reader import Batch, Reader
from onesentence.experiments.seeds import over
from onesentence.numerics import softmax, token_losses
from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.size import parameter_count, widest
from onesentence.text.measure_words import CLASSES, WORDS, blank_sentences


@dataclass(frozen=True)
class TwoWay:
    """What is trained.

    Attributes:
        symbols: V, without BOS and the end.
        longest: positions after which a text is cut, at least 2.
        inputs: d.
        hidden: H of each direction of the model that reads both ways; the other is as wide as fits the same number
            of recurrent parameters.
        steps: of Adam, on random texts; each step has new ones.
        blank_steps: of Adam, on sentences with a blank.
        batch: sequences per step.
        rate: of Adam.
        held_out: sequences drawn apart from those of the steps; short ones occur in both.
        seeds: of parameters and data.
    """

    symbols: int = 4
    longest: int = 8
    inputs: int = 8
    hidden: int = 8
    steps: int = 140
    blank_steps: int = 40
    batch: int = 64
    rate: float = 0.02
    held_out: int = 300
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        for name in ("symbols", "longest", "inputs", "hidden", "steps", "blank_steps", "batch", "held_out"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.longest < 2:
            raise ValueError(f"longest must be at least 2, got {self.longest}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")

    @property
    def width(self) -> int:
        """H of the one-directional model."""
        budget = 2 * parameter_count("GRU", inputs=self.inputs, hidden=self.hidden)
        return widest("GRU", inputs=self.inputs, budget=budget)


def random_texts(config: TwoWay, count: int, rng: np.random.Generator) -> Batch:
    """Draw texts in which nothing but the end is to be known about the next token, and it only by luck.

    Args:
        config: symbols and the longest text.
        count: how many.
        rng: source of all randomness.

    Returns:
        Inputs BOS, x_1, x_2 ... and labels x_1, x_2 ... end: symbols are 0 to V - 1, V is the end as a label and BOS
        as an input. The last position of `longest` does not count: its label stands nowhere among the inputs, so a
        text that is cut there would look like one that has ended.

    Example:
        >>> batch = random_texts(TwoWay(symbols=2, longest=4), 1, np.random.default_rng(1))
        >>> batch.ids[batch.real].tolist(), batch.labels[batch.real].tolist()
        ([2, 1, 1], [1, 1, 2])
    """
    labels = rng.integers(config.symbols + 1, size=(count, config.longest))
    ended = labels == config.symbols
    real = ended.cumsum(axis=1) - ended == 0  # no end before
    start = np.full((count, 1), config.symbols)
    counted = real & (np.arange(config.longest) < config.longest - 1)
    return Batch(np.concatenate([start, labels[:, :-1]], axis=1), labels, real, counted)


def _reader(config: TwoWay, both: bool, tokens: int, classes: int, rng: np.random.Generator) -> Reader:
    gru = partial(GRU.initial, inputs=config.inputs, rng=rng)
    recurrent: GRU | Bidirectional = gru(hidden=config.width)
    if both:
        recurrent = Bidirectional(gru(hidden=config.hidden), gru(hidden=config.hidden))
    return Reader.initial(recurrent, tokens=tokens, classes=classes, rng=rng)


def prefix_logits(model: Reader, batch: Batch) -> NDArray[np.floating]:
    """Return the scores that a model gives the next token when it is shown the prefix alone, as in generation.

    Args:
        model: a trained model.
        batch: texts.

    Returns:
        (B, T, V + 1); position t comes from a run over the inputs up to t.
    """
    T = batch.ids.shape[1]
    rows = [model.logits(batch.ids[:, :t], batch.real[:, :t])[:, -1] for t in range(1, T + 1)]
    return np.stack(rows, axis=1)


def _language_model(config: TwoWay, seed: int, both: bool) -> dict[str, float]:
    rng, data = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 0])
    held_out = random_texts(config, config.held_out, data)
    model = _reader(config, both, config.symbols + 1, config.symbols + 1, rng)
    batches = (random_texts(config, config.batch, data) for _ in range(config.steps))
    model.train(batches, Adam(rate=config.rate))
    kept, scores = held_out.counted, prefix_logits(model, held_out)
    alone = token_losses(scores, held_out.labels, kept)
    ends = (scores.argmax(axis=-1) == config.symbols)[kept]
    first = softmax(model.logits(held_out.ids[:1, :1], held_out.real[:1, :1])[0, 0])
    return {
        "whole": float(model.losses(held_out)[kept].mean()),
        "prefix": float(alone[kept].mean()),
        "ends": float(ends.mean()),
        "first_end": float(first[config.symbols]),
        "size": float(model.size),
    }


def _blanks(config: TwoWay, seed: int, both: bool, at: str) -> dict[str, float]:
    rng, data = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 2])

    def batches(count: int, times: int) -> Iterator[Batch]:
        for _ in range(times):
            ids, labels, real, blank = blank_sentences(count, data)
            last = np.zeros_like(real)
            last[np.arange(count), real.sum(axis=1) - 1] = True
            yield Batch(ids, labels, real, blank if at == "blank" else last)

    (held_out,) = batches(config.held_out, 1)
    model = _reader(config, both, len(WORDS), len(CLASSES), rng)
    model.train(batches(config.batch, config.blank_steps), Adam(rate=config.rate))
    logits, kept = model.logits(held_out.ids, held_out.real), held_out.counted
    losses = token_losses(logits, held_out.labels, kept)
    right = (logits.argmax(axis=-1) == held_out.labels)[kept]
    return {"loss": float(losses[kept].mean()), "right": float(right.mean())}


def _one_seed(config: TwoWay, seed: int) -> dict[str, float]:
    found = {}
    for name, both in (("one", False), ("two", True)):
        for key, value in _language_model(config, seed, both).items():
            found[f"{name}_{key}"] = value
    for name, both, at in (("one", False, "blank"), ("two", True, "blank"), ("late", False, "end")):
        for key, value in _blanks(config, seed, both, at).items():
            found[f"blank_{name}_{key}"] = value
    return found


@memoised
def run(config: TwoWay) -> Record:
    """Train both models on both tasks with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed one value. For `one_` (one direction) and `two_` (both) on held-out random texts: `whole`, mean loss
        in nats a token when the model is shown the whole text; `prefix`, when it is shown the prefix of each token
        alone; `ends`, share of prefixes after which the end is the most probable; `first_end`, probability of the end
        after BOS alone; `size`, learnt numbers. For measure words `loss` in nats and share `right`: `blank_one_` and
        `blank_two_` answer at the blank, `blank_late_` is one-directional and answers at the end of the sentence.
    """
    found = over(config.seeds, partial(_one_seed, config))
    return Record(
        name="two_way_lm",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics={key: [one[key] for one in found] for key in found[0]},
        versions=versions_of("numpy"),
    )
