"""Tiled attention and its gradients against the reference, PyTorch's autograd, finite differences and hand counts."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.kernels import reference, teaching
from onesentence.kernels.teaching import attention, attention_by_keys, gradients
from onesentence.numerics import FloatArray, numerical_gradient

pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")

LENGTHS = (1, 7, 17, 63, 64, 65)
Drawn = tuple[FloatArray, FloatArray, FloatArray]


def drawn(B: int, H: int, G: int, T: int, S: int, D: int, seed: int = 0, dtype: Any = np.float64) -> Drawn:
    rng = np.random.default_rng(seed)
    shapes = (B, H, T, D), (B, G, S, D), (B, G, S, D)
    q, k, v = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    return q, k, v


def theirs(
    parts: Drawn, do: FloatArray | None = None, **how: Any
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return output and log-sum-exp of the reference, and PyTorch's gradients."""
    tensors = [torch.from_numpy(part).requires_grad_() for part in parts]
    if how.get("real") is not None:
        how["real"] = torch.from_numpy(how["real"])
    o, lse = reference.attention(*tensors, **how)
    if do is not None:
        o.backward(torch.from_numpy(do))
    made = [tensor.grad.numpy() for tensor in tensors if tensor.grad is not None]
    return [o.detach().numpy(), lse.detach().numpy()], made


def compare(parts: Drawn, *, block_q: int, block_k: int, atol: float = 1e-12, **how: Any) -> None:
    do = np.random.default_rng(9).normal(size=parts[0].shape).astype(parts[0].dtype)
    read, expected = theirs(parts, do, **how)
    for function in (attention, attention_by_keys):
        for mine, other in zip(function(*parts, block_q=block_q, block_k=block_k, **how), read, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, rtol=0, atol=atol, err_msg=function.__name__)
    made = gradients(*parts, *read, do, block_q=block_k, block_k=block_q, **how)
    for name, mine, other in zip(("dq", "dk", "dv"), made, expected, strict=True):
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(mine, other, rtol=0, atol=10 * atol, err_msg=name)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("S", LENGTHS)
@pytest.mark.parametrize("T", LENGTHS)
def test_attention_and_gradients_are_the_references(T: int, S: int, causal: bool) -> None:
    compare(drawn(1, 2, 1, T, S, 5), causal=causal, block_q=16, block_k=24)


@given(st.data())
def test_attention_and_gradients_with_any_sizes_blocks_and_padding(data: st.DataObject) -> None:
    B, G, group, T, S, D = (data.draw(st.integers(1, high)) for high in (2, 2, 3, 7, 9, 5))
    real = data.draw(st.none() | st.lists(st.booleans(), min_size=B * S, max_size=B * S))
    how = {
        "causal": data.draw(st.booleans()),
        "real": None if real is None else np.array(real).reshape(B, S),
        "scale": data.draw(st.sampled_from([None, 1.0, -0.5, 0.0])),
    }
    parts = drawn(B, G * group, G, T, S, D, seed=data.draw(st.integers(0, 3)))
    block_q, block_k = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 10))
    compare(parts, block_q=block_q, block_k=block_k, **how)


@pytest.mark.parametrize("D", [1, 3, 48, 80])
def test_attention_and_gradients_of_any_head_size_in_float32(D: int) -> None:
    compare(
        drawn(2, 4, 2, 9, 13, D, dtype=np.float32), causal=True, block_q=4, block_k=5, atol=1e-5
    )  # all in float32


@pytest.mark.parametrize("function", [attention, attention_by_keys])
def test_queries_that_read_nothing_are_zero_and_pass_no_gradient(function: Any) -> None:
    parts = drawn(2, 2, 1, 5, 3, 4)
    real = np.array([[False, True, True], [False, False, False]])
    o, lse = function(*parts, causal=True, real=real, block_q=2, block_k=2)
    nothing = np.zeros((2, 2, 5), dtype=bool)
    nothing[0, :, :3] = nothing[1] = True  # two stand before the keys, the third reads padding only
    assert (o[nothing] == 0).all()
    assert (lse[nothing] == -np.inf).all()
    assert np.isfinite(lse[~nothing]).all()
    dq, dk, dv = gradients(*parts, o, lse, np.ones_like(o), causal=True, real=real, block_q=2, block_k=2)
    assert (dq[nothing] == 0).all()
    assert (dk[:, 0][~real] == 0).all()
    assert (dv[:, 0][~real] == 0).all()
    assert dv[:, 0][real].all()


