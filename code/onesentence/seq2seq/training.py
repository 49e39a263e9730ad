"""Training of a translator with true histories, and its losses.

A model is anything that maps (source, source_mask, inputs) to logits (B, T, V). The loss of an update is the mean over
the real labels of its batch; the loss of a corpus is the sum over all labels divided by their number, so that a long
sentence counts for more than a short one. Section 2.5 of the course; clipping by the norm of all gradients together:
Pascanu, Mikolov and Bengio 2013 (arXiv:1211.5063), section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch


@dataclass(frozen=True)
class Training:
    """How a model is trained.

    Attributes:
        updates: steps of Adam.
        batch: pairs per update.
        rate: of Adam.
        clip: largest norm of all gradients together; a longer one is scaled down to it.
        warm_up: first updates, whose rate rises in equal steps up to `rate`; it then stays. 0 means that there are none.
    """

    updates: int = 600
    batch: int = 64
    rate: float = 3e-3
    clip: float = 1.0
    warm_up: int = 0

    @classmethod
    def of(cls, config: Any) -> Training:
        """Return how an experiment trains: its configuration's attributes of these names.

        Args:
            config: has all of them; only `warm_up` may be missing, which then is 0.
        """
        warm_up = getattr(config, "warm_up", 0)
        return cls(
            **{f.name: getattr(config, f.name) for f in fields(cls) if f.name != "warm_up"}, warm_up=warm_up
        )

    def __post_init__(self) -> None:
        if self.updates < 1 or self.batch < 1:
            raise ValueError(
                f"updates and batch must be at least 1, got updates={self.updates}, batch={self.batch}"
            )
        for name, value in (("rate", self.rate), ("clip", self.clip)):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be positive and finite, got {value}")
        checked_integer("warm_up", self.warm_up, 0)

    def rate_at(self, update: int) -> float:
        """Return the rate of an update, counted from 0.

        Example:
            >>> [Training(rate=0.4, warm_up=2).rate_at(update) for update in range(4)]
            [0.2, 0.4, 0.4, 0.4]
        """
        return self.rate * (update + 1) / self.warm_up if update < self.warm_up else self.rate


@dataclass(frozen=True, eq=False)
class LabelScores:
    """What a model makes of labels with the true histories given.

    Attributes:
        losses: -ln p(label) in nats, (N, T), 0 at padded positions.
        hits: whether the label was the likeliest symbol, (N, T), False there.
        real: True at real labels, (N, T).
    """

    losses: FloatArray
    hits: NDArray[np.bool_]
    real: NDArray[np.bool_]

    @property
    def nll(self) -> float:
        """Nats per label."""
        return float(self.losses.sum() / self.real.sum())

    @property
    def accuracy(self) -> float:
        """Share of labels that are likeliest."""
        return float(self.hits.sum() / self.real.sum())

    @property
    def all_right(self) -> float:
        """Share of sentences with every label likeliest."""
        return float((self.hits | ~self.real).all(axis=1).mean())


def logits_of(model: nn.Module, batch: Batch) -> Tensor:
    """Return a model's logits (N, T, V) for a batch, the true histories given."""
    source, mask, inputs = map(torch.from_numpy, (batch.source, batch.source_mask, batch.inputs))
    logits: Tensor = model(source, mask, inputs)
    return logits


def mean_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Return the mean of -ln p(label), in nats, over the real labels of a batch."""
    real = torch.from_numpy(batch.mask)
    return nn.functional.cross_entropy(logits[real], torch.from_numpy(batch.labels)[real])


def train(
    model: nn.Module,
    data: Batch,
    plan: Training,
    rng: np.random.Generator,
    watch: Callable[[int], None] | None = None,
) -> list[float]:
    """Train a model in place.

    Args:
        model: maps (source, source_mask, inputs) to logits.
        data: all training pairs.
        plan: how.
        rng: shuffles the pairs, anew each time all have been used; the last batch of a round may be smaller.
        watch: called with the number of updates done, before the first and after each.

    Returns:
        The loss of each update, before it.

    Raises:
        ValueError: if a loss is not finite.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=plan.rate, fused=True)
    losses: list[float] = []
    order: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    if watch is not None:
        watch(0)
    for update in range(plan.updates):
        if not order.size:
            order = rng.permutation(len(data))
        batch, order = data.rows(order[: plan.batch]), order[plan.batch :]
        loss = mean_loss(logits_of(model, batch), batch)
        if not math.isfinite(loss.item()):
            raise ValueError(f"rate: the loss is {loss.item()} at update {update}; a smaller rate is needed")
        optimiser.zero_grad()
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(update)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        optimiser.step()
        losses.append(loss.item())
        if watch is not None:
            watch(update + 1)
    return losses


def curve(losses: Sequence[float], every: int) -> list[float]:
    """Return the means of as many losses each, in their order.

    Args:
        losses: of `train`.
        every: how many; must divide their number.

    Example:
        >>> curve([4.0, 2.0, 1.0, 2.0], 2)
        [3.0, 1.5]
    """
    means: list[float] = np.reshape(losses, (-1, every)).mean(axis=1).tolist()
    return means


@torch.no_grad()
def label_scores(model: nn.Module, data: Batch) -> LabelScores:
    """Return each label's loss and whether it was the likeliest symbol, the true histories given.

    Args:
        model: as in `train`.
        data: pairs.
    """
    logits = logits_of(model, data)
    labels = torch.from_numpy(data.labels)
    losses = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none").numpy()
    hits = (logits.argmax(dim=-1) == labels).numpy()
    return LabelScores(np.where(data.mask, losses, 0.0), hits & data.mask, data.mask)
