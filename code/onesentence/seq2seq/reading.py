"""A translator whose decoder reads the source states again at each step, in PyTorch.

    s_0 = g(c_src),  s_i = f(E_y[y_{i-1}], s_{i-1})      as in `fixed_summary` with the interface `initial`
    e_ij = s_i . W_a h_j                general          or  v . tanh(W_q s_i + W_k h_j)      additive
    alpha_ij = softmax_j(e_ij)          over the source positions that may be read
    c_i = sum_j alpha_ij h_j
    p(y_i | y_<i, x) = softmax(W_y tanh(W_c [s_i; c_i]) + b_y)

The decoder has read y_{i-1} before it asks: s_i is the query of the step that predicts y_i, and what was read goes to
the output and not into the next state. That is Luong, Pham and Manning 2015 (arXiv:1508.04025), section 3, equations
5 to 7, without their input feeding; a whole teacher-forced target is then one call of the recurrent layer. Bahdanau,
Cho and Bengio 2014 (arXiv:1409.0473), section 3.1, read with s_{i-1} before y_{i-1} is read and feed c_i into f.

Symbols: `B` batch, `S` source, `T` target length, `H` width of decoder states, `E` of source states (H, or 2H where the
encoder reads in both directions), `V` target vocabulary. Keys are projected source states, values the states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from onesentence.checks import checked_choice
from onesentence.seq2seq.checks import checked_mask
from onesentence.seq2seq.encoders import Encoder
from onesentence.seq2seq.layers import (
    Output,
    RecurrentConfig,
    States,
    parts_of,
    recurrent_layer,
    run_layer,
)
from onesentence.seq2seq.translator import Translator

Scorer = Literal["general", "additive"]


@dataclass(frozen=True)
class ReadingConfig(RecurrentConfig):
    """Sizes and design of a translator; `hidden` is the width of the additive scorer too.

    Attributes:
        scorer: how a query meets a key.
        two_way: whether the encoder reads in both directions, H wide each.
    """

    scorer: Scorer = "general"
    two_way: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_choice("scorer", self.scorer, get_args(Scorer))


@dataclass(frozen=True, eq=False)
class ReadingState:
    """What the decoder carries from step to step; only `parts` and `weights` change.

    Attributes:
        parts: s, one or two tensors (B, H).
        states: source states, the values, (B, S, E).
        keys: projected source states, (B, S, H).
        may_read: True where reading is allowed, (B, S).
        weights: alpha of the last step, (B, S); None before the first.
    """

    parts: States
    states: Tensor
    keys: Tensor
    may_read: Tensor
    weights: Tensor | None = None

    @property
    def rows(self) -> int:
        """B."""
        return len(self.may_read)


class Reading(Translator[ReadingConfig, ReadingState]):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.
        encoder: maps checked (source, mask) to `Encoded` with states E wide; None means recurrent layers.

    Example:
        >>> model = Reading.initial(ReadingConfig(5, 6, embedding=4, hidden=4), seed=0)
        >>> source, real = torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]])
        >>> weights = model.read_weights(source, real, torch.tensor([[0, 4]]))
        >>> tuple(weights.shape), weights.sum(dim=-1).round(decimals=4).tolist()
        ((1, 2, 3), [[1.0, 1.0]])
    """

    def __init__(self, config: ReadingConfig, encoder: nn.Module | None = None) -> None:
        super().__init__(config)
        width, H = config.embedding, config.hidden
        E = 2 * H if config.two_way else H
        if encoder is None:
            encoder = Encoder(
                vocabulary=config.source_size,
                embedding=width,
                hidden=H,
                cell=config.cell,
                two_way=config.two_way,
                forget_bias=config.forget_bias,
            )
        self.encoder = encoder
        self.embedding = nn.Embedding(config.target_size, width)
        self.bridge = nn.Linear(E, parts_of(config.cell) * H)  # g, before its tanh
        self.decoder = recurrent_layer(config.cell, inputs=width, hidden=H, forget_bias=config.forget_bias)
        self.key = nn.Linear(E, H, bias=False)  # W_a, or W_k
        additive = config.scorer == "additive"
        self.query = nn.Linear(H, H, bias=False) if additive else None  # W_q
        self.v = nn.Linear(H, 1, bias=False) if additive else None
        self.combine = nn.Linear(H + E, H, bias=False)  # W_c
        self.output = Output(hidden=H, vocabulary=config.target_size, barred=config.barred)

    def scores(self, s: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij, (B, T, S), of queries s (B, T, H) with keys (B, S, H)."""
        if self.query is None or self.v is None:
            return s @ keys.mT
        together: Tensor = self.v(torch.tanh(self.query(s)[:, :, None] + keys[:, None]))  # (B, T, S, 1)
        return together[..., 0]

    def first_state(self, source: Tensor, mask: Tensor, may_read: Tensor | None = None) -> ReadingState:
        """Read sources and return the state before BOS is read; see `Translator`.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S).
            may_read: positions that reading is restricted to, (B, S); the encoder and c_src are not touched by it.

        Raises:
            TypeError: if `may_read` is not boolean.
            ValueError: if its shape does not fit, or a sentence has no position left.
        """
        allowed = mask
        if may_read is not None:
            checked_mask("may_read", may_read, mask.shape, "may be read")
            allowed = mask & may_read
            if not bool(allowed.any(dim=1).all()):
                raise ValueError(
                    "may_read: every sentence needs a position that may be read, got one without"
                )
        encoded = self.encoder(source, mask)
        s0 = torch.tanh(self.bridge(encoded.summary))
        parts = torch.split(s0, self.config.hidden, dim=-1)
        return ReadingState(parts, encoded.states, self.key(encoded.states), allowed)

    def decode(self, inputs: Tensor, state: ReadingState) -> tuple[Tensor, ReadingState]:
        """Read target tokens and say after each what may come next; see `Translator`."""
        logits, _, after = self.read(inputs, state)
        return logits, after

    def read(self, inputs: Tensor, state: ReadingState) -> tuple[Tensor, Tensor, ReadingState]:
        """Read target tokens and after each the source.

        Args:
            inputs: ids, (B, T).
            state: as for `decode`.

        Returns:
            Logits (B, T, V), weights (B, T, S), and the state after the last token.
        """
        s, parts = run_layer(self.decoder, self.embedding(inputs), state.parts)  # s_i, (B, T, H)
        e = self.scores(s, state.keys).masked_fill(~state.may_read[:, None], float("-inf"))
        alpha = torch.softmax(e, dim=-1)  # over the source
        c = alpha @ state.states  # c_i, (B, T, E)
        logits = self.output(torch.tanh(self.combine(torch.cat([s, c], dim=-1))))
        return logits, alpha, replace(state, parts=parts, weights=alpha[:, -1])

    def run(
        self, source: Tensor, source_mask: Tensor, inputs: Tensor, may_read: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return logits (B, T, V) and weights (B, T, S) with the true history given.

        Args:
            source: ids, (B, S).
            source_mask: True at real units, (B, S).
            inputs: BOS and the target without EOS, (B, T), padding on the right.
            may_read: as for `first_state`.

        Raises:
            TypeError, ValueError: as `forward` and `first_state`.
        """
        real = self.checked(source, source_mask, inputs)
        logits, weights, _ = self.read(inputs, self.first_state(real, source_mask, may_read))
        return logits, weights

    @torch.no_grad()
    def read_weights(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return alpha, (B, T, S); arguments and errors as `run`. Rows of padded targets mean nothing."""
        return self.run(source, source_mask, inputs)[1]
