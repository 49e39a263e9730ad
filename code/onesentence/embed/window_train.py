"""Minibatch training of a window network: shuffle, cut, take a step, again."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import as_ids
from onesentence.embed.network import WindowNetwork
from onesentence.embed.optim import Optimiser


def fit(
    network: WindowNetwork,
    ids: ArrayLike,
    targets: ArrayLike,
    *,
    optimiser: Optimiser,
    epochs: int,
    batch: int,
    rng: np.random.Generator,
) -> tuple[WindowNetwork, list[float]]:
    """Train a copy of a network by minibatches, shuffled anew in every epoch.

    Args:
        network: where to start; it stays as it is.
        ids: (N, k), N >= 1.
        targets: rows of the output, (N,).
        optimiser: takes the steps; a fresh one for each run.
        epochs: passes over the examples, at least 1.
        batch: windows per step, at least 1; the last batch of an epoch may be smaller.
        rng: source of the shuffling.

    Returns:
        The trained network, and per epoch the mean of the losses met on the way, in nats per target.

    Raises:
        TypeError: if `ids` or `targets` does not hold integers.
        ValueError: for wrong shapes or ranges, no example, or a count below 1.
    """
    for name, count in (("epochs", epochs), ("batch", batch)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
    network.loss(ids, targets)  # refuses bad examples before work starts
    windows, labels = as_ids("ids", ids), as_ids("targets", targets)
    trained = WindowNetwork(**network.parameters())
    losses = []
    for _ in range(epochs):
        order, total = rng.permutation(len(windows)), 0.0
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            loss, gradients = trained.gradients(windows[chosen], labels[chosen])
            optimiser.step(trained.parameters(), gradients)
            total += loss * len(chosen)
        losses.append(total / len(order))
    return trained, losses
