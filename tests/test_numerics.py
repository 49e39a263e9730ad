"""Softmax, log-softmax, log-sum-exp and checked input."""

import doctest
import math

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from onesentence import numerics
from onesentence.numerics import (
    as_floats,
    as_mask,
    cross_entropy,
    log_softmax,
    logsumexp,
    numerical_gradient,
    softmax,
    token_loss_gradients,
    token_losses,
)

INF = math.inf
NAN = math.nan
LN2, LN3 = math.log(2), math.log(3)

scores = arrays(np.float64, (3, 5), elements=st.floats(-1e4, 1e4))
integer_scores = arrays(np.float64, (7,), elements=st.integers(-10_000, 10_000).map(float))


pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")


@pytest.fixture
def rng():
    return np.random.default_rng(20140901)


# --- softmax -------------------------------------------------------------------------------------


def test_softmax_value_by_hand():
    np.testing.assert_allclose(softmax([0, LN2, LN3]), [1 / 6, 2 / 6, 3 / 6], rtol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, np.int64(1)])
def test_softmax_family_equals_scipy_on_every_axis(rng, axis):
    x = rng.normal(scale=30, size=(3, 4, 5))
    np.testing.assert_allclose(softmax(x, axis), scipy.special.softmax(x, axis), rtol=1e-13)
    np.testing.assert_allclose(log_softmax(x, axis), scipy.special.log_softmax(x, axis), rtol=1e-13)
    np.testing.assert_allclose(logsumexp(x, axis), scipy.special.logsumexp(x, axis), rtol=1e-13)


@given(scores)
def test_softmax_rows_are_distributions(x):
    weights = softmax(x)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)


@given(integer_scores, st.integers(-10_000, 10_000))
def test_softmax_is_unchanged_by_a_shift(x, shift):
    np.testing.assert_array_equal(softmax(x + shift), softmax(x))  # integers: the shift is exact


@given(integer_scores, st.permutations(range(7)))
def test_softmax_follows_a_permutation(x, order):
    np.testing.assert_allclose(softmax(x[order]), softmax(x)[order], rtol=1e-14)


