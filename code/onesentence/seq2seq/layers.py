"""What recurrent translators are made of: recurrent layers under one face, an output that bars symbols, their sizes.

Symbols: `B` batch, `T` target length, `H` state width, `V` target vocabulary. A state is a tuple of tensors (B, H), h
first, with an LSTM then its cell. Sections 2.3 and 2.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

import torch
from torch import Tensor, nn

from onesentence.checks import checked_choice, checked_integer
from onesentence.text.vocabulary import BOS, PAD, UNK, Vocabulary

CellKind = Literal["rnn", "gru", "lstm"]
States: TypeAlias = tuple[Tensor, ...]
"""A state: tensors (B, H), the hidden state first."""

_LAYERS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


@dataclass(frozen=True)
class RecurrentConfig:
    """Sizes of a translator of recurrent layers; each translator adds what is its own.

    Attributes:
        source_size: number of source symbols.
        target_size: V, number of target symbols, PAD, BOS and EOS among them where there are such.
        embedding: width of source and target embeddings.
        hidden: H, width of a state.
        cell: recurrent layer of encoder and decoder.
        barred: target ids that are never predicted.
        forget_bias: what an LSTM's forget gates start with; None leaves them as PyTorch draws them.
    """

    source_size: int
    target_size: int
    embedding: int = 64
    hidden: int = 64
    cell: CellKind = "lstm"
    barred: tuple[int, ...] = ()
    forget_bias: float | None = None

    def __post_init__(self) -> None:
        for name in ("source_size", "target_size", "embedding", "hidden"):
            checked_integer(name, getattr(self, name), 1)
        checked_choice("cell", self.cell, get_args(CellKind))
        if self.forget_bias is not None and self.cell != "lstm":
            raise ValueError(f"forget_bias: only an lstm has a forget gate, got one for {self.cell!r}")
        if self.forget_bias is not None and not math.isfinite(self.forget_bias):
            raise ValueError(f"forget_bias: expected a finite number, got {self.forget_bias}")
        if len({i for i in self.barred if 0 <= i < self.target_size}) != len(self.barred):
            raise ValueError(f"barred: expected different ids below {self.target_size}, got {self.barred}")
        if len(self.barred) == self.target_size:
            raise ValueError("barred: at least one symbol must be left to predict, got none")

    @classmethod
    def over(cls, source: Vocabulary, target: Vocabulary, *, width: int, **design: Any) -> Self:
        """Return the sizes of a translator between two vocabularies that writes neither PAD nor BOS nor UNK.

        Args:
            source: of the sources.
            target: of the targets, with these special symbols.
            width: of embeddings and states.
            design: further attributes.

        Example:
            >>> words = Vocabulary.from_words(["I", "go"], specials=[PAD, BOS, UNK])
            >>> RecurrentConfig.over(words, words, width=8).barred
            (0, 1, 2)
        """
        barred = tuple(target.id(symbol) for symbol in (PAD, BOS, UNK))
        return cls(len(source), len(target), embedding=width, hidden=width, barred=barred, **design)


def recurrent_layer(
    cell: CellKind, *, inputs: int, hidden: int, forget_bias: float | None = None
) -> nn.RNNBase:
    """Return one layer in one direction, batch first.

    Args:
        cell: `rnn` (tanh), `gru` or `lstm`.
        inputs: width of an input.
        hidden: H.
        forget_bias: what an LSTM's forget gates start with, the sum of PyTorch's two biases; None leaves them as drawn.

    Raises:
        ValueError: if there is no such cell, or it has no forget gate.
    """
    checked_choice("cell", cell, tuple(_LAYERS))
    layer = _LAYERS[cell](inputs, hidden, batch_first=True)
    if forget_bias is not None:
        if cell != "lstm":
            raise ValueError(f"forget_bias: only an lstm has a forget gate, got one for {cell!r}")
        with torch.no_grad():
            for name, value in (("bias_ih_l0", forget_bias), ("bias_hh_l0", 0.0)):
                getattr(layer, name)[hidden : 2 * hidden] = value  # gates stand in the order i, f, g, o
    return layer


def parts_of(cell: CellKind) -> int:
    """Return how many tensors a state of this cell has.

    Example:
        >>> parts_of("lstm"), parts_of("gru")
        (2, 1)
    """
    return 2 if cell == "lstm" else 1


def run_layer(layer: nn.RNNBase, x: Tensor, state: States) -> tuple[Tensor, States]:
    """Step a layer through a sequence.

    Args:
        layer: of `recurrent_layer`.
        x: inputs, (B, T, width).
        state: the state before the first input.

    Returns:
        The hidden states after each input, (B, T, H), and the state after the last.
    """
    many = tuple(part[None] for part in state)  # torch has a leading axis for layers
    out, last = layer(x, many if isinstance(layer, nn.LSTM) else many[0])
    return out, tuple(part[0] for part in (last if isinstance(last, tuple) else (last,)))


class Output(nn.Module):
    """Logits W_y s + b_y over the target vocabulary; symbols that are never predicted get -inf.

    Args:
        hidden: H.
        vocabulary: V.
        barred: ids that are inputs or filling only, such as BOS and PAD.
    """

    may_come: Tensor

    def __init__(self, *, hidden: int, vocabulary: int, barred: Sequence[int]) -> None:
        super().__init__()
        self.linear = nn.Linear(hidden, vocabulary)
        may_come = torch.ones(vocabulary, dtype=torch.bool)
        may_come[list(barred)] = False
        self.register_buffer("may_come", may_come)

    def forward(self, s: Tensor) -> Tensor:
        """Return logits (..., V) of hidden states (..., H)."""
        logits: Tensor = self.linear(s)
        return logits.masked_fill(self.may_come.logical_not(), float("-inf"))
