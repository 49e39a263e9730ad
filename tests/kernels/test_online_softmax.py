"""The state of an online softmax: by hand, its laws, every splitting, masks, the range of scores, refusals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.kernels.online_softmax import State, empty, merge, of_block, rescale, trace, update
from onesentence.numerics import FloatArray, logsumexp, softmax

pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")

INF, LN2, LN3 = math.inf, math.log(2), math.log(3)
SCORES, VALUES = np.array([0, LN2, LN3]), np.array([[2.0], [4.0], [8.0]])
LARGEST = float(np.finfo(np.float64).max)

score = st.one_of(st.floats(-3, 3), st.sampled_from([-INF, -1e4, 1e4, 0.0]))
rows = st.lists(st.tuples(score, st.floats(-4, 4), st.floats(-4, 4)), max_size=6)


def arrays(drawn: list[tuple[float, float, float]]) -> tuple[FloatArray, FloatArray]:
    table = np.array(drawn, dtype=np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1:]


def same(a: State, b: State, rtol: float = 1e-13) -> None:
    for name in ("m", "l", "u"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12, err_msg=name)


def test_trace_of_the_example_by_hand() -> None:
    first, second = trace([(SCORES[:2], VALUES[:2]), (SCORES[2:], VALUES[2:])])
    assert (first.state.m, first.state.l) == (LN2, 1.5)
    assert first.state.u.tolist() == [5.0]  # 1/2 * 2 + 1 * 4
    assert first.rescale == 0
    assert second.rescale == pytest.approx(2 / 3, abs=1e-15)
    assert second.state.m == LN3
    assert second.state.l == pytest.approx(2, abs=1e-15)  # 2/3 * 3/2 + 1
    assert second.state.u[0] == pytest.approx(34 / 3, abs=1e-14)  # 2/3 * 5 + 8
    assert second.state.output[0] == pytest.approx(17 / 3, abs=1e-14)
    assert second.state.lse == pytest.approx(math.log(6), abs=1e-15)
    assert [float(np.exp(step.block.lse)) for step in (first, second)] == pytest.approx([3, 3], abs=1e-14)
    assert [step.block.output[0] for step in (first, second)] == pytest.approx([10 / 3, 8], abs=1e-14)


def test_trace_ends_where_update_and_merge_do() -> None:
    cuts = [slice(0, 2), slice(2, 3), slice(3, 3), slice(3, 7)]
    s, v = np.sin(np.arange(7.0) * 9), np.cos(np.arange(21.0)).reshape(7, 3)
    steps = trace((s[cut], v[cut]) for cut in cuts)
    state = empty((), 3)
    for cut, step in zip(cuts, steps, strict=True):
        state = update(state, s[cut], v[cut])
        same(step.state, state, 0)
        same(step.block, of_block(s[cut], v[cut]), 0)
    same(merge(merge(steps[0].block, steps[1].block), steps[3].block), state)
    assert steps[2].rescale == 1  # an empty block changes nothing


@given(rows, st.lists(st.integers(0, 6), max_size=4))
def test_update_by_any_splitting_is_the_softmax_of_the_whole(
    drawn: list[tuple[float, float, float]], cuts: list[int]
) -> None:
    s, v = arrays(drawn)
    places = [0, *sorted(min(cut, len(s)) for cut in cuts), len(s)]
    state = empty((), 2)
    for a, b in itertools.pairwise(places):
        state = update(state, s[a:b], v[a:b])
    np.testing.assert_allclose(state.output, softmax(s) @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(state.lse, logsumexp(s), rtol=1e-13, atol=1e-13)


@given(rows, rows, rows)
def test_merge_is_commutative_and_associative(a: Any, b: Any, c: Any) -> None:
    x, y, z = (of_block(*arrays(drawn)) for drawn in (a, b, c))
    same(merge(x, y), merge(y, x), 0)
    same(merge(merge(x, y), z), merge(x, merge(y, z)))
    same(merge(merge(x, y), z), of_block(*arrays([*a, *b, *c])))


@given(rows)
def test_empty_and_masked_blocks_are_neutral(drawn: Any) -> None:
    x = of_block(*arrays(drawn))
    masked = of_block([1e4, 5.0], [[1.0, 2.0], [3.0, 4.0]], mask=[False, False])
    for nothing in (empty((), 2), masked, of_block([-INF], [[7.0, 7.0]]), of_block([], np.zeros((0, 2)))):
        for both in (merge(x, nothing), merge(nothing, x)):
            for name in ("m", "l", "u"):
                np.testing.assert_array_equal(getattr(both, name), getattr(x, name))
    after = update(x, [1e4, -INF], np.ones((2, 2)), mask=[False, True])
    for name in ("m", "l", "u"):
        np.testing.assert_array_equal(getattr(after, name), getattr(x, name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_update_of_many_queries_with_vector_values_and_masked_rows(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    s, v = rng.normal(size=(2, 3, 4, 9)).astype(dtype), rng.normal(size=(2, 1, 9, 5)).astype(dtype)
    mask = rng.random((2, 1, 4, 9)) < 0.6
    mask[0, 0, 1], mask[1, 0, 2, :6] = (
        False,
        False,
    )  # a query that reads nothing, and one whose first blocks are closed
    state = empty((2, 3, 4), 5, dtype)
    for a in range(0, 9, 4):
        block = slice(a, a + 4)
        state = update(state, s[..., block], v[..., block, :], mask[..., block])
    assert {state.m.dtype, state.l.dtype, state.u.dtype, state.output.dtype, state.lse.dtype} == {
        np.dtype(dtype)
    }
    close = 1e-6 if dtype == np.float32 else 1e-14
    np.testing.assert_allclose(state.output, softmax(s, where=mask) @ v, atol=close, rtol=close)
    np.testing.assert_allclose(state.lse, logsumexp(np.where(mask, s, -INF)), rtol=close)
    assert (state.output[0, :, 1] == 0).all()
    assert (state.lse[0, :, 1] == -INF).all()


@pytest.mark.parametrize("s", [[1e4, -1e4, 1e4], [-1e4, -1e4, 1e4], [LARGEST, -LARGEST, 0.0]])
def test_scores_far_apart_stay_exact(s: list[float]) -> None:
    whole = softmax(s) @ VALUES
    steps = trace(([one], VALUES[i : i + 1]) for i, one in enumerate(s))
    assert steps[-1].state.output.tolist() == whole.tolist()
    backwards = merge(steps[2].block, merge(steps[1].block, steps[0].block))
    assert backwards.output.tolist() == whole.tolist()


def test_rescale_of_nothing_is_zero_and_of_the_same_is_one() -> None:
    old, new = np.array([-INF, -INF, 5.0, -LARGEST]), np.array([-INF, 3.0, 5.0, LARGEST])
    assert rescale(old, new).tolist() == [0, 0, 1, 0]


def test_state_does_not_depend_on_what_is_masked() -> None:
    state = of_block([1.0, math.nan], [[1.0], [2.0]], mask=[True, False])
    assert state.output.tolist() == [1.0]


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: of_block(1.0, VALUES), ValueError, r"scores must have shape \(N,\) or \(\.\.\., T, N\)"),
    (
        lambda: of_block(SCORES, VALUES[:2]),
        ValueError,
        r"values must have .* scores of shape \(3,\) say, got \(2, 1\)",
    ),
    (lambda: of_block(SCORES, VALUES[:, 0]), ValueError, r"values must have shape .* got \(3,\)"),
    (lambda: of_block(SCORES, VALUES[None]), ValueError, r"values must have shape .* got \(1, 3, 1\)"),
    (
        lambda: of_block(np.zeros((2, 4, 3)), np.zeros((3, 3, 1))),
        ValueError,
        r"values must .* got \(3, 3, 1\)",
    ),
    (lambda: of_block([0.0, math.nan, 1.0], VALUES), ValueError, "scores must be free of NaN and"),
    (lambda: of_block([0.0, INF, 1.0], VALUES), ValueError, "scores must be free of NaN and"),
    (lambda: of_block(SCORES, [[0.0], [INF], [1.0]]), ValueError, "values must be finite"),
    (lambda: of_block(["a"], [[0.0]]), TypeError, "scores must hold real numbers"),
    (lambda: of_block(SCORES, VALUES, mask=[1, 0, 1]), TypeError, "mask must be boolean"),
    (lambda: of_block(SCORES, VALUES, mask=[True, False]), ValueError, r"mask must broadcast to \(3,\)"),
    (
        lambda: update(empty((), 2), SCORES, VALUES),
        ValueError,
        r"state: expected .* \(1,\), as what is added says, got \(2,\)",
    ),
    (
        lambda: merge(empty((2,), 1), empty((3,), 1)),
        ValueError,
        r"state: expected .* \(3, 1\), .* got \(2, 1\)",
    ),
    (lambda: trace([]), ValueError, "blocks must hold at least one block"),
    (lambda: empty((), 0), ValueError, "Dv must be at least 1, got 0"),
    (lambda: empty((), 1, np.float16), TypeError, "be float32 or all float64, got .'float16'"),
    (
        lambda: of_block([0.0, 0.0], [[LARGEST], [LARGEST]]),
        ValueError,
        "u leaves the range of float64; values must be",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_blocks_refuse_what_does_not_fit(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    ("m", "l", "u", "message"),
    [
        (-INF, 0.0, [[1.0]], r"m, l and u must have shapes"),
        (0.0, 0.5, [1.0], "m and l must be -inf and 0, or finite and at least 1"),
        (-INF, 1.0, [0.0], "m and l must be -inf and 0, or finite and at least 1"),
        (-INF, 0.5, [0.0], "m and l must be -inf and 0, or finite and at least 1"),
        (0.0, INF, [1.0], "m and l must be -inf and 0, or finite and at least 1"),
        (math.nan, 1.0, [1.0], "m and l must be -inf and 0, or finite and at least 1"),
        (INF, 1.0, [1.0], "m and l must be -inf and 0, or finite and at least 1"),
        (-INF, 0.0, [1.0], "u must be 0 where m is -inf"),
    ],
)
def test_state_refuses_what_is_no_state(m: float, l: float, u: Any, message: str) -> None:  # noqa: E741
    with pytest.raises(ValueError, match=message):
        State(np.asarray(m), np.asarray(l), np.asarray(u))


def test_of_block_takes_the_wider_dtype() -> None:
    narrow = np.zeros((2, 1), np.float32)
    wide = [of_block([0.0, 0.0], narrow), of_block(narrow[:, 0], [[0.0], [0.0]])]
    assert {part.dtype for state in wide for part in (state.m, state.l, state.u)} == {np.dtype(np.float64)}


def test_state_refuses_several_dtypes() -> None:
    with pytest.raises(TypeError, match=r"be float32 or all float64, got \['float32', 'float64'\]"):
        State(np.zeros(2), np.ones(2, np.float32), np.zeros((2, 1)))