def test_softmax_far_scores_are_stable():
    np.testing.assert_array_equal(softmax([1e4, 0, -1e4]), [1, 0, 0])
    np.testing.assert_allclose(softmax([-1e4, -1e4 - LN2]), [2 / 3, 1 / 3], rtol=1e-11)
    np.testing.assert_array_equal(softmax([1e300, 1e300, -1e300]), [0.5, 0.5, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_family_survives_the_ends_of_the_range(dtype):
    big = np.finfo(dtype).max
    x = np.array([big, -big], dtype)
    np.testing.assert_array_equal(softmax(x), [1, 0])
    np.testing.assert_array_equal(log_softmax(x), [0, -INF])  # -2 big is beyond the range
    assert logsumexp(x) == big


@pytest.mark.parametrize("function", [softmax, log_softmax, logsumexp])
def test_softmax_family_raises_no_floating_point_fault_of_any_kind(function):
    with np.errstate(all="raise"):  # the underflow of a vanishing weight is meant
        result = function([[0.0, -744.0, -1e4], [-INF, -INF, -INF]])
    assert not np.isnan(result).any()


def test_softmax_minus_infinity_has_weight_zero():
    weights = softmax([-INF, 3.0, 3.0])
    assert weights[0] == 0
    np.testing.assert_allclose(weights, [0, 0.5, 0.5], rtol=1e-15)


def test_softmax_family_of_a_row_without_scores():
    x = np.array([[-INF, -INF], [0, 0]])
    np.testing.assert_array_equal(softmax(x), [[0, 0], [0.5, 0.5]])
    np.testing.assert_allclose(log_softmax(x), [[-INF, -INF], [-LN2, -LN2]], rtol=1e-15)
    np.testing.assert_allclose(logsumexp(x), [-INF, LN2], rtol=1e-15)


def test_softmax_family_of_an_empty_axis():
    x = np.zeros((2, 0))
    assert softmax(x).shape == (2, 0)
    assert log_softmax(x).shape == (2, 0)
    np.testing.assert_array_equal(logsumexp(x), [-INF, -INF])


def test_softmax_where_equals_leaving_out(rng):
    x = rng.normal(size=(4, 6))
    where = np.array([True, False, True, True, False, True])
    weights = softmax(x, where=where)
    np.testing.assert_array_equal(weights[:, ~where], 0)
    np.testing.assert_allclose(weights[:, where], scipy.special.softmax(x[:, where], -1), rtol=1e-14)


def test_softmax_where_all_false_gives_zeros(rng):
    x = rng.normal(size=(2, 3))
    where = np.array([[False], [True]])
    np.testing.assert_array_equal(softmax(x, where=where)[0], 0)
    np.testing.assert_array_equal(softmax(x, where=where)[1], softmax(x)[1])


def test_softmax_where_follows_the_axis(rng):
    x = rng.normal(size=(3, 2))
    where = np.array([[True, True], [False, True], [True, False]])
    np.testing.assert_array_equal(softmax(x, axis=0, where=where), softmax(x.T, where=where.T).T)


def test_softmax_does_not_look_at_what_where_drops():
    weights = softmax([NAN, 1.0, INF, 1.0], where=[False, True, False, True])
    np.testing.assert_array_equal(weights, [0, 0.5, 0, 0.5])


def test_softmax_leaves_its_input_alone():
    x, where = np.array([1.0, 2.0]), np.array([True, False])
    softmax(x, where=where)
    log_softmax(x)
    logsumexp(x)
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_array_equal(where, [True, False])


@pytest.mark.parametrize("function", [softmax, log_softmax, logsumexp])
@pytest.mark.parametrize(
    ("given_dtype", "dtype"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (">f8", np.float64),
        (np.float16, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
    ],
)
def test_softmax_family_dtypes(function, given_dtype, dtype):
    result = function(np.array([0, 50], given_dtype))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, function(np.array([0.0, 50.0])), rtol=1e-6)


def test_softmax_float32_keeps_its_dtype_under_where():
    assert softmax(np.ones(2, np.float32), where=[True, False]).dtype == np.float32


# --- log_softmax, logsumexp ----------------------------------------------------------------------


@given(scores)
def test_log_softmax_exponentiates_to_softmax(x):
    np.testing.assert_allclose(np.exp(log_softmax(x)), softmax(x), rtol=1e-12, atol=1e-300)


def test_log_softmax_keeps_what_the_logarithm_of_softmax_loses():
    assert softmax([0, -1e4])[1] == 0
    assert log_softmax([0, -1e4])[1] == -1e4


def test_log_softmax_of_large_scores_has_no_cancellation():
    np.testing.assert_allclose(log_softmax([1e15, 1e15]), [-LN2, -LN2], rtol=1e-15)


@given(scores)
def test_logsumexp_lies_between_the_maximum_and_log_n_above(x):
    top = x.max(axis=-1)
    assert (logsumexp(x) >= top).all()
    assert (logsumexp(x) <= top + math.log(5) + 1e-11).all()


def test_logsumexp_value_by_hand():
    assert logsumexp([0, LN2, LN3]) == pytest.approx(math.log(6), rel=1e-15)
    np.testing.assert_allclose(logsumexp([[0, LN2], [0, LN2]], axis=0), [LN2, 2 * LN2], rtol=1e-15)


# --- checked input -------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [softmax, log_softmax, logsumexp])
@pytest.mark.parametrize(
    ("x", "axis", "error", "message"),
    [
        ([1j], -1, TypeError, r"x must hold real numbers, got dtype complex128"),
        ([None], -1, TypeError, r"x must hold real numbers, got dtype object"),
        (["a"], -1, TypeError, r"x must hold real numbers, got dtype <U1"),
        ([True], -1, TypeError, r"x must hold real numbers, got dtype bool"),
        ([[1.0], [1.0, 2.0]], -1, ValueError, r"x must be a regular array, got rows of different lengths"),
        (1.0, -1, ValueError, r"x must have at least one axis, got a scalar"),
        ([0.0, NAN], -1, ValueError, r"x must be free of NaN and \+inf where it counts"),
        ([0.0, INF], -1, ValueError, r"x must be free of NaN and \+inf where it counts"),
        ([0.0], 1, ValueError, r"axis must be an axis of x, which has shape \(1,\); got 1"),
        ([0.0], -2, ValueError, r"axis must be an axis of x, which has shape \(1,\); got -2"),
        ([0.0], (0,), TypeError, r"axis must be an integer, got \(0,\)"),
        ([0.0], None, TypeError, r"axis must be an integer, got None"),
        ([0.0], False, TypeError, r"axis must be an integer, got False"),
    ],
)
def test_softmax_family_refuses(function, x, axis, error, message):
    with pytest.raises(error, match=message):
        function(x, axis)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ([1, 0], TypeError, r"where must be boolean \(True = kept\), got dtype int64"),
        ([0.0, -INF], TypeError, r"where must be boolean \(True = kept\), got dtype float64"),
        ([True, False, True], ValueError, r"where must broadcast to \(1, 2\), got shape \(3,\)"),
        ([[True, True]] * 2, ValueError, r"where must broadcast to \(1, 2\), got shape \(2, 2\)"),
        ([[True], [True, True]], ValueError, r"where must be a regular array"),
    ],
)
def test_softmax_refuses_a_bad_where(where, error, message):
    with pytest.raises(error, match=message):
        softmax([[0.0, 1.0]], where=where)


