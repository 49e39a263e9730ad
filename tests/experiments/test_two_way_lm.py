"""The bidirectional language model, in its smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onesentence.experiments import two_way_lm
from onesentence.experiments.reader import Reader
from onesentence.experiments.two_way_lm import TwoWay, prefix_logits, random_texts
from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.size import parameter_count

TINY = TwoWay(hidden=2, inputs=3, steps=2, blank_steps=1, batch=4, held_out=5, seeds=(0, 1))


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def test_random_texts_are_uniform_and_shifted_by_one():
    config = TwoWay(symbols=3, longest=6)
    batch = random_texts(config, 6000, np.random.default_rng(0))
    assert (batch.ids[:, 0] == 3).all()
    np.testing.assert_array_equal(batch.ids[:, 1:], batch.labels[:, :-1])
    assert (batch.real[:, :-1] >= batch.real[:, 1:]).all()  # padding on the right only
    ended = batch.real & (batch.labels == 3)
    assert not (ended[:, :-1] & batch.real[:, 1:]).any()
    assert not batch.counted[:, -1].any()
    for t in range(5):
        shares = np.bincount(batch.labels[batch.counted[:, t], t], minlength=4) / batch.counted[:, t].sum()
        np.testing.assert_allclose(shares, 0.25, rtol=0, atol=0.05)


@pytest.mark.parametrize("both", [False, True])
def test_prefix_logits_equal_the_whole_run_only_in_one_direction(both):
    rng = np.random.default_rng(1)
    cell = GRU.initial(inputs=2, hidden=3, rng=rng)
    recurrent = Bidirectional(cell, GRU.initial(inputs=2, hidden=3, rng=rng)) if both else cell
    model = Reader.initial(recurrent, tokens=5, classes=5, rng=rng)
    batch = random_texts(TwoWay(), 30, rng)
    apart = np.abs(prefix_logits(model, batch) - model.logits(batch.ids, batch.real))[batch.counted]
    assert (apart.max() > 0.01) == both


def test_run_records_every_seed():
    record = two_way_lm.run(TINY)
    assert record.seeds == (0, 1)
    assert record.metrics["one_whole"] == pytest.approx(record.metrics["one_prefix"], abs=1e-12)
    for name, values in record.metrics.items():
        assert len(values) == 2
        assert min(values) >= 0, name
    for name in ("two_ends", "one_first_end", "blank_late_right"):
        assert max(record.metrics[name]) <= 1
    assert two_way_lm.run(TINY).metrics == record.metrics


def test_width_keeps_the_budget():
    config = TwoWay()
    one, two = (parameter_count("GRU", inputs=config.inputs, hidden=H) for H in (config.width, config.hidden))
    assert one <= 2 * two < parameter_count("GRU", inputs=config.inputs, hidden=config.width + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"longest": 1}, "longest must be at least 2, got 1"),
        ({"seeds": ()}, "seeds: expected at least one"),
    ],
)
def test_two_way_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        TwoWay(**change)
