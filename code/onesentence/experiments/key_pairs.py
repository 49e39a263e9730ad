"""Recurrent networks on pairs of stories that differ in one early token: kept, used, within reach of the loss.

Every variant is a cell of `torch.nn` with a start of its own, trained anew for every distance and seed on
`text.key_pairs`, to answer red or blue from the last state. Before and after training three things are asked that can
come apart: whether a linear reader, fitted afterwards, finds the colour in the last state (kept); whether the network's
own answers tell the stories of a pair apart (used); how long the gradient of the answer's log-odds with respect to the
embedding of the colour is (reach). For two answers the gradient of the loss -ln p of the right one is that of the
log-odds times 1 - p, so the log-odds stay comparable when training has made the loss small.

Sections 2.11 and 2.12 of the course. Identity-like starts: Le, Jaitly and Hinton 2015 (arXiv:1504.00941), there for
ReLU; here an orthogonal matrix under tanh. Cells: the torch manual, `torch.nn.RNN`, `LSTM`, `GRU`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from onesentence.checks import Ids
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_seed
from onesentence.text.key_pairs import EVENT_TOKENS, FACT_AT, TOKENS, key_pairs, pairs_right

CELLS = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}


@dataclass(frozen=True)
class Variant:
    """A cell and how it starts.

    Attributes:
        label: what figures call it.
        cell: `RNN` (tanh), `LSTM` or `GRU`.
        orthogonal: whether W_h starts as a random orthogonal matrix and the biases as 0; else torch's own start.
        inputs: factor on the embeddings, which torch draws from a standard normal distribution.
        keep: added to the bias of the gate that keeps the old state, the LSTM's f and torch's z of the GRU.
    """

    label: str
    cell: Literal["RNN", "LSTM", "GRU"]
    orthogonal: bool = False
    inputs: float = 1.0
    keep: float = 0.0

    def __post_init__(self) -> None:
        if self.cell not in CELLS:
            raise ValueError(f"cell must be one of {tuple(CELLS)}, got {self.cell!r}")
        if self.keep and self.cell == "RNN":
            raise ValueError(f"keep must be 0 for an RNN, which has no gate, got {self.keep}")
        if not self.inputs > 0:
            raise ValueError(f"inputs must be positive, got {self.inputs}")


VARIANTS = (
    Variant("RNN", "RNN"),
    Variant("RNN，正交", "RNN", orthogonal=True),
    Variant("RNN，正交、小输入", "RNN", orthogonal=True, inputs=0.1),
    Variant("LSTM", "LSTM"),
    Variant("LSTM，长遗忘", "LSTM", keep=4.0),
    Variant("GRU", "GRU"),
)


@dataclass(frozen=True)
class Keys:
    """What is trained.

    Attributes:
        variants: cells and their starts.
        events: numbers of events between fact and question, five tokens each; one network per number.
        embedding: d.
        hidden: H.
        pairs: pairs per step.
        updates: at most this many steps of Adam; it ends after `streak` batches in a row that were all right with a
            mean loss below `solved`.
        streak: how many batches in a row.
        solved: nats.
        rate: of Adam.
        threshold: of clipping by norm.
        asked: pairs in the test, drawn anew; with one event there are only 16 different ones.
        seeds: each draws a start and stories.
    """

    variants: tuple[Variant, ...] = VARIANTS
    events: tuple[int, ...] = (1, 3, 7)
    embedding: int = 16
    hidden: int = 32
    pairs: int = 12
    updates: int = 150
    streak: int = 10
    solved: float = 0.1
    rate: float = 0.006
    threshold: float = 1.0
    asked: int = 100
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        if not self.variants:
            raise ValueError("variants: expected at least one, got none")
        if not self.events or min(self.events) < 0:
            raise ValueError(f"events must be at least 0, got {self.events}")
        if self.asked < 2 or self.asked % 2:
            raise ValueError(f"asked must be even, one half fits the linear reader, got {self.asked}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")

    @property
    def distances(self) -> tuple[int, ...]:
        """Tokens between the fact and the question."""
        return tuple(EVENT_TOKENS * n for n in self.events)


class KeyReader(nn.Module):
    """Embedding, one recurrent layer, and two scores from its last hidden state."""

    def __init__(self, variant: Variant, *, embedding: int, hidden: int) -> None:
        """Draw the parameters from torch's global generator."""
        super().__init__()
        self.embedding = nn.Embedding(len(TOKENS), embedding)
        self.layer = CELLS[variant.cell](embedding, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 2)
        H = hidden
        with torch.no_grad():
            self.embedding.weight *= variant.inputs
            if variant.orthogonal:
                for block in self.layer.weight_hh_l0.split(H):
                    nn.init.orthogonal_(block)
                self.layer.bias_ih_l0.zero_()
                self.layer.bias_hh_l0.zero_()
            if variant.keep:
                self.layer.bias_ih_l0[H : 2 * H] += variant.keep  # i, f, g, o and r, z, n: the second block

    def states(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores (B, 2) and the whole last state (B, H), or (B, 2H) for the LSTM, after embeddings (B, T, d)."""
        out, last = self.layer(x)
        parts = last if isinstance(last, tuple) else (last,)
        return self.head(out[:, -1]), torch.cat([part[0] for part in parts], dim=-1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return scores of red and blue, (B, 2), for ids (B, T)."""
        scores, _ = self.states(self.embedding(ids))
        return scores


def build(variant: Variant, config: Keys, seed: int) -> KeyReader:
    """Return an untrained network.

    Args:
        variant: cell and start.
        config: sizes.
        seed: of the start.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return KeyReader(variant, embedding=config.embedding, hidden=config.hidden)


def train(model: KeyReader, config: Keys, events: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Train a network in place.

    Args:
        model: what `build` returned.
        config: how.
        events: between fact and question.
        rng: draws the stories.

    Returns:
        The norm of the gradient before clipping, one per update.
    """
    adam = torch.optim.Adam(model.parameters(), lr=config.rate, fused=True)
    norms, streak = [], 0
    labels = torch.tensor([0, 1]).repeat(config.pairs)
    for _ in range(config.updates):
        scores = model(_flat(key_pairs(config.pairs, events, rng)))
        loss = nn.functional.cross_entropy(scores, labels)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms.append(float(nn.utils.clip_grad_norm_(model.parameters(), config.threshold)))
        adam.step()
        right = bool((scores.argmax(dim=1) == labels).all()) and loss.item() < config.solved
        streak = streak + 1 if right else 0
        if streak == config.streak:
            break
    return np.array(norms)


def ask(model: KeyReader, stories: Ids) -> dict[str, Any]:
    """Ask the three questions of a network as it stands.

    Args:
        model: trained or not.
        stories: pairs of `key_pairs`, (pairs, 2, T), pairs even.

    Returns:
        `kept` and `used`, shares of pairs that the linear reader of the last state and the network itself have right,
        the first on the half of the pairs that it was not fitted to; `profile`, (T,), for every token from the first
        to the last the mean length of the gradient of the log-odds at its embedding; `reach`, that of the colour;
        `slope`, the mean of 1 - h * h over the last hidden states, near 0 where tanh is flat.
    """
    pairs = len(stories)
    x = model.embedding(_flat(stories)).detach().requires_grad_()
    scores, state = model.states(x)
    hidden = state[:, : model.layer.hidden_size].detach().double()
    (gradient,) = torch.autograd.grad((scores[:, 0] - scores[:, 1]).sum(), x)
    profile = gradient.double().norm(dim=-1).mean(dim=0)
    return {
        "slope": float((1 - hidden.square()).mean()),
        "kept": linear_reader(state.detach().double().numpy().reshape(pairs, 2, -1)),
        "used": pairs_right(scores.argmax(dim=1).numpy().reshape(pairs, 2)),
        "profile": profile.tolist(),
        "reach": float(profile[FACT_AT]),
    }


def linear_reader(states: NDArray[np.float64]) -> float:
    """Fit red = -1, blue = 1 to one half of the pairs by least squares and return the share of the rest that it gets.

    Directions in which the states vary less than a millionth of their widest one count as none.

    Args:
        states: last states, (pairs, 2, n).
    """
    half = len(states) // 2
    seen, asked = (
        np.concatenate([part, np.ones((*part.shape[:2], 1))], -1) for part in np.split(states, [half])
    )
    signs = np.tile([-1.0, 1.0], half)
    w = np.linalg.lstsq(seen.reshape(2 * half, -1), signs, rcond=1e-6)[0]
    return pairs_right((asked @ w > 0).astype(int))


def one(case: tuple[Variant, int, int], config: Keys) -> dict[str, Any]:
    """Build, ask, train, and ask again.

    Args:
        case: variant, events between fact and question, seed.
        config: the rest.

    Returns:
        What `ask` gives, each with `_before` or `_after` behind its name; `updates`; `clipped`, the share of updates
        that clipping shortened.
    """
    variant, events, seed = case
    model = build(variant, config, seed)
    stories = key_pairs(config.asked, events, np.random.default_rng([seed, events, 1]))
    before = ask(model, stories)
    norms = train(model, config, events, np.random.default_rng([seed, events, 0]))
    clipped = float((norms > config.threshold).mean())
    return {
        "updates": len(norms),
        "clipped": clipped,
        **{f"{name}_before": value for name, value in before.items()},
        **{f"{name}_after": value for name, value in ask(model, stories).items()},
    }


@memoised
def run(config: Keys) -> Record:
    """Train every variant at every distance with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed a list over variants of lists over distances: `kept`, `used`, `reach`, `slope` and `profile`, each with
        `_before` or `_after` behind it, `updates` and `clipped`.
    """
    return Record(
        name="key_pairs",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_seed([config.variants, config.events], config.seeds, partial(one, config=config)),
        versions=versions_of("numpy", "torch"),
    )


def _flat(stories: Ids) -> Tensor:
    return torch.from_numpy(stories.reshape(-1, stories.shape[-1]))
