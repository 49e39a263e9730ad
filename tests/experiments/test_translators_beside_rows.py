"""Rows of translators side by side from records made up by hand: the last measured value is the one shown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onesentence.experiments import alignment, fixed_translator, translator
from onesentence.experiments.translators_beside import beside

CORPUS = fixed_translator.FixedTranslator(
    pairs=300, dev=60, test=5, probe=5, width=8, updates=4, every=2, seeds=(0, 1)
)
CONFIG = translator.Translator(
    corpus=CORPUS, d_model=8, n_head=2, d_ff=8, updates=2, every=1, averaged=1, measured=(1, 2), seeds=(0, 1)
)


def test_beside_shows_the_last_measured_value_of_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    records: dict[Any, dict[str, Any]] = {
        fixed_translator: {
            f"{name}_{metric}": value
            for name in CORPUS.interfaces
            for metric, value in (("curve", [[0.0, 0.25, 0.5], [0.0, 0.375, 0.75]]), ("exact", [0.5, 0.625]))
        },
        alignment: {"exact": [0.75, 0.875]},
        translator: {"exact": [[0.125, 1.0], [0.25, 0.9375]], "curve": [[0.0, 0.1, 0.8], [0.0, 0.2, 0.7]]},
    }
    for module, metrics in records.items():
        monkeypatch.setattr(module, "run", lambda config, metrics=metrics: SimpleNamespace(metrics=metrics))
    rows = beside(CONFIG)
    assert [row.test.tolist() for row in rows.values()] == [[0.5, 0.625]] * 2 + [[0.75, 0.875], [1.0, 0.9375]]
    dev = [None if row.dev is None else row.dev.tolist() for row in rows.values()]
    assert dev == [[0.25, 0.375]] * 2 + [None, [0.8, 0.7]]