def test_as_floats_does_not_copy_what_fits():
    x = np.ones(3, np.float32)
    assert as_floats("x", x) is x


def test_as_mask_broadcasts_without_making_room_to_write():
    mask = as_mask("mask", [[True], [False]], (2, 2))
    np.testing.assert_array_equal(mask, [[True, True], [False, False]])
    with pytest.raises(ValueError, match="read-only"):
        mask[0, 0] = False


def test_every_public_function_has_an_example_that_runs():
    public = [as_floats, as_mask, softmax, log_softmax, logsumexp, cross_entropy, numerical_gradient]
    runner = doctest.DocTestRunner()
    for function in public:
        (test,) = doctest.DocTestFinder(recurse=False).find(function, globs=dict(vars(numerics)))
        assert runner.run(test).attempted >= 1
    assert runner.summarize(verbose=False).failed == 0


def test_token_losses_sum_of_single_ones_and_nothing_at_the_mask():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(2, 3, 5)), rng.integers(0, 5, size=(2, 3))
    mask = np.array([[True, True, False], [True, False, False]])
    logits[~mask], labels[~mask] = np.nan, -100
    losses = token_losses(logits, labels, mask)
    for place in np.ndindex(2, 3):
        expected = cross_entropy(logits[place], int(labels[place])) if mask[place] else 0.0
        assert losses[place] == pytest.approx(expected, abs=1e-14)


def test_token_loss_gradients_equal_finite_differences_and_are_zero_at_the_mask():
    rng = np.random.default_rng(1)
    logits, labels, mask = rng.normal(size=(3, 4)), np.array([0, 3, 1]), np.array([True, True, False])
    numeric = numerical_gradient(lambda a: float(token_losses(a, labels, mask).sum()), logits)
    exact = token_loss_gradients(logits, labels, mask)
    np.testing.assert_allclose(exact, numeric, rtol=0, atol=1e-9)
    assert not exact[2].any()


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 4], ValueError, r"labels must lie in \[0, 4\), got 4"),
        ([-1, 0], ValueError, r"labels must lie in \[0, 4\), got -1"),
        ([0.0, 1.0], TypeError, "labels must be integers"),
        ([0], ValueError, r"labels must have shape \(2,\), got \(1,\)"),
    ],
)
def test_token_losses_refuse(labels, error, message):
    with pytest.raises(error, match=message):
        token_losses(np.zeros((2, 4)), labels)
