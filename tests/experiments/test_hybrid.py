"""Transformer and hybrid trained alike, and what a display of their versions costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesentence.experiments import hybrid as hy
from onesentence.experiments.fixed_translator import FixedTranslator

CORPUS = FixedTranslator(pairs=400, dev=10, test=20, probe=5)
TINY = hy.Hybrids(
    corpus=CORPUS, width=8, n_head=2, d_ff=16, updates=4, every=2, live=10, masks=(0, 2, 20), seeds=(0, 1)
)


def test_run_has_a_value_per_seed_and_repeats():
    one, other = (hy.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    for decoder in TINY.decoders:
        metric = {name: one.metrics[f"{decoder}_{name}"] for name in ("curve", "erasure", "lag", "versions")}
        assert np.shape(metric["curve"]) == (2, 3)
        for erasure, lag in zip(metric["erasure"], metric["lag"], strict=True):
            assert set(erasure) == set(lag) == {"all", "statements", "questions"}
            assert erasure["all"][-1] == 0
            assert len(lag["all"]) == 3
        assert [len(v["running"]) for v in metric["versions"]] == [9, 9]
        assert [len(v["question"]) for v in metric["versions"]] == [10, 10]


def test_live_measures_by_hand():
    # two sentences of two units: one word of two is withdrawn, then nothing; g = (2, 2) and (1, 2)
    versions = [[("a", "b"), ("c", "b")], [("a",), ("a", "b")]]
    erasure, lag = hy.live_measures(versions, [0, 5])
    assert erasure == [2 / 4, 0.0]
    assert lag == [pytest.approx((2 + (1 + 1) / 2) / 2), 2.0]


def test_live_measures_of_an_empty_final_text_are_those_of_waiting():
    assert hy.live_measures([[("a",), ()]], [0]) == ([1.0], [2.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": ()}, "seeds must not be empty"),
        ({"masks": ()}, "masks must not be empty"),
        ({"live": 21}, "live must be at most 20, the test part, got 21"),
        ({"every": 3}, "every must divide updates = 4, got 3"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
    ],
)
def test_config_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)
