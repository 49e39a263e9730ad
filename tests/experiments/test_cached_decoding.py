"""All ways compute the same; what is timed is not asserted."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from onesentence.experiments.cached_decoding import (
    CACHES,
    CachedDecoding,
    cached,
    made,
    run,
    speed_ups,
    stretches,
)
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM

SMALL = CausalConfig(5, d_model=8, n_head=2, d_ff=12)
CONFIG = CachedDecoding(
    SMALL, lengths=(3, 9), repeats=2, sampled=4, page_size=4, window=4, seed=7, device="cpu"
)


def test_stretches_stand_for_every_pass_once() -> None:
    for n in (1, 7, 32, 100):
        for sampled in (1, 3, 32, 200):
            parts = stretches(n, sampled)
            assert sum(count for _, count in parts) == n
            assert len(parts) == min(n, sampled)
            assert all(1 <= length <= n for length, _ in parts)
    cost = sum(length * count for length, count in stretches(1024, 32))
    assert cost == pytest.approx(
        1024 * 1025 / 2, rel=1e-3
    )  # what grows with the length is neither over- nor underrated


@torch.no_grad()
def test_cached_gives_the_logits_of_one_pass() -> None:
    ids = torch.tensor([[1, 4, 2, 0, 3, 3, 1, 2, 4]])
    for name in CACHES:
        design = dataclasses.replace(SMALL, window=4 if name == "window" else None)
        model = CausalLM.initial(design, seed=0).double().eval()
        logits = cached(model, made(name, model, 9, CONFIG), ids)
        np.testing.assert_allclose(logits, model(ids), rtol=0, atol=1e-12)


def test_run_has_a_positive_time_for_each_repetition_and_leaves_the_threads() -> None:
    threads = torch.get_num_threads()
    record = run(CONFIG)
    assert (record.identity, record.seeds, record.device) == ("measured", (7,), "cpu")
    for way in ("again", *CACHES):
        (times,) = record.metrics[way]
        assert np.shape(times) == (2, 2)
        assert np.min(times) > 0
    assert record.metrics["again_lengths"] == [[[1, 2, 3], [2, 4, 6, 8]]]
    token = 2 * 2 * 2 * 4 * 4  # keys and values, layers, heads, head size, bytes
    assert record.metrics["paged_payload_bytes"] == [[3 * token, 9 * token]]
    assert record.metrics["paged_allocated_bytes"] == [[4 * token, 12 * token]]
    assert record.metrics["window_payload_bytes"] == [[3 * token, 4 * token]]
    assert max(record.metrics["contiguous_difference"][0]) < 1e-5
    assert torch.get_num_threads() == threads
    ups = speed_ups(record)
    assert ups["growing"][1] == np.median(record.metrics["again"][0][1]) / np.median(
        record.metrics["growing"][0][1]
    )


def test_run_refuses_a_cache_with_other_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = CausalLM.forward

    def wrong(self: CausalLM, ids: Tensor, **more: Any) -> Tensor:
        return whole(self, ids, **more) + 1e-3

    monkeypatch.setattr(CausalLM, "forward", wrong)
    with pytest.raises(RuntimeError, match=r"contiguous: logits differ from those of one pass by 0\.00"):
        run(CONFIG)


def test_cached_decoding_refuses() -> None:
    with pytest.raises(ValueError, match="lengths must be at least 1, got 0"):
        CachedDecoding(lengths=(4, 0))
    with pytest.raises(ValueError, match="lengths: expected at least one, got none"):
        CachedDecoding(lengths=())
    with pytest.raises(TypeError, match=r"sampled must be an integer, got 1\.5"):
        CachedDecoding(sampled=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model must be a CausalConfig, got int"):
        CachedDecoding(model=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="model must have no window of its own, got 3"):
        CachedDecoding(dataclasses.replace(SMALL, window=3))
