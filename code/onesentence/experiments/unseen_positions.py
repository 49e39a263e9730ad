"""A model that is asked for the symbol before each position, at positions that its training had and at ones it had not.

The answer needs order and nothing else: symbols are drawn independently, the answer at position t is the symbol at t - 1,
and nothing is asked at the first. The model is one block of the Transformer's encoder that reads all positions. Training
has sequences of `seen` positions from 0 (or, as a control, from anywhere). Afterwards the same model is asked

    short   sequences of `seen` positions from 0, drawn anew
    long    sequences of `asked` positions from 0: new positions, and more positions than ever
    moved   sequences of `seen` positions that start at `seen`: new positions alone

Sinusoids and learned rows can be computed at every position that is asked: the learned table has `asked` rows, of which
training moves the first `seen`. Section 4.5 of the course; Vaswani et al. 2017 (arXiv:1706.03762), section 3.5, chose
sinusoids because they "may" carry over to longer sequences.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.polynomial import Polynomial
from torch import Tensor, nn

from onesentence.checks import checked_integer, checked_number
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.numerics import FloatArray
from onesentence.transformer.block import EncoderBlock
from onesentence.transformer.config import Positions, TransformerConfig
from onesentence.transformer.embedding import InputEmbedding


class Case(NamedTuple):
    """One kind of model.

    Attributes:
        positions: what tells a position from another.
        anywhere: whether training sequences start anywhere, so that all `asked` positions occur, `seen` at a time.
    """

    positions: Positions
    anywhere: bool = False


CASES = (Case("sinusoidal"), Case("learned"), Case("sinusoidal", anywhere=True))


@dataclass(frozen=True)
class UnseenPositions:
    """What is trained.

    Attributes:
        cases: kinds of model.
        symbols: V, all equally frequent.
        seen: positions of a training sequence.
        asked: positions of a long sequence, at least twice as many.
        d_model, n_head: of the block; its FFN is twice as wide as the model.
        updates, batch, rate, clip: of Adam; the rate rises over the first quarter and falls over the second half.
        tests: sequences of each kind that are asked.
        seeds: of parameters and sequences.
    """

    cases: tuple[Case, ...] = CASES
    symbols: int = 8
    seen: int = 8
    asked: int = 16
    d_model: int = 32
    n_head: int = 1
    updates: int = 90
    batch: int = 32
    rate: float = 0.015
    clip: float = 1.0
    tests: int = 200
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.cases or not self.seeds:
            raise ValueError(f"cases and seeds must not be empty, got {self.cases} and {self.seeds}")
        for name in ("symbols", "seen", "asked", "d_model", "n_head"):
            checked_integer(name, getattr(self, name), 0)
        for name in ("updates", "batch", "tests"):
            checked_integer(name, getattr(self, name), 1)
        for name in ("rate", "clip"):
            if checked_number(name, getattr(self, name)) <= 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.seen < 2 or self.asked < 2 * self.seen:
            raise ValueError(
                f"seen must be at least 2 and asked at least twice that, got {self.seen} and {self.asked}"
            )
        if self.symbols < 2:
            raise ValueError(f"symbols must be at least 2, got {self.symbols}")


class PreviousSymbol(nn.Module):
    """Embedding, position, one block and scores of the symbol before.

    Args:
        config: sizes.
        positions: what tells a position from another.
    """

    def __init__(self, config: UnseenPositions, positions: Positions) -> None:
        super().__init__()
        sizes = TransformerConfig(
            config.symbols,
            config.symbols,
            d_model=config.d_model,
            n_head=config.n_head,
            d_ff=2 * config.d_model,
            positions=positions,
            longest=config.asked,
        )
        self.embedding = InputEmbedding(config.symbols, sizes)
        self.block = EncoderBlock(sizes)
        self.head = nn.Linear(config.d_model, config.symbols)

    def forward(self, ids: Tensor, start: Tensor) -> Tensor:
        """Return scores at all places but the first, (B, T - 1, V).

        Args:
            ids: (B, T).
            start: position of the first symbol, (B,) or (1,).
        """
        x = self.embedding(ids, start[:, None] + torch.arange(ids.shape[1]))
        scores: Tensor = self.head(self.block(x)[:, 1:])
        return scores


def build(config: UnseenPositions, positions: Positions, seed: int) -> PreviousSymbol:
    """Return an untrained model; torch's global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return PreviousSymbol(config, positions)


