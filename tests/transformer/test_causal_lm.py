"""The model on whole texts: against NumPy written out, the future, padding, a window, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.rotary import rotated
from onesentence.numerics import softmax
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.layer_norm import layer_norm

V, C = 7, 8
IDS = torch.tensor([[3, 1, 4, 1, 5], [2, 6, 5, 3, 5]])


def drawn(hostile: Any, **settings: Any) -> CausalLM:
    out: CausalLM = hostile(CausalLM(CausalConfig(V, **{"d_model": C, "n_head": 2, "d_ff": 12} | settings)))
    return out.eval()


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach(), expected.detach(), rtol=0, atol=atol)


def by_hand(model: CausalLM, ids: list[int]) -> Any:
    """The same model for one row, query by query and head by head, from its weights alone."""
    config, D = model.config, model.config.head_size
    H, G = config.n_head, config.key_heads
    weights = {name: value.detach().numpy() for name, value in model.named_parameters()}

    def turned(x: Any, position: int) -> Any:
        return rotated(x, position, base=config.rope_base)

    def norm(x: Any, name: str) -> Any:
        return layer_norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def read(y: Any, name: str) -> Any:
        q, k, v = np.split(y @ weights[f"{name}.project.weight"].T, [H * D, (H + G) * D], axis=-1)
        heads = np.zeros((len(ids), H * D))
        for h in range(H):
            own, shared = slice(h * D, (h + 1) * D), slice(h // (H // G) * D, (h // (H // G) + 1) * D)
            for i in range(len(ids)):
                first = 0 if config.window is None else max(0, i - config.window + 1)
                places = range(first, i + 1)
                if config.positions == "rope":
                    scores = [turned(q[i, own], i) @ turned(k[j, shared], j) for j in places]
                else:
                    scores = [q[i, own] @ k[j, shared] for j in places]
                heads[i, own] = softmax(np.array(scores) / D**0.5) @ v[first : i + 1, shared]
        return heads @ weights[f"{name}.merge.weight"].T

    def ffn(y: Any, name: str) -> Any:
        hidden = np.maximum(y @ weights[f"{name}.widen.weight"].T + weights[f"{name}.widen.bias"], 0)
        return hidden @ weights[f"{name}.narrow.weight"].T + weights[f"{name}.narrow.bias"]

    table = weights["tokens.weight"]
    x = table[ids] * C**0.5
    for block in (f"blocks.{i}" for i in range(config.layers)):
        sublayers = {
            "around_attention": lambda y, b=block: read(y, f"{b}.attention"),
            "around_ffn": lambda y, b=block: ffn(y, f"{b}.ffn"),
        }
        for around, f in sublayers.items():
            name = f"{block}.{around}.norm"
            x = x + f(norm(x, name)) if config.order == "pre" else norm(x + f(x), name)
    if config.order == "pre":
        x = norm(x, "last")
    return x @ (table if config.tied else weights["head.weight"]).T


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_kv_head": 1, "rope_base": 50.0},
        {"positions": "none", "order": "post", "tied": False},
        {"n_head": 4, "n_kv_head": 2, "window": 3, "layers": 3},
    ],
)
def test_model_equals_numpy_written_out(settings: dict[str, Any], hostile: Any) -> None:
    model = drawn(hostile, **settings)
    for row, logits in zip(IDS, model(IDS), strict=True):
        np.testing.assert_allclose(logits.detach(), by_hand(model, row.tolist()), rtol=0, atol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"positions": "none"}, {"window": 2}])
def test_model_does_not_see_the_future(settings: dict[str, Any], hostile: Any) -> None:
    model = drawn(hostile, **settings)
    before = model(IDS)
    for place in range(5):
        changed = IDS.clone()
        changed[:, place] = (changed[:, place] + 1) % V
        after = model(changed)
        close(after[:, :place], before[:, :place], 0.0)
        assert (after - before).abs().amax(dim=-1)[:, place].min() > 1e-6


def test_model_through_a_window_forgets(hostile: Any) -> None:
    model = drawn(hostile, window=2, layers=1)
    changed = IDS.clone()
    changed[:, 0] = 0
    difference = (model(changed) - model(IDS)).abs().amax(dim=-1)
    assert (difference > 1e-9).tolist() == [[True, True, False, False, False]] * 2


PADDED = torch.tensor(
    [[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 0, 0, 0], [1] * 8]
).bool()


@pytest.mark.parametrize(
    "settings", [{}, {"n_kv_head": 1, "window": 2}, {"positions": "none", "order": "post"}]
)
def test_model_does_not_see_padding(settings: dict[str, Any], hostile: Any) -> None:
    model, text = drawn(hostile, **settings), torch.tensor([5, 2, 6])
    ids = torch.full(PADDED.shape, 99)  # no symbol: what stands at padding is not looked at
    ids[PADDED] = torch.cat([text, text, text, torch.tensor([1, 2, 3, 4, 5, 6, 0, 1])])
    logits, alone = model(ids, real=PADDED), model(text[None])[0]
    for row in range(3):
        close(logits[row][PADDED[row]], alone)
    close(logits[3], model(ids[3:])[0])
    assert logits.isfinite().all()


def test_model_trains_every_parameter_with_padding(hostile: Any) -> None:
    model = drawn(hostile, n_kv_head=1, tied=False)
    ids, real = torch.randint(V, (4, 8), generator=torch.Generator().manual_seed(0)), PADDED
    logits = model(ids, real=real)
    torch.nn.functional.cross_entropy(logits[real], ids[real]).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


def test_model_by_another_reader_gives_the_same_logits(hostile: Any) -> None:
    model = drawn(hostile, n_kv_head=1)
    for name in ("sdpa", "reference", "tiled"):
        close(model(IDS, reader=name), model(IDS), 1e-12)
    real = torch.tensor([[False, True, True, True, False], [True] * 5])
    close(model(IDS, real=real, reader="reference"), model(IDS, real=real), 1e-12)
    with pytest.raises(ValueError, match="reader 'reference' needs one mask for all queries"):
        drawn(hostile, window=2)(IDS, reader="reference")
    with pytest.raises(TypeError, match=r"q must be float16, bfloat16 or float32, got torch\.float64"):
        model(IDS, reader="triton")


def test_model_drops_in_training_only() -> None:
    model = CausalLM.initial(CausalConfig(V, d_model=C, n_head=2, d_ff=12, dropout=0.5), seed=0)
    assert not torch.equal(model(IDS), model(IDS))
    model.eval()
    assert torch.equal(model(IDS), model(IDS))


def test_initial_is_the_seeds_and_leaves_the_generator() -> None:
    config, before = CausalConfig(V, d_model=C, n_head=2), torch.random.get_rng_state()
    one, two, other = (CausalLM.initial(config, seed=seed) for seed in (4, 4, 5))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(one(IDS), two(IDS))
    assert not torch.equal(one(IDS), other(IDS))


def test_initial_draws_embeddings_and_projections_of_their_sizes() -> None:
    model = CausalLM.initial(CausalConfig(500, d_model=64, n_head=4, n_kv_head=2, layers=1), seed=0)
    assert float(model.tokens.weight.detach().std()) == pytest.approx(64**-0.5, rel=0.02)
    bound = (6 / (64 + 128)) ** 0.5  # Glorot and Bengio's: 64 inputs, (4 + 2 + 2) 16 outputs
    assert 0.99 * bound < float(model.blocks[0].attention.project.weight.detach().abs().max()) <= bound


BAD: list[tuple[Any, Any, type[Exception], str]] = [
    (IDS[0], {}, ValueError, r"ids must have shape \(B, T\), got \(5,\)"),
    (IDS[:, :0], {}, ValueError, r"ids must not be empty, got shape \(2, 0\)"),
    (IDS + 1, {}, ValueError, r"ids must lie in \[0, 7\), got 7"),
    (IDS.double(), {}, TypeError, r"ids must be a tensor of int64 or int32, got torch\.float64"),
    (IDS.to(torch.uint8), {}, TypeError, r"ids must be a tensor of int64 or int32, got torch\.uint8"),
    ([[1, 2]], {}, TypeError, r"ids must be a tensor of int64 or int32, got list"),
    (IDS, {"real": IDS}, TypeError, r"real must be boolean \(True = a token\), got torch\.int64"),
    (IDS, {"real": IDS[:1] > 0}, ValueError, r"real must have the shape of ids, \(2, 5\), got \(1, 5\)"),
    (IDS, {"reader": "flash"}, ValueError, "reader: expected one of .*sdpa.*, got 'flash'"),
]


@pytest.mark.parametrize(("ids", "more", "kind", "message"), BAD)
def test_model_refuses(ids: Any, more: Any, kind: type[Exception], message: str, hostile: Any) -> None:
    with pytest.raises(kind, match=message):
        drawn(hostile)(ids, **more)


def test_dropout_falls_on_embeddings_in_training_only() -> None:
    model = CausalLM.initial(CausalConfig(5, d_model=64, n_head=2, d_ff=8, dropout=0.5), seed=0)
    zeros: list[int] = []
    model.blocks[0].register_forward_pre_hook(lambda _, args: zeros.append(int((args[0] == 0).sum())))
    for mode in (True, False):
        model.train(mode)(torch.tensor([[1, 2]]))
    assert 0 < zeros[0] < 128
    assert zeros[1] == 0
