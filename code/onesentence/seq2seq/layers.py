"""What the translators are made of: recurrent layers under one face, an encoder, an output that bars symbols.

Symbols: `B` batch, `S` source length, `T` target length, `H` state width, `V` target vocabulary. A state is a tuple of
tensors (B, H), h first, with an LSTM then its cell. Masks are `True = a real token`.

The encoder reads padded sources as if each stood alone: real units are moved to the front, in their order, so nothing
padded comes before them, and c_src is taken after the last of them. A layer in one direction needs no more, and it is
three times as fast as `pack_padded_sequence`; one in two directions would need that. Sections 2.3 and 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

CellKind = Literal["rnn", "gru", "lstm"]
States: TypeAlias = tuple[Tensor, ...]
"""A state: tensors (B, H), the hidden state first."""

_LAYERS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


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
    if cell not in _LAYERS:
        raise ValueError(f"cell: expected one of {', '.join(_LAYERS)}, got {cell!r}")
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


@dataclass(frozen=True, eq=False)
class Encoded:
    """A batch of sources as the encoder has read it.

    Attributes:
        states: h after each unit, (B, S, H); 0 at padded positions.
        mask: True at real units, (B, S).
        summary: c_src, h after the last real unit, (B, H).
    """

    states: Tensor
    mask: Tensor
    summary: Tensor


class Encoder(nn.Module):
    """Embeddings and one recurrent layer over the source, left to right.

    Args:
        vocabulary: number of source symbols.
        embedding: width of an embedding.
        hidden: H.
        cell: which recurrent layer.
        forget_bias: as for `recurrent_layer`.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        embedding: int,
        hidden: int,
        cell: CellKind,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.layer = recurrent_layer(cell, inputs=embedding, hidden=hidden, forget_bias=forget_bias)

    def forward(self, ids: Tensor, mask: Tensor) -> Encoded:
        """Read a batch.

        Args:
            ids: integers, (B, S); not looked at where the mask is False.
            mask: True at real units, (B, S).

        Raises:
            TypeError: if `mask` is not boolean or `ids` not integer.
            ValueError: if a shape does not fit, a sentence has no unit, or an id lies outside the vocabulary.
        """
        real = _checked_source(ids, mask, self.embedding.num_embeddings)
        B = len(ids)
        order = torch.argsort(mask.logical_not(), dim=1, stable=True)  # real units first, in their order
        front, _ = self.layer(self.embedding(real.gather(1, order)))  # (B, S, H)
        summary = front[torch.arange(B), mask.sum(dim=1) - 1]
        states = torch.zeros_like(front).scatter(1, order[..., None].expand_as(front), front)
        return Encoded(states.masked_fill(mask.logical_not()[..., None], 0), mask, summary)


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


def checked_ids(name: str, ids: Tensor, ndim: int, vocabulary: int) -> None:
    """Refuse ids that are no integers, have other axes, or lie outside a vocabulary.

    Raises:
        TypeError: if they are not integers.
        ValueError: if they have another number of axes or lie outside.
    """
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got {ids.dtype}")
    if ids.ndim != ndim or 0 in ids.shape:
        raise ValueError(f"{name} must have {ndim} axes, none of them empty, got shape {tuple(ids.shape)}")
    if int(ids.min()) < 0 or int(ids.max()) >= vocabulary:
        wrong = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
        raise ValueError(f"{name} must lie in [0, {vocabulary}), got {wrong}")


def _checked_source(ids: Tensor, mask: Tensor, vocabulary: int) -> Tensor:
    """Return ids with 0 where nothing is real."""
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = a real unit), got {mask.dtype}")
    if mask.shape != ids.shape:
        raise ValueError(f"mask must have the shape of ids, {tuple(ids.shape)}, got {tuple(mask.shape)}")
    real = ids.masked_fill(mask.logical_not(), 0)
    checked_ids("ids", real, 2, vocabulary)
    if not bool(mask.any(dim=1).all()):
        raise ValueError("mask: every sentence needs at least one real unit, got one without")
    return real
