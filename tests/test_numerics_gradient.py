"""Cross entropy and finite-difference gradients."""

import math

import numpy as np
import pytest
import torch

from onesentence.numerics import cross_entropy, numerical_gradient, softmax

INF = math.inf
NAN = math.nan
LN2, LN3 = math.log(2), math.log(3)


pytestmark = pytest.mark.usefixtures("floating_point_faults_raise")


@pytest.fixture
def rng():
    return np.random.default_rng(20140901)


# --- cross_entropy -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("logits", "label", "loss"),
    [([0, LN2, LN3], 2, LN2), ([LN2, 0, 0], 1, math.log(4)), ([0, 0], 0, LN2), ([1e4, 0], 1, 1e4)],
)
def test_cross_entropy_value_by_hand(logits, label, loss):
    result = cross_entropy(logits, label)
    assert type(result) is float
    assert result == pytest.approx(loss, rel=1e-15)


def test_cross_entropy_equals_torch(rng):
    logits = rng.normal(scale=5, size=11)
    for label in range(11):
        expected = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(label)).item()
        assert cross_entropy(logits, np.int64(label)) == pytest.approx(expected, rel=1e-13)


def test_cross_entropy_of_a_certain_and_an_impossible_label():
    assert math.copysign(1, cross_entropy([7.0], 0)) == 1  # 0.0, not -0.0
    assert cross_entropy([7.0], 0) == 0
    assert cross_entropy([0.0, -INF], 1) == INF


@pytest.mark.parametrize(
    ("logits", "label", "error", "message"),
    [
        ([0.0, 1.0], 2, ValueError, r"label must lie in \[0, 2\), got 2"),
        ([0.0, 1.0], -1, ValueError, r"label must lie in \[0, 2\), got -1"),
        ([0.0, 1.0], 1.0, TypeError, r"label must be an integer index, got 1\.0"),
        ([0.0, 1.0], True, TypeError, r"label must be an integer index, got True"),
        ([], 0, ValueError, r"label must lie in \[0, 0\), got 0"),
        ([[0.0, 1.0]], 0, ValueError, r"logits must have shape \(V,\), got \(1, 2\)"),
        (1.0, 0, ValueError, r"logits must have shape \(V,\), got \(\)"),
        ([0.0, NAN], 0, ValueError, r"logits must be free of NaN and \+inf"),
        ([0.0, INF], 0, ValueError, r"logits must be free of NaN and \+inf"),
        ([-INF, -INF], 0, ValueError, r"hold at least one finite value"),
        ([1j], 0, TypeError, r"logits must hold real numbers, got dtype complex128"),
    ],
)
def test_cross_entropy_refuses(logits, label, error, message):
    with pytest.raises(error, match=message):
        cross_entropy(logits, label)


# --- numerical_gradient --------------------------------------------------------------------------


def test_numerical_gradient_is_central():
    # x³ at 0: (eps³ + eps³) / (2 eps) = eps², and a one-sided difference of |x| would give 1 or -1
    assert numerical_gradient(lambda x: float(x[0] ** 3), [0.0], eps=0.5)[0] == 0.25
    assert numerical_gradient(lambda x: float(abs(x[0])), [0.0], eps=0.5)[0] == 0


def test_numerical_gradient_divides_by_the_step_as_represented():
    # beside 12345678.9 the spacing of float64 is about 2e-9, so 2 eps is off by up to a thousandth
    assert numerical_gradient(lambda x: float(x[0]), [12345678.9])[0] == 1


def test_numerical_gradient_of_a_quadratic_form(rng):
    a, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    gradient = numerical_gradient(lambda x: float(x @ a @ x), x)
    np.testing.assert_allclose(gradient, (a + a.T) @ x, rtol=1e-7, atol=1e-8)


def test_numerical_gradient_of_cross_entropy_is_p_minus_onehot(rng):
    logits = rng.normal(size=6)
    gradient = numerical_gradient(lambda x: cross_entropy(x, 2), logits)
    np.testing.assert_allclose(gradient, softmax(logits) - np.eye(6)[2], atol=1e-9)


def test_numerical_gradient_keeps_the_shape(rng):
    x = rng.normal(size=(2, 3, 2))
    np.testing.assert_allclose(numerical_gradient(lambda x: float(np.sin(x).sum()), x), np.cos(x), atol=1e-9)
    scalar = numerical_gradient(lambda x: float(x) ** 2, 3.0)
    assert scalar.shape == ()
    assert float(scalar) == pytest.approx(6, rel=1e-9)
    assert numerical_gradient(lambda x: 0.0, np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_numerical_gradient_works_in_float64(dtype):
    x = np.array([1, 3], dtype)
    gradient = numerical_gradient(lambda x: float((x**2).sum()), x)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, [2, 6], rtol=1e-9)


def test_numerical_gradient_is_safe_from_a_function_that_changes_its_argument():
    def square_in_place(x):
        x *= x
        return x.sum()

    x = np.array([1.0, 3.0])
    np.testing.assert_allclose(numerical_gradient(square_in_place, x), [2, 6], rtol=1e-9)
    np.testing.assert_array_equal(x, [1, 3])


@pytest.mark.parametrize(
    ("f", "x", "eps", "error", "message"),
    [
        (np.sum, [NAN], 1e-6, ValueError, r"x must be finite"),
        (np.sum, [1j], 1e-6, TypeError, r"x must hold real numbers, got dtype complex128"),
        (np.sum, [1.0], 0.0, ValueError, r"eps must be positive and finite, got 0\.0"),
        (np.sum, [1.0], -1e-6, ValueError, r"eps must be positive and finite, got -1e-06"),
        (np.sum, [1.0], INF, ValueError, r"eps must be positive and finite, got inf"),
        (np.sum, [1.0], "1", TypeError, r"eps must be a number, got '1'"),
        (np.sum, [1.0], True, TypeError, r"eps must be a number, got True"),
        (np.sum, [0.0, 1e20], 1e-6, ValueError, r"eps = 1e-06 vanishes beside x = 1e\+20 at index \(1,\)"),
        (lambda x: x, [1.0], 1e-6, ValueError, r"f must return one finite real number, got \[1\.000001\]"),
        (lambda x: NAN, [1.0], 1e-6, ValueError, r"f must return one finite real number, got nan"),
        (lambda x: None, [1.0], 1e-6, ValueError, r"f must return one finite real number, got None"),
    ],
)
def test_numerical_gradient_refuses(f, x, eps, error, message):
    with pytest.raises(error, match=message):
        numerical_gradient(f, x, eps)