def test_attention_of_the_example_by_hand() -> None:
    k, v = np.log([[[[1.0], [2.0], [3.0]]]]), np.array([[[[2.0], [4.0], [8.0]]]])
    o, lse = attention(np.ones((1, 1, 1, 1)), k, v, block_k=2)
    assert o.item() == pytest.approx(17 / 3, abs=1e-14)
    assert np.exp(lse).item() == pytest.approx(6, abs=1e-14)
    dq, dk, dv = gradients(np.ones((1, 1, 1, 1)), k, v, o, lse, np.ones((1, 1, 1, 1)), block_k=2)
    np.testing.assert_allclose(dv.ravel(), [1 / 6, 2 / 6, 3 / 6], atol=1e-14)
    np.testing.assert_allclose(dk.ravel(), np.array([-11, -10, 21]) / 18, atol=1e-14)  # P (v - 17/3)
    assert dq.item() == pytest.approx((-10 * np.log(2) + 21 * np.log(3)) / 18, abs=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_finite_differences(causal: bool) -> None:
    parts = drawn(1, 2, 1, 4, 5, 2)
    how: dict[str, Any] = {
        "causal": causal,
        "real": np.array([[True, True, False, True, True]]),
        "block_q": 3,
        "block_k": 2,
    }
    do = np.random.default_rng(1).normal(size=parts[0].shape)
    made = gradients(*parts, *attention(*parts, **how), do, **how)
    for place, mine in enumerate(made):

        def loss(x: FloatArray, place: int = place) -> float:
            changed = [*parts]
            changed[place] = x
            return float((attention(*changed, **how)[0] * do).sum())

        np.testing.assert_allclose(mine, numerical_gradient(loss, parts[place]), rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("T", "S", "block_q", "block_k", "causal", "tiles"),
    [
        (8, 8, 2, 2, False, 16),
        (8, 8, 2, 2, True, 10),  # 1 + 2 + 3 + 4
        (8, 8, 4, 2, True, 6),  # keys 0-3, then 0-7
        (7, 7, 2, 3, True, 8),  # queries up to 1, 3, 5 and 6 read 1, 2, 2 and 3 blocks
        (2, 9, 2, 4, True, 3),  # queries at keys 7 and 8
        (4, 2, 2, 1, True, 2),  # the first two stand before all keys
        (1, 9, 1, 4, True, 3),
    ],
)
def test_causal_visits_no_tile_that_it_closes(
    T: int, S: int, block_q: int, block_k: int, causal: bool, tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, visited = drawn(1, 1, 1, T, S, 2), []
    scores = teaching._Read.scores

    def counted(read: Any, rows: slice, keys: slice) -> FloatArray:
        visited.append((rows.start, keys.start))
        return scores(read, rows, keys)

    monkeypatch.setattr(teaching._Read, "scores", counted)
    how = {"causal": causal, "block_q": block_q, "block_k": block_k}
    read = attention(*parts, **how)
    outer_queries, visited[:] = visited[:], []
    attention_by_keys(*parts, **how)
    outer_keys, visited[:] = visited[:], []
    gradients(*parts, *read, np.ones_like(read[0]), **how)
    assert len(set(outer_queries)) == len(outer_queries) == tiles
    assert outer_queries == sorted(outer_queries)
    assert outer_keys == sorted(outer_queries, key=lambda tile: tile[::-1])
    assert visited == outer_keys


def test_attention_does_not_see_the_future_or_the_padding() -> None:
    q, k, v = drawn(1, 2, 2, 6, 6, 3)
    real = np.array([[True, False, True, True, True, True]])
    before = attention(q, k, v, causal=True, real=real, block_q=2, block_k=4)[0]
    k[:, :, 1], v[:, :, 1] = 50, 1e300
    k[:, :, 4:], v[:, :, 4:] = 90, -1e300
    after = attention(q, k, v, causal=True, real=real, block_q=2, block_k=4)[0]
    assert (after[:, :, :4] == before[:, :, :4]).all()


def test_scores_far_apart_stay_exact() -> None:
    q, k = np.full((1, 1, 1, 1), 1e4), np.array([[[[1.0], [-1.0], [1.0], [0.5]]]])
    v = np.arange(4.0).reshape(1, 1, 4, 1)
    o, lse = attention(q, k, v, block_k=1)
    assert (o.item(), lse.item()) == (1.0, pytest.approx(1e4 + np.log(2)))
    dq, dk, dv = gradients(q, k, v, o, lse, np.ones_like(o), block_k=1)
    np.testing.assert_allclose(dv.ravel(), [0.5, 0, 0.5, 0], atol=1e-11)
    np.testing.assert_allclose(dk.ravel(), [-5e3, 0, 5e3, 0], atol=1e-7)
    np.testing.assert_allclose(dq, 0, atol=1e-10)


def test_no_table_of_all_scores_stands_in_memory() -> None:
    T, parts = 512, drawn(1, 1, 1, 512, 512, 2)
    read, table = attention(*parts, block_q=32, block_k=32), 8 * T * T
    for call in (attention, attention_by_keys, gradients):
        given = (*parts, *read, read[0]) if call is gradients else parts
        tracemalloc.start()
        call(*given, block_q=32, block_k=32)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < table / 20, call.__name__


Q, K, V = drawn(1, 4, 2, 3, 5, 8)
OUT, LSE = attention(Q, K, V)
BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: attention(Q[:, :3], K, V), ValueError, "q must have a multiple of the 2 heads of k, got 3"),
    (lambda: attention(Q, K, V[:, :, :4]), ValueError, r"v must have shape \(1, G, 5, 8\)"),
    (lambda: attention(Q, K.astype(np.float32), V), TypeError, "k must have the dtype of q, float64, got"),
    (lambda: attention(Q, K, V, real=np.ones((1, 4), bool)), ValueError, r"real must have shape \(1, 5\)"),
    (lambda: attention(Q, K, V, real=np.ones((1, 5))), TypeError, "real must be boolean"),
    (lambda: attention(Q, K, V, scale=np.inf), ValueError, "scale must be finite"),
    (lambda: attention(Q, K, V, block_q=0), ValueError, "block_q must be at least 1, got 0"),
    (lambda: attention_by_keys(Q, K, V, block_k=2.0), TypeError, "block_k must be an integer, got 2.0"),
    (lambda: attention(Q * np.nan, K, V), ValueError, "q must be finite"),
    (lambda: attention(Q, K, V * np.nan), ValueError, "v must be finite"),
    (lambda: attention(Q * 1e200, K * 1e200, V), ValueError, r"scale \* q \. k leaves the range of float64"),
    (
        lambda: gradients(Q, K, V, OUT[:, :2], LSE, OUT),
        ValueError,
        r"o must have shape \(1, 4, 3, 8\), got \(1, 2",
    ),
    (
        lambda: gradients(Q, K, V, OUT, LSE[..., :2], OUT),
        ValueError,
        r"lse must have shape \(1, 4, 3\), got \(1, 4, 2\)",
    ),
    (
        lambda: gradients(Q, K, V, OUT, LSE, OUT[..., :1]),
        ValueError,
        r"do must have shape \(1, 4, 3, 8\), got",
    ),
    (lambda: gradients(Q, K, V, OUT, LSE * np.nan, OUT), ValueError, r"lse must be free of NaN and \+inf"),
    (lambda: gradients(Q, K, V, OUT, LSE, OUT * np.nan), ValueError, "do must be finite"),
    (
        lambda: gradients(Q, K, V, OUT, LSE, 1e308 * np.sign(OUT)),
        ValueError,
        "d[qkv] leaves the range of float64",
    ),
    (
        lambda: gradients(Q * 1e4, K, V, OUT, LSE, OUT),
        ValueError,
        r"exp\(scale \* q \. k - lse\) leaves the range",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_attention_and_gradients_refuse(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
