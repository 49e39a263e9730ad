"""The translators of the generated corpus side by side: what their records say of the same parts, and their sizes.

`fixed_translator` (two interfaces), `alignment` (two encoders) and `translator`. Rates were chosen for each by itself,
numbers of updates differ and are given. `queue` is what training has to do one after another for the running sentence: a
state update for each of nine units and of eight target tokens, both directions at once; the Transformer has none, but
its blocks. Sections 2.3, 3.9 and 4.12 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import nn

from onesentence.experiments import alignment, fixed_translator, translator
from onesentence.numerics import FloatArray
from onesentence.transformer.translator import TransformerTranslator


@dataclass(frozen=True, eq=False)
class Row:
    """One kind of translator.

    Attributes:
        test: share of test sentences generated exactly, a value per seed.
        updates: after which.
        parameters: numbers that are learned.
        queue: recurrent state updates that training does one after another for the running sentence.
        dev: share of dev sentences after the updates asked for, a value per seed; None where it was not recorded.
    """

    test: FloatArray
    updates: int
    parameters: int
    queue: int
    dev: FloatArray | None = None


def beside(config: translator.Translator) -> dict[str, Row]:
    """Return rows of the four kinds: initial, inject, reading and transformer.

    Args:
        config: of the Transformer; its corpus is that of the others, its number of updates where dev is compared.

    Raises:
        ValueError: if the fixed summary has no dev value there.
    """
    data = fixed_translator.data_of(config.corpus)
    fixed, reading = config.corpus, alignment.Alignment(corpus=config.corpus)
    if config.updates > fixed.updates or config.updates % fixed.every:
        raise ValueError(
            f"updates must be a multiple of {fixed.every} up to {fixed.updates}, got {config.updates}"
        )
    example = data.corpus.variant("running")
    queue = len(example.source) + len(example.target) + 1
    rows: dict[str, Row] = {}
    first = fixed_translator.run(fixed).metrics
    for interface in fixed.interfaces:
        size = _size(fixed_translator.model_of(fixed, data.corpus, interface, 0))
        dev = np.array(first[f"{interface}_curve"])[:, config.updates // fixed.every]
        rows[interface] = Row(np.array(first[f"{interface}_exact"]), fixed.updates, size, queue, dev)
    second = alignment.run(reading).metrics
    size = _size(alignment.model_of(reading, data.corpus, 0))
    rows["reading"] = Row(np.array(second["exact"]), reading.updates, size, queue)
    own = translator.run(config).metrics
    model = TransformerTranslator.initial(translator.sizes_of(config, data.corpus), seed=0)
    test, curve = np.array(own["exact"])[:, -1], np.array(own["curve"])[:, -1]
    rows["transformer"] = Row(test, config.updates, _size(model), 0, curve)
    return rows


def _size(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
