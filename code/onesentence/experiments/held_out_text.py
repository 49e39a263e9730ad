"""Counts, a window network and two recurrent ones on the same held-out text: loss, an unseen pair, over-training.

Every seed draws its own texts; the pair `gave you` never occurs in training (`held_out_data`). Count models are fitted
on the training text, their free parameter is chosen on the choosing text (`held_out_counts`). The networks are trained
for a fixed number of epochs and measured after each; the epoch is chosen on the choosing text too
(`held_out_networks`). One model reads characters instead of words, so that losses per token and per character can be
told apart. BOS is never predicted, EOS always, padding never. Sections 1.6 to 1.8, 1.13, 2.1 and 2.2 of the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from math import inf, isfinite
from typing import Any

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.held_out_counts import character_model, count_models, loss_per_token
from onesentence.experiments.held_out_data import HeldOut, as_characters, characters_per_token, draw_texts
from onesentence.experiments.held_out_networks import MEASURED, train_networks

COUNTED = ("mle", "add_alpha", "interpolated", "kneser_ney")


def one_seed(config: HeldOut, seed: int) -> dict[str, Any]:
    """Compare the models on the texts of one seed; the keys are those of the record's metrics."""
    texts = draw_texts(config, seed)
    models, networks = count_models(config, texts), train_networks(config, texts, seed)
    spelled = character_model(config, texts)
    found: dict[str, Any] = {}
    for name in ("test", "unseen"):
        part = getattr(texts, name)
        losses = [loss_per_token(model, part) for model in models.values()]
        losses += [networks[kind].curves[name][networks[kind].best] for kind in config.networks]
        found[name] = [_finite(loss) for loss in (*losses, loss_per_token(spelled, as_characters(part)))]
    found["per_character"] = _per_character(found["test"], characters_per_token(texts.test))
    found["best"] = [networks[kind].best + 1 for kind in config.networks]
    found["parameters"] = [networks[kind].size for kind in config.networks]
    for name in MEASURED:
        found[f"curve_{name}"] = [networks[kind].curves[name] for kind in config.networks]
    return found


@memoised
def run(config: HeldOut) -> Record:
    """Compare the models on every seed.

    Args:
        config: what is compared.

    Returns:
        Per seed: `test` and `unseen`, the loss in nats per token of each of the models (None where a sentence has
        probability 0); `per_character`, the test loss in nats per character; and for each network `best`, the
        epoch that was chosen, `parameters`, their number, and `curve_choose`, `curve_test`, `curve_unseen`, the losses
        by epoch.
    """
    found = seeds.over(config.seeds, partial(one_seed, config))
    return Record(
        name="held_out_text",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics={name: [one[name] for one in found] for name in found[0]},
        versions=versions_of("numpy"),
    )


def _finite(loss: float) -> float | None:
    return loss if isfinite(loss) else None  # JSON has no infinity


def _per_character(losses: object, ratio: float) -> list[float | None]:
    """Turn losses per token into losses per character; the last model's tokens are characters already."""
    assert isinstance(losses, list)
    return [None if x is None else x / ratio for x in losses[:-1]] + [losses[-1]]


def by_model(record: Record, metric: str) -> Mapping[str, list[Any]]:
    """Return a metric of a record as values per seed, by model; `inf` where a sentence has probability 0.

    Args:
        record: of `run`.
        metric: its name; those of the training are by network only.

    Raises:
        ValueError: if the record has no such metric.
    """
    if metric not in record.metrics:
        raise ValueError(f"metric must be one of {sorted(record.metrics)}, got {metric!r}")
    rows, networks = record.metrics[metric], record.config["networks"]
    models = (*COUNTED, *networks, "characters")
    names = models if metric in ("test", "unseen", "per_character") else networks
    return {name: [inf if row[at] is None else row[at] for row in rows] for at, name in enumerate(names)}
