"""Records of three experiments side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesentence.evidence.records import records_folder
from onesentence.experiments import alignment, fixed_translator, translator
from onesentence.experiments.translators_beside import beside

CORPUS = fixed_translator.FixedTranslator(
    pairs=300, dev=5, test=5, probe=5, width=8, updates=4, every=2, seeds=(0, 1)
)
TINY = translator.Translator(
    corpus=CORPUS,
    d_model=8,
    n_head=2,
    d_ff=8,
    updates=2,
    every=1,
    averaged=1,
    measured=(2,),
    ablated=5,
    seeds=(0, 1),
)


def test_beside_takes_each_from_its_record(monkeypatch, records):
    assert records_folder() == records
    monkeypatch.setattr(alignment.Alignment, "__init__", _short(alignment.Alignment.__init__))
    rows = beside(TINY)
    assert list(rows) == ["initial", "inject", "reading", "transformer"]
    assert [row.updates for row in rows.values()] == [4, 4, 1, 2]
    assert [row.queue for row in rows.values()] == [17, 17, 17, 0]
    assert [row.test.shape for row in rows.values()] == [(2,)] * 4
    first = fixed_translator.run(CORPUS).metrics
    np.testing.assert_array_equal(rows["inject"].dev, np.array(first["inject_curve"])[:, 1])
    np.testing.assert_array_equal(
        rows["reading"].test, alignment.run(alignment.Alignment(CORPUS)).metrics["exact"]
    )
    assert rows["reading"].dev is None


def test_beside_refuses_updates_that_were_not_recorded():
    with pytest.raises(ValueError, match="updates must be a multiple of 2 up to 4, got 3"):
        beside(replace(TINY, updates=3, measured=(3,)))


def _short(init):
    def initial(self, corpus):
        init(self, corpus=corpus, width=8, updates=1, seeds=(0, 1))

    return initial
