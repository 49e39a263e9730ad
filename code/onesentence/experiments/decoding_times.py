"""How long it takes to score a target in one pass, token by token with kept keys, and token by token without.

Times are of this machine and this run, one thread, so the record is not kept: every execution measures again. The three
ways take turns within each repetition, so that a slow moment of the machine falls on all of them. The source has been
encoded before the clock starts, and the words are given, so all ways compute the same logits. Section 4.12 of the
course.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from onesentence.checks import checked_integer
from onesentence.evidence.records import Record, versions_of
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.decoder import TargetState
from onesentence.transformer.translator import TransformerTranslator

WAYS = ("one_pass", "kept", "again")


MODEL = TransformerConfig(71, 102, d_model=128, n_head=4, d_ff=512)
"""Two layers a side, and vocabularies of the size of the generated corpus."""


@dataclass(frozen=True)
class DecodingTimes:
    """What is timed.

    Attributes:
        model: sizes and design.
        source: source length.
        lengths: target lengths.
        repeats: how often each way is timed at each length.
        seed: of the parameters and ids.
    """

    model: TransformerConfig = MODEL
    source: int = 9
    lengths: tuple[int, ...] = (8, 16, 48)
    repeats: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        for length in self.lengths:
            checked_integer("lengths", length, 0)
        for name in ("source", "repeats"):
            checked_integer(name, getattr(self, name), 0)
        if not isinstance(self.model, TransformerConfig):
            raise TypeError(f"model must be a TransformerConfig, got {type(self.model).__name__}")
        if not self.lengths or min(self.lengths) < 1:
            raise ValueError(f"lengths: expected target lengths of at least 1, got {self.lengths}")
        if self.source < 1 or self.repeats < 1:
            raise ValueError(f"source and repeats must be at least 1, got {self.source} and {self.repeats}")


def one_pass(model: TransformerTranslator, start: TargetState, ids: Tensor) -> Tensor:
    """Return logits (1, T, V) of all positions, computed at once."""
    return model.decode(ids, start)[0]


def kept(model: TransformerTranslator, start: TargetState, ids: Tensor) -> Tensor:
    """Return the same token by token, keys and values of earlier tokens kept."""
    rows, state = [], start
    for t in range(ids.shape[1]):
        logits, state = model.decode(ids[:, t : t + 1], state)
        rows.append(logits)
    return torch.cat(rows, dim=1)


def again(model: TransformerTranslator, start: TargetState, ids: Tensor) -> Tensor:
    """Return the same token by token, the whole prefix computed again for each."""
    return torch.cat([model.decode(ids[:, : t + 1], start)[0][:, -1:] for t in range(ids.shape[1])], dim=1)


CALLS: dict[str, Callable[[TransformerTranslator, TargetState, Tensor], Tensor]] = {
    "one_pass": one_pass,
    "kept": kept,
    "again": again,
}
"""By names of `WAYS`."""


@torch.no_grad()
def run(config: DecodingTimes) -> Record:
    """Time the three ways.

    Args:
        config: what is timed.

    Returns:
        By way one list, for the one seed, of seconds: per length one list with a value per repetition.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds = _timed(config)
    finally:
        torch.set_num_threads(threads)
    return Record(
        name="decoding_times",
        identity="measured",
        config=dataclasses.asdict(config),
        seeds=(config.seed,),
        metrics={way: [times] for way, times in seconds.items()},
        device="cpu",
        versions=versions_of("torch"),
    )


def _timed(config: DecodingTimes) -> dict[str, list[list[float]]]:
    model = TransformerTranslator.initial(config.model, seed=config.seed).eval()
    generator = torch.Generator().manual_seed(config.seed)
    source = torch.randint(config.model.source_size, (1, config.source), generator=generator)
    start = model.start(source.numpy())
    seconds: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for T in config.lengths:
        ids = torch.randint(config.model.target_size, (1, T), generator=generator)
        for way in WAYS:
            CALLS[way](model, start, ids)  # once before, for what PyTorch sets up at first
            seconds[way].append([])
        for _ in range(config.repeats):
            for way in WAYS:
                before = time.perf_counter()
                CALLS[way](model, start, ids)
                seconds[way][-1].append(time.perf_counter() - before)
    return seconds
