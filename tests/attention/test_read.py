"""The attention read against hand-worked values, PyTorch, SciPy and its own laws."""

import dataclasses
import doctest
import math

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from onesentence.attention import read as read_module
from onesentence.attention.read import Read, dot_scores, output_distribution, read
from onesentence.numerics import cross_entropy

E = math.e
Q = [1, 0]
K = [[1, 0], [0, 1], [1, 1]]
V = [[2, 0], [0, 4], [1, 2]]
G = [[2, 0, 0], [0, 1, 0]]
Z = 2 * E + 1  # the denominator of the three exponentials e, 1, e

elements = st.floats(-10, 10)
queries = arrays(np.float64, (2, 3), elements=elements)
keys = arrays(np.float64, (5, 3), elements=elements)
values = arrays(np.float64, (5, 2), elements=elements)
masks = arrays(np.bool_, (2, 5))


pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")


@pytest.fixture
def rng():
    return np.random.default_rng(20170612)


def close(actual, expected, atol=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


# --- the worked example --------------------------------------------------------------------------


def test_read_values_by_hand():
    r = read(Q, K, V)
    np.testing.assert_array_equal(r.scores, [1, 0, 1])
    close(r.weights, [E / Z, 1 / Z, E / Z], atol=1e-15)
    close(r.context, [3 * E / Z, (4 + 2 * E) / Z], atol=1e-15)
    close(r.weights, [0.422319, 0.155362, 0.422319], atol=5e-7)
    close(r.context, [1.266956, 1.466087], atol=5e-7)


def test_output_distribution_values_by_hand():
    logits, probabilities = output_distribution(read(Q, K, V).context, G)
    close(logits, [6 * E / Z, (4 + 2 * E) / Z, 0], atol=1e-15)
    exponentials = np.exp([6 * E / Z, (4 + 2 * E) / Z, 0])
    close(probabilities, exponentials / exponentials.sum(), atol=1e-15)
    close(logits, [2.533913, 1.466087, 0], atol=5e-7)
    close(probabilities, [0.702690, 0.241553, 0.055757], atol=5e-7)
    assert cross_entropy(logits, 0) == pytest.approx(0.352840, abs=5e-7)


def test_read_changing_the_query_moves_weights_and_distribution():
    r = read([0, 1], K, V)
    np.testing.assert_array_equal(r.scores, [0, 1, 1])
    close(r.weights, [1 / Z, E / Z, E / Z], atol=1e-15)
    close(r.context, [(2 + E) / Z, 6 * E / Z], atol=1e-15)
    logits, probabilities = output_distribution(r.context, G)
    close(logits, [1.466087, 2.533913, 0], atol=5e-7)
    assert logits[2] == 0
    close(probabilities, [0.241553, 0.702690, 0.055757], atol=5e-7)


def test_read_changing_a_value_moves_the_context_only():
    before, after = read(Q, K, V), read(Q, K, [[2, 0], [0, 8], [1, 2]])
    np.testing.assert_array_equal(after.weights, before.weights)
    close(after.context - before.context, [0, 4 / Z], atol=1e-15)
    close(after.context, [1.266956, 2.087537], atol=5e-7)


def test_read_two_queries_at_once():
    r = read(np.eye(2), K, V)
    np.testing.assert_array_equal(r.scores, [[1, 0, 1], [0, 1, 1]])
    close(r.context, [[3 * E / Z, (4 + 2 * E) / Z], [(2 + E) / Z, 6 * E / Z]], atol=1e-15)


def test_read_scale_none_is_one_over_root_head_size():
    assert read(Q, K, V, scale=None).scores[0] == pytest.approx(1 / math.sqrt(2), rel=1e-15)
    assert dot_scores(np.ones((1, 16)), np.ones((1, 16)), scale=None) == [[4]]


# --- against other libraries ---------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize("lengths", [(1, 1), (4, 4), (3, 7), (7, 3)])
def test_read_equals_torch(rng, lengths, scale, masked):
    t, s = lengths
    q, k = rng.normal(size=(2, 3, t, 5)), rng.normal(size=(2, 3, s, 5))
    v = rng.normal(size=(2, 3, s, 4))
    mask = rng.random((2, 1, t, s)) < 0.5
    mask[..., 0] = True  # torch does not promise anything for a row without keys
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(a) for a in (q, k, v)), attn_mask=torch.tensor(mask) if masked else None, scale=scale
    )
    close(read(q, k, v, mask=mask if masked else None, scale=scale).context, expected.numpy())


