"""What overflows or does not fit is refused by name; dtypes stay; inputs are left as they were."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from onesentence.attention.gradient import read_gradients, weighted_sum_gradients
from onesentence.attention.inputs import checked_scale, sum_to
from onesentence.attention.read import read
from onesentence.attention.scorers import Additive, Dot, General, Linear

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 5))
SCORERS = {
    "dot": Dot(3),
    "general": General(np.eye(3)),
    "additive": Additive(W=np.full((2, 3), 1e200), U=np.ones((2, 3)), b=np.zeros(2), v=np.full(2, 1e200)),
    "linear": Linear(w_q=np.full(3, 1e200), w_k=np.ones(3), b=0.0),
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
def test_read_equals_torchs_attention_with_gradients(masked: bool, scale: float | None) -> None:
    mask = np.array([[True, False, True, True], [False, True, True, False]]) if masked else None
    q, k, v = (torch.from_numpy(x)[None].requires_grad_() for x in (Q, K, V))
    allowed = None if mask is None else torch.from_numpy(mask)
    theirs = scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale)
    np.testing.assert_allclose(
        read(Q, K, V, mask=mask, scale=scale).context, theirs[0].detach(), rtol=0, atol=1e-12
    )
    g = RNG.normal(size=(2, 5))
    (theirs * torch.from_numpy(g)).sum().backward()
    ours = read_gradients(Q, K, V, g, mask=mask, scale=scale)
    for one, other in ((ours.q, q), (ours.k, k), (ours.v, v)):
        np.testing.assert_allclose(one, other.grad[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["dot", "general", "linear"])
def test_scores_refuse_what_overflows(name: str) -> None:
    with pytest.raises(ValueError, match="leaves the range of float64"):
        SCORERS[name].scores(Q * 1e200, K * 1e200)


def test_additive_scores_refuse_what_overflows_and_saturate_before() -> None:
    scorer: Any = SCORERS["additive"]
    np.testing.assert_allclose(np.abs(scorer.scores(Q, K)), 2e200)
    with pytest.raises(ValueError, match=r"v \. tanh\(W q \+ U k \+ b\) leaves the range of float64"):
        Additive(scorer.W, -scorer.W, scorer.b, scorer.v).scores(
            np.full((1, 3), 1e200), np.full((1, 3), 1e200)
        )


@pytest.mark.parametrize("name", SCORERS)
def test_backward_refuses_gradients_that_overflow(name: str) -> None:
    size = 1e-300 if name == "additive" else 1e10  # a larger one saturates the tanh
    with pytest.raises(ValueError, match=r"the gradient of \w+ leaves the range of float64"):
        SCORERS[name].backward(Q * size, K * size, np.full((2, 4), 1e308))


def test_weighted_sum_gradients_refuse_what_overflows() -> None:
    with pytest.raises(ValueError, match="the gradient of the scores leaves the range of float64"):
        weighted_sum_gradients([[0.25, 0.75]], [[1e200], [-1e200]], [[1e200]])
    with pytest.raises(ValueError, match=r"the gradient of v leaves the range of float64"):
        weighted_sum_gradients([[1.0], [1.0]], [[0.0]], [[1.5e308], [1.5e308]])


@pytest.mark.parametrize("scale", [None, 1.0, Fraction(1, 2), 2])
def test_dot_keeps_float32_forth_and_back(scale: Any) -> None:
    q, k = Q.astype(np.float32), K.astype(np.float32)
    scorer, de = Dot(3, scale), np.ones((2, 4), np.float32)
    assert scorer.scores(q, k).dtype == np.float32
    of = scorer.backward(q, k, de)
    assert (of.q.dtype, of.k.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(of.q, np.float32(checked_scale(scale, 3)) * (de @ k), rtol=1e-6)


def test_scale_refuses_an_integer_that_is_no_float() -> None:
    for make in (lambda: Dot(3, 10**400), lambda: read(Q, K, V, scale=10**400)):
        with pytest.raises(ValueError, match="scale must be finite, got an integer beyond the range"):
            make()


def test_dot_of_any_width_is_made_at_once() -> None:
    assert Dot(10**12).multiplications(1, 1) == 10**12


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ((-1, 3), ValueError, "T must be at least 0, got -1"),
        ((2, 1.5), TypeError, "S must be an integer, got 1.5"),
        ((True, 3), TypeError, "T must be an integer, got True"),
    ],
)
def test_multiplications_refuse(name: str, sizes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SCORERS[name].multiplications(*sizes)
    many = SCORERS[name].multiplications(np.int8(100), np.int8(100))  # no overflow in int8
    assert many == SCORERS[name].multiplications(100, 100)


@pytest.mark.parametrize("shape", [(4,), (5, 4, 3), (3, 3), (2, 4)])
def test_sum_to_refuses_a_shape_that_was_not_broadcast(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"shape must broadcast to the gradient's, \(2, 3\), got"):
        sum_to(np.ones((2, 3)), shape)


@pytest.mark.parametrize("name", SCORERS)
def test_read_only_and_strided_inputs_are_read_and_left(name: str) -> None:
    wide = np.asfortranarray(RNG.normal(size=(6, 8)))
    q, k = wide[::-3, 1:7:2], wide[:4, ::3]
    q.flags.writeable = k.flags.writeable = False
    before, de = (q.copy(), k.copy()), np.ones((2, 4))
    of, copied = SCORERS[name].backward(q, k, de * 1e-210), SCORERS[name].backward(*before, de * 1e-210)
    np.testing.assert_allclose(SCORERS[name].scores(q, k), SCORERS[name].scores(*before), rtol=1e-12)
    np.testing.assert_allclose(of.q, copied.q, rtol=1e-12)
    np.testing.assert_array_equal(q, before[0])
    np.testing.assert_array_equal(k, before[1])
