"""Sizes and design of a decoder-only model.

Symbols: `V` vocabulary, `C` width (`d_model`), `H` query heads (`n_head`), `G` key heads (`n_kv_head`), `D` head size C / H,
`L` layers. Grouped queries: Ainslie et al. 2023 (arXiv:2305.13245), section 2.2; a window of the latest keys: Beltagy,
Peters and Cohan 2020 (arXiv:2004.05150), section 3.1, here looking back only. Sections 7.4 and 7.10 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from onesentence.attention.rotary import checked_pairs
from onesentence.checks import checked_choice, checked_integer, checked_number
from onesentence.transformer.config import Order

CausalPositions = Literal["rope", "none"]
"""What tells a position from another: queries and keys turned by it, or nothing but what the causal mask lets through."""


@dataclass(frozen=True)
class CausalConfig:
    """Sizes and design.

    Attributes:
        vocabulary: V, number of symbols, special ones among them.
        d_model: C, width of every position.
        n_head: H; D = C / H.
        n_kv_head: G, a divisor of H; H / G query heads read one key head. None means H.
        d_ff: width inside the feed-forward sublayer.
        layers: L, number of blocks.
        order: where blocks normalise.
        positions: what tells a position from another.
        rope_base: of the frequencies, larger than 1; not looked at without "rope".
        window: latest tokens that a query reads, itself among them; None means all.
        dropout: share of components of each sublayer's output, and of embeddings, zeroed in training.
        tied: whether the output matrix is the embedding table; otherwise it is a matrix of its own.

    Raises:
        TypeError: if a size is not an integer, `dropout` or `rope_base` no number or `tied` not boolean.
        ValueError: if a value is out of range, `d_model` no multiple of `n_head`, `n_head` none of `n_kv_head`, or D odd
            with "rope".
    """

    vocabulary: int
    d_model: int = 64
    n_head: int = 4
    n_kv_head: int | None = None
    d_ff: int = 256
    layers: int = 2
    order: Order = "pre"
    positions: CausalPositions = "rope"
    rope_base: float = 10000.0
    window: int | None = None
    dropout: float = 0.0
    tied: bool = True

    def __post_init__(self) -> None:
        for name in ("vocabulary", "d_model", "n_head", "d_ff", "layers"):
            checked_integer(name, getattr(self, name), 1)
        for name in ("n_kv_head", "window"):
            if getattr(self, name) is not None:
                checked_integer(name, getattr(self, name), 1)
        if self.d_model % self.n_head:
            raise ValueError(f"d_model must be a multiple of n_head = {self.n_head}, got {self.d_model}")
        if self.n_head % self.key_heads:
            raise ValueError(f"n_head must be a multiple of n_kv_head = {self.key_heads}, got {self.n_head}")
        checked_choice("order", self.order, get_args(Order))
        checked_choice("positions", self.positions, get_args(CausalPositions))
        if checked_number("rope_base", self.rope_base) <= 1:
            raise ValueError(f"rope_base must be larger than 1, got {self.rope_base}")
        if self.positions == "rope":
            checked_pairs(self.head_size)
        if not 0 <= checked_number("dropout", self.dropout) < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}")
        if not isinstance(self.tied, bool):
            raise TypeError(f"tied must be True or False, got {self.tied!r}")

    @property
    def key_heads(self) -> int:
        """G."""
        return self.n_head if self.n_kv_head is None else self.n_kv_head

    @property
    def head_size(self) -> int:
        """D."""
        return self.d_model // self.n_head