def test_read_weights_equal_scipy(rng):
    q, k, v = rng.normal(size=(4, 6)), rng.normal(size=(9, 6)), rng.normal(size=(9, 2))
    r = read(q, k, v, scale=0.7)
    close(r.scores, 0.7 * np.einsum("td,sd->ts", q, k))
    close(r.weights, scipy.special.softmax(r.scores, axis=1))
    close(np.log(r.weights), r.scores - scipy.special.logsumexp(r.scores, axis=1, keepdims=True))
    g = rng.normal(size=(2, 8))
    logits, probabilities = output_distribution(r.context, g)
    close(probabilities, scipy.special.softmax(logits, axis=1))
    close(output_distribution(r.context[1], g)[1], probabilities[1])


# --- masks ---------------------------------------------------------------------------------------


def test_read_fully_masked_row_gives_exact_zeros():
    r = read(np.eye(2), K, V, mask=[[False] * 3, [True] * 3])
    np.testing.assert_array_equal(r.weights[0], [0, 0, 0])
    np.testing.assert_array_equal(r.context[0], [0, 0])
    np.testing.assert_array_equal(r.context[1], read([0, 1], K, V).context)
    np.testing.assert_array_equal(read(Q, K, V, mask=False).context, [0, 0])


def test_read_of_an_empty_source_is_a_fully_masked_read():
    empty = np.zeros((0, 2))
    r = read(np.eye(2), empty, np.zeros((0, 3)))
    assert r.scores.shape == r.weights.shape == (2, 0)
    np.testing.assert_array_equal(r.context, np.zeros((2, 3)))
    np.testing.assert_array_equal(read(Q, empty, np.zeros((0, 3))).context, np.zeros(3))


@given(queries, keys, values, arrays(np.bool_, 5))
def test_read_masking_equals_removing(q, k, v, keep):
    masked, removed = read(q, k, v, mask=keep), read(q, k[keep], v[keep])
    np.testing.assert_array_equal(masked.weights[:, ~keep], 0)
    close(masked.weights[:, keep], removed.weights)
    close(masked.context, removed.context)


def test_read_what_is_masked_does_not_matter(rng):
    k, v = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    other_k, other_v = k.copy(), v.copy()
    other_k[1], other_v[1] = 500.0, -1e6
    mask = [True, False, True]
    a, b = read(Q, k, v, mask=mask), read(Q, other_k, other_v, mask=mask)
    np.testing.assert_array_equal(a.weights, b.weights)
    np.testing.assert_array_equal(a.context, b.context)


def test_read_zeroing_a_weight_is_not_masking():
    r, masked = read(Q, K, V), read(Q, K, V, mask=[False, True, True])
    zeroed = r.weights * [0, 1, 1]
    assert zeroed.sum() == pytest.approx(1 - E / Z, rel=1e-15)  # the rest did not take over
    assert masked.weights.sum() == pytest.approx(1, rel=1e-15)
    close(zeroed @ V, [E / Z, (4 + 2 * E) / Z], atol=1e-15)
    close(masked.context, [E / (E + 1), (4 + 2 * E) / (E + 1)], atol=1e-15)
    close(zeroed / zeroed.sum(), masked.weights, atol=1e-15)  # what zeroing would still have needed


def test_read_mask_broadcasts_over_batch_and_queries(rng):
    q, k, v = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 2))
    pad = np.array([[True] * 5, [True, True, False, False, False]])
    full = np.repeat(pad[:, None, :], 4, axis=1)
    np.testing.assert_array_equal(
        read(q, k, v, mask=pad[:, None, :]).context, read(q, k, v, mask=full).context
    )
    close(read(q, k, v, mask=full).context[1], read(q[1], k[1, :2], v[1, :2]).context)


def test_read_scores_are_kept_before_masking():
    np.testing.assert_array_equal(read(Q, K, V, mask=[False, True, True]).scores, [1, 0, 1])


# --- laws ----------------------------------------------------------------------------------------


@given(queries, keys, values, masks)
def test_read_rows_are_distributions_and_the_context_lies_in_the_hull(q, k, v, mask):
    r = read(q, k, v, mask=mask)
    assert (r.weights >= 0).all()
    close(r.weights.sum(axis=-1), mask.any(axis=-1))
    for row, context in zip(mask, r.context, strict=True):
        if row.any():  # the hull in each of several directions is an interval
            for direction in ([1, 0], [0, 1], [1, 1], [1, -1], [3, -2]):
                along = v[row] @ direction
                assert along.min() - 1e-10 <= context @ direction <= along.max() + 1e-10
        else:
            np.testing.assert_array_equal(context, 0)


