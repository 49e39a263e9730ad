"""Numbers of parameters against the modules' own, and the shapes of a pass against those that hooks see."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import nn

from onesentence.transformer.config import BASE, TransformerConfig
from onesentence.transformer.size import dimension_ledger, parameter_count, parameters_by_part
from onesentence.transformer.translator import TransformerTranslator

CONFIGS = [
    TransformerConfig(
        s,
        t,
        d_model=c,
        n_head=h,
        d_ff=f,
        encoder_layers=n,
        decoder_layers=m,
        order=order,
        positions=p,
        cross=cross,
    )
    for (s, t), (c, h, f), (n, m), order, p, cross in itertools.product(
        [(5, 7), (9, 3)],
        [(4, 1, 6), (6, 3, 5)],
        [(1, 2), (3, 1)],
        ["post", "pre"],
        ["sinusoidal", "learned", "none"],
        [True, False],
    )
]


@pytest.mark.parametrize("chunk", range(4))
def test_parameter_count_equals_the_modules(chunk: int) -> None:
    for config in CONFIGS[chunk::4]:
        model = TransformerTranslator(config)
        assert parameter_count(config) == sum(p.numel() for p in model.parameters()), config
        parts = parameters_by_part(config)

        def held(module: nn.Module, *words: str) -> int:
            return sum(
                p.numel() for name, p in module.named_parameters() if any(w in f".{name}." for w in words)
            )

        assert parts["embeddings"] == held(model, ".tokens.")
        assert parts["positions"] == held(model, ".learned.")
        assert parts["encoder_attention"] == held(model.encoder, ".attention.")
        assert parts["encoder_ffn"] == held(model.encoder, ".ffn.")
        assert parts["decoder_attention"] == held(model.decoder, ".attention.")
        assert parts["cross_attention"] == held(model.decoder, ".cross.")
        assert parts["decoder_ffn"] == held(model.decoder, ".ffn.")
        assert parts["norms"] == held(model, ".norm.", ".last.")


def test_parameter_count_of_the_base_model_by_hand() -> None:
    attention = 4 * (512 * 512 + 512)  # 1 050 624
    ffn = 512 * 2048 + 2048 + 2048 * 512 + 512  # 2 099 712
    encoder = 6 * (attention + ffn + 2 * 1024)  # 18 914 304
    decoder = 6 * (2 * attention + ffn + 3 * 1024)  # 25 224 192
    assert (attention, ffn, encoder, decoder) == (1_050_624, 2_099_712, 18_914_304, 25_224_192)
    assert parameter_count(BASE, shared=True) == 18_914_304 + 25_224_192 + 37_000 * 512 == 63_082_496
    assert parameter_count(BASE) == 63_082_496 + 37_000 * 512
    reported = 65e6  # Vaswani et al. 2017, Table 3, row base
    assert abs(parameter_count(BASE, shared=True) - reported) / reported < 0.03


def test_parameter_count_of_the_base_model_equals_torch() -> None:
    with torch.device("meta"):
        theirs = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)
    last = 2 * 2 * 512  # nn.Transformer ends both stacks in a norm, also where norms stand after the addition
    blocks = sum(p.numel() for p in theirs.parameters()) - last
    assert parameter_count(BASE, shared=True) == blocks + 37_000 * 512


def seen(model: TransformerTranslator, n: int, m: int) -> dict[tuple[str, str], tuple[int, ...]]:
    """Run one sentence and return shapes without the batch, as hooks and calls saw them."""
    shapes: dict[tuple[str, str], tuple[int, ...]] = {}
    config = model.config

    def note(side: str, name: str, out: Any) -> None:
        shapes[side, name] = tuple(out.shape[1:])

    for side, part in (("encoder", model.encoder), ("decoder", model.decoder)):
        block = part.blocks[0]
        part.embedding.register_forward_hook(lambda *a, side=side: note(side, "X", a[2]))
        block.ffn.widen.register_forward_hook(lambda *a, side=side: note(side, "FFN hidden", a[2]))
    first, y = model.encoder.blocks[0], model.decoder.blocks[0]
    first.attention.merge.register_forward_hook(lambda *a: note("encoder", "joined", a[1][0]))
    ids, inputs = torch.ones(1, n).long(), torch.ones(1, m).long()
    memory = model.encoder(ids, ids > 0)
    note("decoder", "logits", model.decoder(inputs, model.decoder.first_state(memory))[0])
    note("encoder", "memory", memory.states)
    x, z = (torch.zeros(1, size, config.d_model) for size in (n, m))
    q, (k, v) = first.attention.queries(x), first.attention.keys_values(x)
    assert q.shape == k.shape == v.shape
    note("encoder", "Q, K, V", q)
    note("encoder", "scores", first.attention.weights(x))
    width = shapes.pop(("encoder", "joined"))[-1]
    shapes["encoder", "heads"] = (config.n_head, n, width // config.n_head)
    shapes["encoder", "W_O"] = tuple(first.attention.merge.weight.shape)
    note("decoder", "self scores", y.attention.weights(z))
    if y.cross is not None:
        note("decoder", "cross Q", y.cross.queries(z))
        k, v = y.cross.keys_values(x)
        assert k.shape == v.shape
        note("decoder", "cross K, V", k)
        note("decoder", "cross scores", y.cross.weights(z, x))
    return shapes


@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize(("n", "m"), [(3, 5), (4, 1)])
def test_dimension_ledger_equals_what_a_pass_shows(n: int, m: int, cross: bool) -> None:
    config = TransformerConfig(5, 7, d_model=6, n_head=3, d_ff=10, cross=cross)
    rows = dimension_ledger(config, n=n, m=m)
    assert {(side, name): shape for side, name, shape in rows} == seen(TransformerTranslator(config), n, m)
    assert len({row[:2] for row in rows}) == len(rows)


def test_sizes_refuse() -> None:
    config = TransformerConfig(5, 7, d_model=6, n_head=3, d_ff=10)
    with pytest.raises(ValueError, match="shared: one table needs one vocabulary, got sizes 5 and 7"):
        parameter_count(config, shared=True)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        dimension_ledger(config, n=0, m=1)
    with pytest.raises(TypeError, match=r"m must be an integer, got 1\.5"):
        dimension_ledger(config, n=1, m=1.5)  # type: ignore[arg-type]
