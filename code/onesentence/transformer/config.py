"""Sizes and design of a Transformer, for encoder, decoder and translator alike.

Symbols: `C` width (`d_model`), `H` heads (`n_head`), `D` head size C / H, `V` vocabulary. Vaswani et al. 2017
(arXiv:1706.03762), section 3 and Table 3, row base; section 4.11 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from onesentence.checks import checked_integer, checked_number

Order = Literal["post", "pre"]
"""Where a block normalises: after adding, LN(x + f(x)), or before the sublayer, x + f(LN(x))."""

Positions = Literal["sinusoidal", "learned", "none"]


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and design.

    Attributes:
        source_size: number of source symbols.
        target_size: V, number of target symbols, PAD, BOS and EOS among them where there are such.
        d_model: C, width of every position.
        n_head: H; D = C / H.
        d_ff: width inside the feed-forward sublayer.
        encoder_layers, decoder_layers: numbers of blocks.
        order: where blocks normalise.
        positions: what tells a position from another.
        longest: positions that `learned` has; sinusoidal ones have no end.
        dropout: share of components of each sublayer's output, and of embedding plus position, zeroed in training.
        cross: whether decoder blocks read the source; without it the model knows nothing of the source.
        barred: target ids that are never predicted.

    Raises:
        TypeError: if a size or id is not an integer, `dropout` no number or `cross` not boolean.
        ValueError: if a value is out of range, `d_model` no multiple of `n_head`, or nothing is left to predict.
    """

    source_size: int
    target_size: int
    d_model: int = 64
    n_head: int = 4
    d_ff: int = 256
    encoder_layers: int = 2
    decoder_layers: int = 2
    order: Order = "post"
    positions: Positions = "sinusoidal"
    longest: int = 64
    dropout: float = 0.0
    cross: bool = True
    barred: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        names = ("source_size", "target_size", "d_model", "n_head", "d_ff", "longest")
        for name in (*names, "encoder_layers", "decoder_layers"):
            checked_integer(name, getattr(self, name), 1)
        if self.d_model % self.n_head:
            raise ValueError(f"d_model must be a multiple of n_head = {self.n_head}, got {self.d_model}")
        for name, value, known in (
            ("order", self.order, get_args(Order)),
            ("positions", self.positions, get_args(Positions)),
        ):
            if value not in known:
                raise ValueError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        if not isinstance(self.cross, bool):
            raise TypeError(f"cross must be True or False, got {self.cross!r}")
        if not 0 <= checked_number("dropout", self.dropout) < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}")
        different = {i for i in self.barred if checked_integer("barred", i, 0) < self.target_size}
        if len(different) != len(self.barred) or len(different) == self.target_size:
            expected = f"different ids below {self.target_size}, and not all of them"
            raise ValueError(f"barred: expected {expected}, got {self.barred}")
        if len(self.barred) == self.target_size:
            raise ValueError("barred: at least one symbol must be left to predict, got none")


BASE = TransformerConfig(
    source_size=37000,
    target_size=37000,
    d_model=512,
    n_head=8,
    d_ff=2048,
    encoder_layers=6,
    decoder_layers=6,
    dropout=0.1,
)
"""The base model of 2017; its vocabulary of about 37000 is shared by both sides, Vaswani et al., sections 5.1 and 3.4."""