@given(queries, keys, values, st.permutations(range(5)))
def test_read_does_not_know_the_order_of_the_source(q, k, v, order):
    r, permuted = read(q, k, v), read(q, k[order], v[order])
    close(permuted.weights, r.weights[:, order])
    close(permuted.context, r.context)


@given(queries, keys, values, arrays(np.float64, 3, elements=elements))
def test_read_is_unchanged_when_all_keys_move_by_the_same_vector(q, k, v, shift):
    close(read(q, k + shift, v).weights, read(q, k, v).weights, atol=1e-10)


@given(queries, keys, values)
def test_read_scale_belongs_to_the_scores(q, k, v):
    np.testing.assert_array_equal(read(q, k, v, scale=0.5).weights, read(0.5 * q, k, v).weights)


def test_read_is_stable_for_far_scores():
    r = read([[1e4], [-1e4]], [[1.0], [0.0], [-1.0]], [[1.0], [2.0], [3.0]])
    np.testing.assert_array_equal(r.scores, [[1e4, 0, -1e4], [-1e4, 0, 1e4]])
    np.testing.assert_array_equal(r.weights, [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(r.context, [[1], [3]])
    close(read([1e4], [[1.0], [1.0]], V[:2]).context, [1, 2], atol=1e-15)


def test_read_batch_equals_loop(rng):
    q, k, v = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(2, 3, 6, 2))
    mask = rng.random((2, 3, 4, 6)) < 0.6
    batch = read(q, k, v, mask=mask, scale=None)
    for b in range(2):
        for h in range(3):
            one = read(q[b, h], k[b, h], v[b, h], mask=mask[b, h], scale=None)
            close(batch.scores[b, h], one.scores)
            close(batch.weights[b, h], one.weights)
            close(batch.context[b, h], one.context)


def test_read_leading_axes_broadcast(rng):
    q, k, v = rng.normal(size=(2, 1, 4, 5)), rng.normal(size=(3, 6, 5)), rng.normal(size=(1, 6, 2))
    r = read(q, k, v)
    assert r.weights.shape == (2, 3, 4, 6)
    close(r.context[1, 2], read(q[1, 0], k[2], v[0]).context)


def test_read_single_query_equals_a_row(rng):
    q, k, v = rng.normal(size=5), rng.normal(size=(6, 5)), rng.normal(size=(6, 2))
    one, row = read(q, k, v), read(q[None], k, v)
    assert (one.scores.shape, one.weights.shape, one.context.shape) == ((6,), (6,), (2,))
    close(one.scores, row.scores[0])
    close(one.context, row.context[0])


def test_read_single_query_of_several_sources(rng):
    q, k, v = rng.normal(size=5), rng.normal(size=(3, 6, 5)), rng.normal(size=(3, 6, 2))
    mask = rng.random((3, 6)) < 0.5
    r = read(q, k, v, mask=mask)
    assert (r.scores.shape, r.context.shape) == ((3, 6), (3, 2))
    for b in range(3):
        close(r.context[b], read(q, k[b], v[b], mask=mask[b]).context)


# --- types ---------------------------------------------------------------------------------------


def test_read_keeps_float32():
    q, k, v = (np.array(a, np.float32) for a in (Q, K, V))
    r = read(q, k, v, mask=[True, True, False], scale=None)
    assert r.scores.dtype == r.weights.dtype == r.context.dtype == np.float32
    assert read(q, k, np.array(V, np.float64)).context.dtype == np.float64


def test_read_leaves_its_input_alone():
    q, k, v, mask = np.array([Q]), np.array(K, float), np.array(V, float), np.array([True, False, True])
    copies = [a.copy() for a in (q, k, v, mask)]
    read(q, k, v, mask=mask, scale=2.0)
    for array, copy in zip((q, k, v, mask), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_read_result_is_frozen_and_compares_by_identity():
    r = read(Q, K, V)
    with pytest.raises(dataclasses.FrozenInstanceError):
        r.context = r.scores
    assert r == r
    assert r != Read(r.scores, r.weights, r.context)


def test_every_public_function_has_an_example_that_runs():
    runner = doctest.DocTestRunner()
    for function in (dot_scores, read, output_distribution):
        (test,) = doctest.DocTestFinder(recurse=False).find(function, globs=dict(vars(read_module)))
        assert runner.run(test).attempted >= 1
    assert runner.summarize(verbose=False).failed == 0
