"""A translator whose decoder knows the source through one vector only, in PyTorch.

    c_src = h_n                                                 the encoder's state after the last unit
    initial:  s_0 = g(c_src),  s_i = f(E_y[y_{i-1}], s_{i-1})           the condition travels in the state
    inject:   s_0 = 0,         s_i = f([E_y[y_{i-1}]; c_src], s_{i-1})  the condition is read again at each step
    p(y_i | y_<i, x) = softmax(W_y s_i + b_y)

The two interfaces are two models and never one run. c_src is the condition, not an LSTM's cell; with an LSTM the
decoder's state s has a hidden and a cell part, both set by g. `g` is one affine map and a tanh.

Sections 2.3 to 2.5 of the course. An encoder's last state as the start of a decoder: Sutskever, Vinyals and Le 2014
(arXiv:1409.3215), section 2, who copy it and reverse the source; read again at each step: Cho et al. 2014
(arXiv:1406.1078), section 2.2, whose output sees c and y_{i-1} as well. Neither detail is here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from onesentence.checks import as_ids, checked_integer
from onesentence.numerics import FloatArray
from onesentence.seq2seq.layers import (
    CellKind,
    Encoder,
    Output,
    States,
    checked_ids,
    parts_of,
    recurrent_layer,
    run_layer,
)

Interface = Literal["initial", "inject"]


@dataclass(frozen=True)
class FixedSummaryConfig:
    """Sizes and design of a translator.

    Attributes:
        source_size: number of source symbols.
        target_size: V, number of target symbols, PAD, BOS and EOS among them where there are such.
        embedding: width of source and target embeddings.
        hidden: H, width of both states and of c_src.
        cell: recurrent layer of encoder and decoder.
        interface: how the decoder learns of the source.
        barred: target ids that are never predicted.
        forget_bias: what an LSTM's forget gates start with; None leaves them as PyTorch draws them.
    """

    source_size: int
    target_size: int
    embedding: int = 64
    hidden: int = 64
    cell: CellKind = "lstm"
    interface: Interface = "initial"
    barred: tuple[int, ...] = ()
    forget_bias: float | None = None

    def __post_init__(self) -> None:
        for name in ("source_size", "target_size", "embedding", "hidden"):
            checked_integer(name, getattr(self, name), 1)
        for name, value, known in (
            ("cell", self.cell, get_args(CellKind)),
            ("interface", self.interface, get_args(Interface)),
        ):
            if value not in known:
                raise ValueError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        if self.forget_bias is not None and self.cell != "lstm":
            raise ValueError(f"forget_bias: only an lstm has a forget gate, got one for {self.cell!r}")
        if self.forget_bias is not None and not math.isfinite(self.forget_bias):
            raise ValueError(f"forget_bias: expected a finite number, got {self.forget_bias}")
        if len({i for i in self.barred if 0 <= i < self.target_size}) != len(self.barred):
            raise ValueError(f"barred: expected different ids below {self.target_size}, got {self.barred}")
        if len(self.barred) == self.target_size:
            raise ValueError("barred: at least one symbol must be left to predict, got none")


@dataclass(frozen=True, eq=False)
class DecoderState:
    """What the decoder carries from step to step.

    Attributes:
        parts: s, one or two tensors (B, H).
        summary: c_src, (B, H), where it is read again at each step; None where it has gone into s_0.
    """

    parts: States
    summary: Tensor | None


class FixedSummary(nn.Module):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> model = FixedSummary.initial(FixedSummaryConfig(5, 6, embedding=4, hidden=4), seed=0)
        >>> logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]]), torch.tensor([[0, 4]]))
        >>> tuple(logits.shape)
        (1, 2, 6)
    """

    def __init__(self, config: FixedSummaryConfig) -> None:
        super().__init__()
        self.config = config
        width, H = config.embedding, config.hidden
        self.encoder = Encoder(
            vocabulary=config.source_size,
            embedding=width,
            hidden=H,
            cell=config.cell,
            forget_bias=config.forget_bias,
        )
        self.embedding = nn.Embedding(config.target_size, width)
        injected = config.interface == "inject"
        self.bridge = None if injected else nn.Linear(H, parts_of(config.cell) * H)  # g, before its tanh
        inputs = width + H if injected else width
        self.decoder = recurrent_layer(config.cell, inputs=inputs, hidden=H, forget_bias=config.forget_bias)
        self.output = Output(hidden=H, vocabulary=config.target_size, barred=config.barred)

    @classmethod
    def initial(cls, config: FixedSummaryConfig, *, seed: int) -> FixedSummary:
        """Draw the parameters as PyTorch's layers do by default; the global generator is left as it was.

        Args:
            config: sizes and design.
            seed: of the parameters.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config)

    def first_state(self, summary: Tensor) -> DecoderState:
        """Return the state before BOS is read.

        Args:
            summary: c_src, (B, H).
        """
        if self.bridge is None:
            zero = torch.zeros_like(summary)
            return DecoderState((zero,) * parts_of(self.config.cell), summary)
        s0 = torch.tanh(self.bridge(summary))
        return DecoderState(torch.split(s0, self.config.hidden, dim=-1), None)

    def decode(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read target tokens and say after each what may come next; T is 1 in generation.

        Args:
            inputs: ids, (B, T), the first of a sentence BOS.
            state: of `first_state`, or what an earlier call returned.

        Returns:
            Logits, (B, T, V), and the state after the last token.
        """
        x = self.embedding(inputs)  # (B, T, d)
        if state.summary is not None:
            again = state.summary[:, None].expand(-1, inputs.shape[1], -1)
            x = torch.cat([x, again], dim=-1)  # (B, T, d + H)
        s, parts = run_layer(self.decoder, x, state.parts)
        return self.output(s), DecoderState(parts, state.summary)

    def forward(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B, T, V) with the true history given: teacher forcing.

        Args:
            source: ids, (B, S).
            source_mask: True at real units, (B, S); padding may stand on either side.
            inputs: BOS and the target without EOS, (B, T), padding on the right. Logits at padded positions mean
                nothing and are for the loss to leave out.

        Raises:
            TypeError: if ids are not integers or the mask not boolean.
            ValueError: if a shape does not fit or an id lies outside its vocabulary.
        """
        checked_ids("inputs", inputs, 2, self.config.target_size)
        if len(inputs) != len(source):
            raise ValueError(f"inputs must have {len(source)} rows like source, got {len(inputs)}")
        logits, _ = self.decode(inputs, self.first_state(self.encoder(source, source_mask).summary))
        return logits

    @torch.no_grad()
    def start(self, source: ArrayLike, mask: ArrayLike | None = None) -> DecoderState:
        """Read sources and return the state that generation starts with.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S); None: all are.

        Raises:
            TypeError, ValueError: as `forward`.
        """
        ids = torch.from_numpy(as_ids("source", source))
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else torch.from_numpy(np.array(mask))
        return self.first_state(self.encoder(ids, real).summary)

    @torch.no_grad()
    def step(self, ids: ArrayLike, state: DecoderState) -> tuple[FloatArray, DecoderState]:
        """Read one token of each sentence, and nothing else but the state.

        Args:
            ids: (B,).
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (B, V), and the state.

        Raises:
            TypeError, ValueError: if the ids are no integers, lie outside, or are not as many as the state's rows.
        """
        inputs = torch.from_numpy(as_ids("ids", ids))
        checked_ids("ids", inputs, 1, self.config.target_size)
        if len(inputs) != len(state.parts[0]):
            raise ValueError(f"ids must have {len(state.parts[0])} rows like the state, got {len(inputs)}")
        logits, state = self.decode(inputs[:, None], state)
        return logits[:, 0].numpy(), state
