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

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from onesentence.numerics import FloatArray
from onesentence.seq2seq.layers import (
    CellKind,
    Encoded,
    Encoder,
    Output,
    States,
    checked_ids,
    parts_of,
    recurrent_layer,
    run_layer,
)
from onesentence.seq2seq.two_way import TwoWayEncoder

Scorer = Literal["general", "additive"]


@dataclass(frozen=True)
class ReadingConfig:
    """Sizes and design of a translator.

    Attributes:
        source_size: number of source symbols.
        target_size: V, number of target symbols, PAD, BOS and EOS among them where there are such.
        embedding: width of source and target embeddings.
        hidden: H; also the width of the additive scorer.
        cell: recurrent layer of encoder and decoder.
        scorer: how a query meets a key.
        two_way: whether the encoder reads in both directions, H wide each.
        barred: target ids that are never predicted.
        forget_bias: what an LSTM's forget gates start with; None leaves them as PyTorch draws them.
    """

    source_size: int
    target_size: int
    embedding: int = 64
    hidden: int = 64
    cell: CellKind = "lstm"
    scorer: Scorer = "general"
    two_way: bool = False
    barred: tuple[int, ...] = ()
    forget_bias: float | None = None

    def __post_init__(self) -> None:
        for name in ("source_size", "target_size", "embedding", "hidden"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(f"{name} must be an integer, got {size!r}")
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        if self.scorer not in get_args(Scorer):
            raise ValueError(f"scorer: expected one of {', '.join(get_args(Scorer))}, got {self.scorer!r}")
        if len({i for i in self.barred if 0 <= i < self.target_size}) != len(self.barred):
            raise ValueError(f"barred: expected different ids below {self.target_size}, got {self.barred}")
        if len(self.barred) == self.target_size:
            raise ValueError("barred: at least one symbol must be left to predict, got none")


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


class Reading(nn.Module):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> model = Reading.initial(ReadingConfig(5, 6, embedding=4, hidden=4), seed=0)
        >>> source, real = torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]])
        >>> weights = model.read_weights(source, real, torch.tensor([[0, 4]]))
        >>> tuple(weights.shape), weights.sum(dim=-1).round(decimals=4).tolist()
        ((1, 2, 3), [[1.0, 1.0]])
    """

    def __init__(self, config: ReadingConfig) -> None:
        super().__init__()
        self.config = config
        width, H = config.embedding, config.hidden
        E = 2 * H if config.two_way else H
        self.encoder = (TwoWayEncoder if config.two_way else Encoder)(
            vocabulary=config.source_size,
            embedding=width,
            hidden=H,
            cell=config.cell,
            forget_bias=config.forget_bias,
        )
        self.embedding = nn.Embedding(config.target_size, width)
        self.bridge = nn.Linear(E, parts_of(config.cell) * H)  # g, before its tanh
        self.decoder = recurrent_layer(config.cell, inputs=width, hidden=H, forget_bias=config.forget_bias)
        self.key = nn.Linear(E, H, bias=False)  # W_a, or W_k
        additive = config.scorer == "additive"
        self.query = nn.Linear(H, H, bias=False) if additive else None  # W_q
        self.v = nn.Linear(H, 1, bias=False) if additive else None
        self.combine = nn.Linear(H + E, H, bias=False)  # W_c
        self.output = Output(hidden=H, vocabulary=config.target_size, barred=config.barred)

    @classmethod
    def initial(cls, config: ReadingConfig, *, seed: int) -> Reading:
        """Draw the parameters as PyTorch's layers do by default; the global generator is left as it was.

        Args:
            config: sizes and design.
            seed: of the parameters.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config)

    def scores(self, s: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij, (B, T, S), of queries s (B, T, H) with keys (B, S, H)."""
        if self.query is None or self.v is None:
            return s @ keys.mT
        together: Tensor = self.v(torch.tanh(self.query(s)[:, :, None] + keys[:, None]))  # (B, T, S, 1)
        return together[..., 0]

    def first_state(self, encoded: Encoded, may_read: Tensor | None = None) -> ReadingState:
        """Return the state before BOS is read.

        Args:
            encoded: the sources as the encoder has read them.
            may_read: positions that reading is restricted to, (B, S); the encoder and c_src are not touched by it.

        Raises:
            ValueError: if a sentence has no position left.
        """
        s0 = torch.tanh(self.bridge(encoded.summary))
        allowed = encoded.mask if may_read is None else encoded.mask & may_read
        if not bool(allowed.any(dim=1).all()):
            raise ValueError("may_read: every sentence needs a position that may be read, got one without")
        parts = torch.split(s0, self.config.hidden, dim=-1)
        return ReadingState(parts, encoded.states, self.key(encoded.states), allowed)

    def decode(self, inputs: Tensor, state: ReadingState) -> tuple[Tensor, Tensor, ReadingState]:
        """Read target tokens, read the source after each, and say what may come next; T is 1 in generation.

        Args:
            inputs: ids, (B, T), the first of a sentence BOS.
            state: of `first_state`, or what an earlier call returned.

        Returns:
            Logits (B, T, V), weights (B, T, S), and the state after the last token.
        """
        s, parts = run_layer(self.decoder, self.embedding(inputs), state.parts)  # s_i, (B, T, H)
        e = self.scores(s, state.keys).masked_fill(~state.may_read[:, None], float("-inf"))
        alpha = torch.softmax(e, dim=-1)  # over the source
        c = alpha @ state.states  # c_i, (B, T, E)
        logits = self.output(torch.tanh(self.combine(torch.cat([s, c], dim=-1))))
        after = ReadingState(parts, state.states, state.keys, state.may_read, alpha[:, -1])
        return logits, alpha, after

    def run(
        self, source: Tensor, source_mask: Tensor, inputs: Tensor, may_read: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return logits (B, T, V) and weights (B, T, S) with the true history given: teacher forcing.

        Args:
            source: ids, (B, S).
            source_mask: True at real units, (B, S); padding may stand on either side.
            inputs: BOS and the target without EOS, (B, T), padding on the right.
            may_read: as for `first_state`.

        Raises:
            TypeError: if ids are not integers or a mask not boolean.
            ValueError: if a shape does not fit, an id lies outside its vocabulary, or nothing may be read.
        """
        checked_ids("inputs", inputs, 2, self.config.target_size)
        if len(inputs) != len(source):
            raise ValueError(f"inputs must have {len(source)} rows like source, got {len(inputs)}")
        if may_read is not None and may_read.dtype != torch.bool:
            raise TypeError(f"may_read must be boolean (True = may be read), got {may_read.dtype}")
        if may_read is not None and may_read.shape != source.shape:
            raise ValueError(
                f"may_read must have the shape of source, {tuple(source.shape)}, got {tuple(may_read.shape)}"
            )
        state = self.first_state(self.encoder(source, source_mask), may_read)
        logits, weights, _ = self.decode(inputs, state)
        return logits, weights

    def forward(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B, T, V); arguments and errors as `run`, whose weights are left out."""
        return self.run(source, source_mask, inputs)[0]

    @torch.no_grad()
    def read_weights(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return alpha, (B, T, S); arguments and errors as `run`. Rows of padded targets mean nothing."""
        return self.run(source, source_mask, inputs)[1]

    @torch.no_grad()
    def start(self, source: ArrayLike, mask: ArrayLike | None = None) -> ReadingState:
        """Read sources and return the state that generation starts with.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S); None: all are.

        Raises:
            TypeError, ValueError: as `run`.
        """
        ids = torch.from_numpy(np.asarray(source))
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else torch.from_numpy(np.array(mask))
        return self.first_state(self.encoder(ids, real))

    @torch.no_grad()
    def step(self, ids: ArrayLike, state: ReadingState) -> tuple[FloatArray, ReadingState]:
        """Read one token of each sentence and then the source.

        Args:
            ids: (B,).
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (B, V), and the state, whose `weights` are those of this step.

        Raises:
            TypeError, ValueError: if the ids are no integers, lie outside, or are not as many as the state's rows.
        """
        inputs = torch.from_numpy(np.asarray(ids))
        checked_ids("ids", inputs, 1, self.config.target_size)
        if len(inputs) != len(state.parts[0]):
            raise ValueError(f"ids must have {len(state.parts[0])} rows like the state, got {len(inputs)}")
        logits, _, state = self.decode(inputs[:, None], state)
        return logits[:, 0].numpy(), state
