"""What the first read of a dynamic reader may start from: nothing, the encoder's ends, or a learned bias.

With h_0 = 0 and a query without bias, q_1 = 0 and the first weights are even over the source, whatever was learned.
`encoder` sets h_0 = [f_S; b_1]: the weights may differ and the decoder knows more of the source at once. `bias` gives
the query a learned b_q: the weights may differ, h_0 still knows nothing. The two together tell "not even" from "more of
the source". Everything else, the seeds and the batches are those of `reversal`, whose `dynamic` is the third condition.

Section 3.13 of the course, which leaves the comparison open.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import reversal
from onesentence.experiments.cases import by_case
from onesentence.experiments.reversal import Reader, ReversalLab, parts_of, train_one
from onesentence.seq2seq.reversal_model import First


@dataclass(frozen=True)
class FirstRead:
    """What is trained.

    Attributes:
        lab: everything but the conditions and the seeds.
        firsts: conditions besides `zero`.
        seeds: of each; among those of the lab, so that pairs can be formed.
    """

    lab: ReversalLab = field(default_factory=ReversalLab)
    firsts: tuple[First, ...] = ("encoder", "bias")
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.firsts or not self.seeds:
            raise ValueError(f"firsts and seeds must not be empty, got {self.firsts} and {self.seeds}")
        others = tuple(first for first in get_args(First) if first != "zero")
        if len(set(self.firsts) & set(others)) != len(self.firsts):
            raise ValueError(f"firsts: expected different ones of {', '.join(others)}, got {self.firsts}")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must differ, got {self.seeds}")
        if not set(self.seeds) <= set(self.lab.seeds):
            raise ValueError(f"seeds must be among those of the lab, {self.lab.seeds}, got {self.seeds}")


@memoised
def run(config: FirstRead) -> Record:
    """Train a dynamic reader with every condition and seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<condition>_<metric>`, the metrics those of `reversal.train_one`.
    """
    parts = parts_of(config.lab.data)
    dynamic: Reader = "dynamic"
    cases = {first: (dynamic, first) for first in config.firsts}
    return Record(
        name="first_read",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_case(cases, config.seeds, partial(train_one, config.lab, parts)),
        data_hash=parts.digest,
        versions=versions_of("numpy", "torch", "safetensors"),
    )


def compared(config: FirstRead) -> dict[First, list[tuple[int, float, int]]]:
    """Return all conditions, `zero` out of the lab's own runs.

    Args:
        config: what is trained.

    Returns:
        By condition a row per seed: the seed, the share of exact sequences, how many are wrong from the first token on.
    """
    here, lab = run(config).metrics, reversal.run(config.lab).metrics
    sources = {"zero": ("dynamic", lab, config.lab.seeds)}
    sources |= {first: (first, here, config.seeds) for first in config.firsts}
    table: dict[Any, list[tuple[int, float, int]]] = {}
    for first, (name, metrics, known) in sources.items():
        places = [known.index(seed) for seed in config.seeds]
        exact, steps = metrics[f"{name}_exact"], metrics[f"{name}_by_position"]
        table[first] = [
            (seed, exact[at], steps[at][0][2]) for seed, at in zip(config.seeds, places, strict=True)
        ]
    return table
