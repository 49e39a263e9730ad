"""The networks in the comparison on held-out text: a window, an RNN, an LSTM, measured after every epoch.

All are trained by Adam on the same sentences. The window network reads three words and shuffles windows; the recurrent
ones read the sentence from BOS on, are trained by backpropagation through time (`RecurrentLM.gradients`), and shuffle
sentences. Their sizes give them about as many parameters as the window network has. Sections 1.6, 1.8, 2.1 and 2.2 of
the course.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from onesentence.embed.optim import Adam
from onesentence.embed.window import WindowLM
from onesentence.embed.window_train import fit
from onesentence.experiments.held_out_data import HeldOut, Texts
from onesentence.generate.shift import shifted_batch
from onesentence.recurrent.cell import Cell
from onesentence.recurrent.language_model import RecurrentLM
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN
from onesentence.text.vocabulary import BOS, EOS, Vocabulary

MEASURED = ("choose", "test", "unseen")


@dataclass
class Training:
    """How a training went.

    Attributes:
        size: number of parameters.
        curves: losses in nats per token after every epoch, by text.
    """

    size: int
    curves: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in MEASURED})

    @property
    def best(self) -> int:
        """The epoch that the choosing text prefers, counted from 0."""
        return int(np.argmin(self.curves["choose"]))


def train_window(config: HeldOut, texts: Texts, seed: int) -> Training:
    """Train the window network."""
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
        for name in ("train", *MEASURED)
    }
    network, optimiser = model.network, Adam(rate=config.rate)
    training = Training(network.size)
    for _ in range(config.epochs):
        network, _ = fit(
            network, *examples["train"], optimiser=optimiser, epochs=1, batch=config.batch, rng=rng
        )
        for name in MEASURED:
            training.curves[name].append(network.loss(*examples[name]))
    return training


def rnn_cell(config: HeldOut, rng: np.random.Generator) -> Cell:
    """Draw the cell of the RNN."""
    return RNN.initial(inputs=config.embedding, hidden=config.hidden, rng=rng)


def lstm_cell(config: HeldOut, rng: np.random.Generator) -> Cell:
    """Draw the cell of the LSTM."""
    return LSTM.initial(inputs=config.embedding, hidden=config.lstm_hidden, rng=rng)


CELLS: dict[str, Callable[[HeldOut, np.random.Generator], Cell]] = {"rnn": rnn_cell, "lstm": lstm_cell}


def train_recurrent(config: HeldOut, texts: Texts, seed: int, kind: str) -> Training:
    """Train a recurrent network.

    Args:
        config: what is compared.
        texts: of this seed.
        seed: with the kind, it gives the network and the order of the sentences.
        kind: one of `CELLS`.
    """
    vocabulary = Vocabulary.from_sentences(texts.train, specials=[BOS, EOS])
    bos, eos = (vocabulary.symbols.index(name) for name in (BOS, EOS))
    rng = np.random.default_rng([seed, 5 + list(CELLS).index(kind)])
    model = RecurrentLM.initial(CELLS[kind](config, rng), table=len(vocabulary.symbols), rng=rng, never=[bos])
    batches = {
        name: shifted_batch(
            [vocabulary.encode(words) for words in getattr(texts, name)],
            bos=bos,
            eos=eos,
            pad=len(vocabulary.symbols),  # no word's id: what stands there is not looked at
        )
        for name in ("train", *MEASURED)
    }
    parameters, optimiser = model.parameters(), Adam(rate=config.recurrent_rate)
    training = Training(sum(array.size for array in parameters.values()))
    ids, targets, real = batches["train"]
    for _ in range(config.epochs):
        order = rng.permutation(len(ids))
        for start in range(0, len(order), config.sentences):
            rows = order[start : start + config.sentences]
            steps = real[rows].any(axis=0)  # as long as the longest sentence of the batch
            part = np.ix_(rows, steps)
            found = model.gradients(ids[part], targets[part], real[part])
            count = real[part].sum()
            optimiser.step(parameters, {name: g / count for name, g in found.parameters.items()})
        for name in MEASURED:
            training.curves[name].append(model.loss(*batches[name]) / int(batches[name][2].sum()))
    return training


def train_networks(config: HeldOut, texts: Texts, seed: int) -> dict[str, Training]:
    """Train the networks of one seed."""
    return {
        kind: train_window(config, texts, seed)
        if kind == "window"
        else train_recurrent(config, texts, seed, kind)
        for kind in config.networks
    }
