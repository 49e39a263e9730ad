"""What the checks let through and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.checks import as_ids, checked_choice, checked_integer, checked_number, checked_sizes


@pytest.mark.parametrize("value", [3, np.int32(3), np.uint8(3)])
def test_checked_integer_returns_a_python_integer(value):
    assert type(checked_integer("k", value, 3)) is int


@pytest.mark.parametrize("value", [3, -0.5, np.float32(0.5), np.int64(2)])
def test_checked_number_returns_a_python_float(value):
    assert type(checked_number("k", value)) is float
    assert checked_number("k", value) == value


def test_as_ids_of_nothing_is_an_array_of_integers():
    assert as_ids("ids", []).dtype == as_ids("ids", np.zeros((2, 0)), 0).dtype == np.int64


def test_as_ids_keeps_the_shape_and_leaves_its_argument_alone():
    given = np.array([[0, 2], [1, 0]], dtype=np.int32)
    ids = as_ids("ids", given, 3)
    assert (ids.dtype, ids.tolist()) == (np.int64, [[0, 2], [1, 0]])
    ids[:] = 0
    assert given[0, 1] == 2


@pytest.mark.parametrize("dtype", [float, bool, complex, object, "<U1", np.uint64])
def test_as_ids_of_nothing_are_no_ids_whatever_their_dtype(dtype):
    assert as_ids("ids", np.array([], dtype=dtype), 3).dtype == np.int64


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([2**63 - 1, 0], dtype=np.uint64), [2**63 - 1, 0]),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        (np.array([255], dtype=np.uint8), [255]),
        (np.int16(-3), -3),
        (((1, np.uint8(2)), [np.int64(3), 4]), [[1, 2], [3, 4]]),
    ],
)
def test_as_ids_keeps_every_integer_that_fits(given, expected):
    assert as_ids("ids", given).tolist() == expected


def test_checked_integer_is_exact_beyond_int64():
    assert checked_integer("k", np.uint64(2**63), 1) == 2**63
    assert checked_integer("k", 2**70, 1) == 2**70


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            np.array([0, 2**63], dtype=np.uint64),
            ValueError,
            "ids must fit into int64, got 9223372036854775808",
        ),
        ([2**63], ValueError, "ids must fit into int64, got 9223372036854775808"),
        ([1, 2**64], ValueError, "ids must fit into int64, got 18446744073709551616"),
        ([[-(2**63) - 1]], ValueError, "ids must fit into int64, got -9223372036854775809"),
        ([2**63, 1], TypeError, "ids must hold integers, got dtype float64"),  # what NumPy makes of them
        ([2.0], TypeError, "ids must hold integers, got dtype float64"),
        ([1, 2.0], TypeError, "ids must hold integers, got dtype float64"),
        ([np.nan], TypeError, "ids must hold integers, got dtype float64"),
        ([1 + 0j], TypeError, "ids must hold integers, got dtype complex128"),
        (np.array([1, 2], dtype=object), TypeError, "ids must hold integers, got dtype object"),
        ([None], TypeError, "ids must hold integers, got dtype object"),
        (["1"], TypeError, "ids must hold integers, got dtype <U1"),
        ("", TypeError, "ids must hold integers, got dtype <U1"),
        (np.array([3], dtype="m8[s]"), TypeError, r"ids must hold integers, got dtype timedelta64\[s\]"),
        ([1, True], TypeError, "ids must hold integers, got True"),
        ([np.array([1, 2]), np.array([False, True])], TypeError, "ids must hold integers, got False"),
        (((1, 2), (np.False_, 2)), TypeError, "ids must hold integers, got False"),
        (np.ma.array([1, 2], mask=[False, True]), TypeError, "ids must not be a masked array"),
    ],
)
@pytest.mark.parametrize("size", [None, 2**65])
def test_as_ids_converts_nothing_silently(given, error, message, size):
    with pytest.raises(error, match=message):
        as_ids("ids", given, size)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: checked_integer("k", 2.0, 1), TypeError, "k must be an integer, got 2.0"),
        (lambda: checked_integer("k", True, 1), TypeError, "k must be an integer, got True"),
        (lambda: checked_integer("k", 1, 2), ValueError, "k must be at least 2, got 1"),
        (lambda: checked_sizes(np.random.default_rng(0), d=0), ValueError, "d must be at least 1, got 0"),
        (lambda: checked_sizes(0, d=1), TypeError, "rng must be a numpy Generator, got int"),
        (lambda: checked_number("k", "1"), TypeError, "k must be a number, got '1'"),
        (lambda: checked_number("k", True), TypeError, "k must be a number, got True"),
        (lambda: checked_number("k", 1j), TypeError, "k must be a number, got 1j"),
        (lambda: checked_number("k", np.nan), ValueError, "k must be finite, got nan"),
        (lambda: checked_number("k", -np.inf), ValueError, "k must be finite, got -inf"),
        (lambda: as_ids("ids", [True]), TypeError, "ids must hold integers, got dtype bool"),
        (lambda: as_ids("ids", [[1, 5], [4, 0]], 4), ValueError, r"ids must lie in \[0, 4\), got 5"),
        (lambda: as_ids("ids", [-1], 4), ValueError, r"ids must lie in \[0, 4\), got -1"),
        (lambda: as_ids("ids", [[1], [2, 3]]), ValueError, "ids must be a regular array"),
    ],
)
def test_checks_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_checked_choice_refuses_what_there_is_not():
    checked_choice("cell", "gru", ("rnn", "gru"))
    with pytest.raises(ValueError, match="cell: expected one of rnn, gru, got 'lstm'"):
        checked_choice("cell", "lstm", ("rnn", "gru"))
