"""Prefill and decode: the course's numbers, the formulas against what a running model is seen to multiply, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from onesentence.kernels.costs.products import forward_macs
from onesentence.kernels.costs.roofline import Ceilings, limit
from onesentence.kernels.sizes import Sizes
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.layer_costs import attention_cost
from onesentence.transformer.stage_costs import (
    DecoderSizes,
    counted_macs,
    decode_macs,
    head_macs,
    layer_macs,
    model_macs,
    prefill_work,
    step_bytes,
    step_work,
)
from onesentence.transformer.step_cost import attention_step

COURSE = DecoderSizes(d=8, f=16, H=2, G=2, L=2, V=71)
GROUPED = DecoderSizes(d=4096, f=14336, H=32, G=8, L=32, V=128_000, ffn_matrices=3)
CONFIG = CausalConfig(11, d_model=24, n_head=6, n_kv_head=2, d_ff=20, layers=3)


def test_prefill_and_decode_of_the_course() -> None:
    assert list(layer_macs(COURSE, 7).values()) == [1792, 1792, 784]
    assert list(decode_macs(COURSE, 9).values()) == [256, 256, 144]
    assert head_macs(COURSE) == 8 * 71


def test_layer_macs_by_hand() -> None:
    # 2 tokens behind 3, d = 6 in 3 heads of 2, one key head: W^Q, W^O 72 each, W^K, W^V 24 each; 10 pairs, 9 of them read
    sizes = DecoderSizes(d=6, f=5, H=3, G=1, L=4, V=7, ffn_matrices=3)
    assert layer_macs(sizes, 2, past=3) == {"projections": 192, "ffn": 180, "attention": 120}
    assert layer_macs(sizes, 2, past=3, causal=True)["attention"] == 2 * 9 * 6
    assert model_macs(sizes, 2, past=3) == 4 * (192 + 180 + 120) + 2 * 42
    assert model_macs(sizes, 2, past=3, logits=1) == 4 * (192 + 180 + 120) + 42


@pytest.mark.parametrize(("n", "past"), [(1, 0), (1, 6), (5, 0), (3, 4)])
@pytest.mark.parametrize(
    "changed", [{}, {"n_kv_head": None}, {"n_kv_head": 1, "layers": 1}, {"tied": False, "order": "post"}]
)
def test_model_macs_are_what_a_running_model_multiplies(
    n: int, past: int, changed: dict[str, object]
) -> None:
    config = replace(CONFIG, **changed)
    model = CausalLM.initial(config, seed=0)
    assert counted_macs(model, n, past=past) == model_macs(DecoderSizes.of(config), n, past=past)


def test_weights_are_the_matrices_of_the_model() -> None:
    model = CausalLM.initial(CONFIG, seed=0)
    matrices = {name: one.numel() for name, one in model.named_parameters() if one.ndim == 2}
    weights = DecoderSizes.of(CONFIG).weights
    assert sum(weights.values()) == sum(matrices.values())  # tied: the table is the output matrix
    assert weights["head"] == matrices["tokens.weight"]


def test_attention_macs_are_those_of_kernels_and_of_layer_costs() -> None:
    read = Sizes(B=1, H=32, G=8, T=5, S=9, D=128)
    for causal in (False, True):
        attention = layer_macs(GROUPED, 5, past=4, causal=causal)["attention"]
        assert attention == sum(forward_macs(read, causal=causal).values())
    assert sum(list(layer_macs(COURSE, 7).values())[::2]) == attention_cost(7, 8).products


def test_decode_is_the_step_of_chapter_4_without_a_source() -> None:
    config = TransformerConfig(5, 71, d_model=8, n_head=2, d_ff=16, decoder_layers=2, cross=False)
    step = attention_step(config, t=9, S=1)
    assert sum(step.values()) == model_macs(COURSE, 1, past=8)
    assert 2 * decode_macs(COURSE, 9)["attention"] == step["self_read"]


def test_prefill_in_parts_reads_every_pair_once() -> None:
    parts = [layer_macs(GROUPED, n, past=past, causal=True) for n, past in ((4, 0), (1, 4), (3, 5))]
    assert {name: sum(part[name] for part in parts) for name in parts[0]} == layer_macs(
        GROUPED, 8, causal=True
    )


def test_step_bytes_by_hand() -> None:
    sizes = DecoderSizes(d=6, f=5, H=3, G=1, L=4, V=7)
    weights = 4 * (2 * 6 * (6 + 2) + 2 * 6 * 5) + 42
    assert step_bytes(sizes, t=10, B=3, s=2) == {
        "weights": 2 * weights,
        "keys and values": 3 * 10 * (2 * 4 * 2) * 2,
        "new keys and values": 3 * (2 * 4 * 2) * 2,
    }
    assert step_work(sizes, t=10, B=3, s=2).flops == 2 * 3 * model_macs(sizes, 1, past=9)


def test_intensity_of_decode_grows_with_rows_up_to_what_keys_and_values_allow() -> None:
    short = [step_work(GROUPED, t=16, B=B, s=2).intensity for B in (1, 2, 64)]
    assert short[0] == pytest.approx(1, rel=0.01)  # two FLOP for each weight of two bytes
    assert short[1] == pytest.approx(2 * short[0], rel=0.01)
    assert short[2] > 50
    long = [step_work(GROUPED, t=10**7, B=B, s=2).intensity for B in (1, 1024)]
    assert long[1] == pytest.approx(GROUPED.H / GROUPED.G, rel=0.01)  # attention alone: the group


def test_prefill_is_limited_by_arithmetic_where_decode_is_limited_by_traffic() -> None:
    ceilings = Ceilings(peak=200.0, bandwidth=1.0)
    assert limit(prefill_work(GROUPED, n=2048, B=1, s=2), ceilings) == "arithmetic"
    assert limit(step_work(GROUPED, t=2048, B=1, s=2), ceilings) == "traffic"


def test_prefill_work_by_hand() -> None:
    sizes = DecoderSizes(d=6, f=5, H=3, G=1, L=4, V=7)
    work = prefill_work(sizes, n=3, B=2, s=4)
    layer = 2 * 3 * 6 * (6 + 2) + 2 * 3 * 6 * 5 + 2 * 6 * 6
    assert work.flops == 2 * 2 * (4 * layer + 42)
    assert work.bytes == 4 * (4 * (96 + 60) + 42) + 2 * 3 * (2 * 4 * 2) * 4


def test_counted_macs_leaves_the_model_as_it_is() -> None:
    model = CausalLM.initial(CONFIG, seed=0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    counted_macs(model, 2, past=1)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_stage_costs_refuse() -> None:
    with pytest.raises(ValueError, match="d must be a multiple of H = 3, got 8"):
        replace(COURSE, H=3, G=3)
    with pytest.raises(ValueError, match="H must be a multiple of G = 4, got 2"):
        replace(COURSE, G=4)
    with pytest.raises(TypeError, match=r"f must be an integer, got 16\.0"):
        replace(COURSE, f=16.0)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        layer_macs(COURSE, 0)
    with pytest.raises(ValueError, match="past must be at least 0, got -1"):
        model_macs(COURSE, 1, past=-1)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        decode_macs(COURSE, 0)
    with pytest.raises(ValueError, match="tokens must be at least 1, got 0"):
        model_macs(COURSE, 3, logits=0)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        step_work(COURSE, t=0, B=1, s=2)
    with pytest.raises(ValueError, match="B must be at least 1, got 0"):
        step_work(COURSE, t=1, B=0, s=2)
    with pytest.raises(ValueError, match="s must be at least 1, got 0"):
        step_bytes(COURSE, t=1, B=1, s=0)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        prefill_work(COURSE, n=0, B=1, s=2)
    model = CausalLM.initial(replace(CONFIG, window=4), seed=0)
    with pytest.raises(ValueError, match="cache must have window = 4 like the model, got None"):
        counted_macs(model, 1)