def train(model: PreviousSymbol, config: UnseenPositions, rng: np.random.Generator, last: int = 0) -> float:
    """Train a model in place and return its last loss, nats.

    Args:
        model: untrained.
        config: how.
        rng: draws the sequences.
        last: the last position at which a sequence may start; each starts at one from 0 to this.
    """
    adam = torch.optim.Adam(model.parameters(), lr=config.rate, fused=True)
    steps = torch.arange(1, config.updates + 1) / config.updates
    rates = config.rate * torch.minimum(4 * steps, 2 - 2 * steps + 2 / config.updates).clamp(max=1)
    for rate in rates.tolist():
        ids = _sequences(config, config.batch, config.seen, rng)
        start = torch.from_numpy(rng.integers(last + 1, size=config.batch))
        loss = nn.functional.cross_entropy(model(ids, start).flatten(0, 1), ids[:, :-1].flatten())
        adam.param_groups[0]["lr"] = rate
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        adam.step()
    return loss.item()


def right(
    model: PreviousSymbol, config: UnseenPositions, T: int, rng: np.random.Generator, start: int = 0
) -> FloatArray:
    """Return the share of right answers at each of the last T - 1 of T positions.

    Args:
        model: trained or not.
        config: number of sequences.
        T: positions of a sequence.
        rng: draws the sequences.
        start: the first position.
    """
    ids = _sequences(config, config.tests, T, rng)
    with torch.no_grad():
        answers = model(ids, torch.tensor([start])).argmax(dim=-1)
    share: FloatArray = (answers == ids[:, :-1]).double().mean(dim=0).numpy()
    return share


def one(case: tuple[Case, int], config: UnseenPositions) -> dict[str, Any]:
    """Train one model and ask it; see `run`.

    Args:
        case: kind and seed.
        config: the rest.
    """
    (positions, anywhere), seed = case
    model = build(config, positions, seed)
    last = config.asked - config.seen if anywhere else 0
    loss = train(model, config, np.random.default_rng([seed, 0]), last)
    rng = np.random.default_rng([seed, 1])
    return {
        "loss": loss,
        "short": float(right(model, config, config.seen, rng).mean()),
        "long": right(model, config, config.asked, rng).tolist(),
        "moved": float(right(model, config, config.seen, rng, start=config.seen).mean()),
    }


def ceiling_without_positions(symbols: int, T: int) -> float:
    """Return the largest share of right answers that a model without positions can have on average.

    Such a model knows its own symbol and how often each other one stands anywhere. The symbol before is any of the other
    T - 1 with equal chances, so the best answer is the most frequent of them: E[max count] / (T - 1).

    Args:
        symbols: V, at least 1, equally frequent and independent.
        T: positions, at least 2.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is too small, or V^(T-1) or (T-1)! leaves the range of numbers.

    Example:
        >>> ceiling_without_positions(2, 3)
        0.75
    """
    V, n = checked_integer("symbols", symbols, 1), checked_integer("T", T, 2) - 1
    if n > 170 or V**n > 10**300:
        raise ValueError(f"T must be at most 171 and {V}^(T-1) at most 1e300, got {T}")
    term = [1 / math.factorial(j) for j in range(n + 1)]
    # P(max <= m) = n! / V^n times the coefficient of x^n in (sum_{j <= m} x^j / j!)^V
    most = 0.0
    for m in range(n):
        power = Polynomial(term[: m + 1]) ** V
        within = power.coef[n] * math.factorial(n) / V**n if len(power.coef) > n else 0.0
        most += 1 - float(within)
    return most / n


def untouched(config: UnseenPositions, seed: int) -> list[float]:
    """Return by how much training moves each row of a learned table, largest component first: `asked` numbers.

    Args:
        config: what is trained.
        seed: of the model and its sequences.
    """
    model = build(config, "learned", seed)
    table = model.embedding.learned
    assert table is not None
    before = table.weight.detach().clone()
    train(model, config, np.random.default_rng([seed, 0]))
    moved: list[float] = (table.weight.detach() - before).abs().amax(dim=1).tolist()
    return moved


@memoised
def run(config: UnseenPositions) -> Record:
    """Train every kind of model with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed a list over the cases: `loss`, the last one of training, nats an answer; `short` and `moved`, shares of
        right answers; `long`, one share for each position from 1 up.
    """
    cases = [(case, seed) for seed in config.seeds for case in config.cases]
    results = seeds.over(cases, partial(one, config=config))
    n = len(config.cases)
    rows = [results[i * n : (i + 1) * n] for i in range(len(config.seeds))]
    return Record(
        name="unseen_positions",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics={
            name: [[r[name] for r in row] for row in rows] for name in ("loss", "short", "long", "moved")
        },
        versions=versions_of("numpy", "torch"),
    )


def _sequences(config: UnseenPositions, number: int, T: int, rng: np.random.Generator) -> Tensor:
    return torch.from_numpy(rng.integers(config.symbols, size=(number, T)))
