"""The three ways give one answer; what is timed is not asserted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from onesentence.experiments.decoding_times import CALLS, WAYS, DecodingTimes, run
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.translator import TransformerTranslator
from onesentence.transformer.work import counted

SMALL = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12)


@torch.no_grad()
def test_calls_give_the_same_logits() -> None:
    model = TransformerTranslator.initial(SMALL, seed=0).double().eval()
    start = model.start([[1, 2, 3]])
    ids = torch.tensor([[0, 4, 3, 2]])
    expected = model(torch.tensor([[1, 2, 3]]), torch.ones(1, 3, dtype=torch.bool), ids)
    assert tuple(CALLS) == WAYS
    for call in CALLS.values():
        np.testing.assert_allclose(call(model, start, ids), expected, rtol=0, atol=1e-12)


@torch.no_grad()
def test_calls_do_the_work_that_their_names_say() -> None:
    model = TransformerTranslator.initial(SMALL, seed=0).eval()
    start, ids, did = model.start([[1, 2, 3]]), torch.tensor([[0, 4, 3, 2]]), {}
    for way, call in CALLS.items():
        with counted(model.decoder) as work:
            call(model, start, ids)
        did[way] = (work.passes, work.positions)
    assert did == {"one_pass": (1, 4), "kept": (4, 4), "again": (4, 1 + 2 + 3 + 4)}


def test_run_has_a_positive_time_for_each_repetition_and_leaves_the_threads() -> None:
    threads = torch.get_num_threads()
    record = run(DecodingTimes(SMALL, lengths=(2, 3), repeats=4, seed=7))
    assert record.identity == "measured"
    assert record.seeds == (7,)
    assert set(record.metrics) == set(WAYS)
    for (times,) in record.metrics.values():
        assert np.shape(times) == (2, 4)
        assert np.min(times) > 0
    assert torch.get_num_threads() == threads


def test_decoding_times_refuses() -> None:
    with pytest.raises(ValueError, match=r"lengths: expected target lengths of at least 1, got \(4, 0\)"):
        DecodingTimes(lengths=(4, 0))
    with pytest.raises(ValueError, match=r"lengths: .* got \(\)"):
        DecodingTimes(lengths=())
    with pytest.raises(TypeError, match=r"lengths must be an integer, got 1\.5"):
        DecodingTimes(lengths=(1.5,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model must be a TransformerConfig, got int"):
        DecodingTimes(model=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="source and repeats must be at least 1, got 9 and 0"):
        DecodingTimes(repeats=0)
