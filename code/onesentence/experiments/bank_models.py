"""Four networks that make a word's vector depend on its sentence, and read the sense of `bank` from it.

    h_t = f(x_1 ... x_n; t)        logits = W h_bank + b

    average     h_t = tanh(A x_t + B mean_s x_s)                        order of the words does not count
    window      h_t = tanh(A [x_{t-r}; ...; x_{t+r}])                   0 beyond the ends of the sentence
    recurrent   h_t = [f_t; b_t], an LSTM in each direction
    attention   one block of the Transformer's encoder: self-attention, FFN, residuals, norms, sinusoidal positions

All have a table of their own with one row per word, so both senses of `bank` start from one row. Symbols: `B` batch, `T`
length, `C` width. Section 4.2 of the course.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from onesentence.checks import checked_integer
from onesentence.seq2seq.encoders import SourceLayers
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.encoder import Encoder

Way = Literal["average", "window", "recurrent", "attention"]
WAYS: tuple[Way, ...] = get_args(Way)


class Average(nn.Module):
    """Each word together with the mean of its sentence."""

    def __init__(self, vocabulary: int, C: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, C)
        self.join = nn.Linear(2 * C, C)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (B, T, C); see `BankReader.states`."""
        x = self.table(ids) * mask[..., None]
        mean = x.sum(dim=1, keepdim=True) / mask.sum(dim=1)[:, None, None]
        return torch.tanh(self.join(torch.cat([x, mean.expand_as(x)], dim=-1)))


class Window(nn.Module):
    """Each word together with `radius` words on either side."""

    def __init__(self, vocabulary: int, C: int, radius: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, C)
        self.slide = nn.Conv1d(C, C, 2 * radius + 1, padding=radius)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (B, T, C); see `BankReader.states`."""
        x = self.table(ids) * mask[..., None]
        out: Tensor = torch.tanh(self.slide(x.mT).mT)
        return out


class Recurrent(nn.Module):
    """An LSTM from the left and one from the right, each half as wide."""

    def __init__(self, vocabulary: int, C: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, C)
        self.layers = SourceLayers(inputs=C, hidden=C // 2, cell="lstm", two_way=True)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (B, T, C); see `BankReader.states`."""
        states: Tensor = self.layers(self.table(ids), mask).states
        return states


class Attention(nn.Module):
    """One block of the Transformer's encoder with two heads."""

    def __init__(self, vocabulary: int, C: int) -> None:
        super().__init__()
        config = TransformerConfig(vocabulary, 2, d_model=C, n_head=2, d_ff=2 * C, encoder_layers=1)
        self.encoder = Encoder(config)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (B, T, C); see `BankReader.states`."""
        states: Tensor = self.encoder(ids, mask).states
        return states


class BankReader(nn.Module):
    """A contextualiser and two scores from the state at one place.

    Args:
        way: which network.
        vocabulary: number of words.
        C: width of rows and states, even.
        radius: of the window.

    Raises:
        TypeError: if a size is no integer.
        ValueError: if there is no such way, `C` is odd, or a size is less than 1.
    """

    def __init__(self, way: Way, vocabulary: int, C: int, radius: int) -> None:
        super().__init__()
        if way not in WAYS:
            raise ValueError(f"way must be one of {WAYS}, got {way!r}")
        for name, size in (("vocabulary", vocabulary), ("C", C), ("radius", radius)):
            checked_integer(name, size, 1)
        if C % 2:
            raise ValueError(f"C must be even, got {C}")
        self.context: nn.Module
        if way == "window":
            self.context = Window(vocabulary, C, radius)
        else:
            kinds = {"average": Average, "recurrent": Recurrent, "attention": Attention}
            self.context = kinds[way](vocabulary, C)
        self.head = nn.Linear(C, 2)

    @classmethod
    def initial(cls, way: Way, vocabulary: int, *, C: int, radius: int, seed: int) -> BankReader:
        """Return an untrained network; torch's global generator is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(way, vocabulary, C, radius)

    def states(self, ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Return what `bank` has become in each sentence, (B, C).

        Args:
            ids: (B, T), any id where there is padding.
            mask: True at real words, (B, T), padding on the right.
            places: where `bank` stands, (B,).
        """
        all_states: Tensor = self.context(ids, mask)
        return all_states[torch.arange(len(ids)), places]

    def forward(self, ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Return scores of the two senses, (B, 2)."""
        scores: Tensor = self.head(self.states(ids, mask, places))
        return scores
