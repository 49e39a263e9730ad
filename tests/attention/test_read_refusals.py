"""What the attention read refuses, and that the message names the argument."""

import math

import numpy as np
import pytest

from onesentence.attention.read import dot_scores, output_distribution, read

Q = [1, 0]
K = [[1, 0], [0, 1], [1, 1]]
V = [[2, 0], [0, 4], [1, 2]]
G = [[2, 0, 0], [0, 1, 0]]

BAD_READS = [
    ({"q": 1.0}, ValueError, r"q must have shape \(\.\.\., T, D\) or \(D,\) with D >= 1, got \(\)"),
    ({"q": [], "k": np.zeros((3, 0))}, ValueError, r"q must have shape .* with D >= 1, got \(0,\)"),
    (
        {"q": [[1, 0, 0]]},
        ValueError,
        r"k must have shape \(\.\.\., S, 3\) for q of shape \(1, 3\), got \(3, 2\)",
    ),
    ({"k": [1, 0]}, ValueError, r"k must have shape \(\.\.\., S, 2\) for q of shape \(2,\), got \(2,\)"),
    ({"k": 1}, ValueError, r"k must have shape \(\.\.\., S, 2\) for q of shape \(2,\), got \(\)"),
    ({"v": V[:2]}, ValueError, r"v must have shape \(\.\.\., 3, Dv\) for k of shape \(3, 2\), got \(2, 2\)"),
    (
        {"v": [1, 2, 3]},
        ValueError,
        r"v must have shape \(\.\.\., 3, Dv\) for k of shape \(3, 2\), got \(3,\)",
    ),
    (
        {"q": np.zeros((2, 1, 2)), "k": np.zeros((3, 3, 2))},
        ValueError,
        r"leading axes must broadcast, got q \(2, 1, 2\), k \(3, 3, 2\)$",
    ),
    (
        {"q": np.zeros((2, 1, 2)), "v": np.zeros((3, 3, 2))},
        ValueError,
        r"leading axes must broadcast, got q \(2, 1, 2\), k \(3, 2\), v \(3, 3, 2\)$",
    ),
    ({"q": [math.nan, 0]}, ValueError, r"q must be finite, got NaN or infinity in shape \(2,\)"),
    ({"k": [[math.inf, 0]] * 3}, ValueError, r"k must be finite, got NaN or infinity in shape \(3, 2\)"),
    ({"v": [[0.0, -math.inf]] * 3}, ValueError, r"v must be finite, got NaN or infinity in shape \(3, 2\)"),
    (
        {"v": [[math.nan, 0], [1, 1], [1, 1]], "mask": [False, True, True]},
        ValueError,
        r"v must be finite, got NaN or infinity",
    ),
    ({"q": [1j, 0]}, TypeError, r"q must hold real numbers, got dtype complex128"),
    ({"k": [["a", "b"]]}, TypeError, r"k must hold real numbers, got dtype <U1"),
    ({"v": None}, TypeError, r"v must hold real numbers, got dtype object"),
    ({"mask": [1, 0, 1]}, TypeError, r"mask must be boolean \(True = kept\), got dtype int64"),
    ({"mask": [True, False]}, ValueError, r"mask must broadcast to \(3,\), got shape \(2,\)"),
    ({"mask": [[True] * 3] * 2}, ValueError, r"mask must broadcast to \(3,\), got shape \(2, 3\)"),
    ({"scale": "1"}, TypeError, r"scale must be a number or None, got '1'"),
    ({"scale": True}, TypeError, r"scale must be a number or None, got True"),
    ({"scale": math.nan}, ValueError, r"scale must be finite, got nan"),
    ({"q": [1e200, 0], "k": [[1e200, 0]] * 3}, ValueError, r"scale \* q \. k leaves the range of float64"),
    ({"q": [1e200] * 64, "k": [[1e200, -1e200] * 32] * 3}, ValueError, r"leaves the range of float64"),
]


@pytest.mark.parametrize(("changes", "error", "message"), BAD_READS)
def test_read_refuses(changes, error, message):
    with pytest.raises(error, match=message):
        read(**{"q": Q, "k": K, "v": V, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [bad for bad in BAD_READS if set(bad[0]) <= {"q", "k", "scale"}],
)
def test_dot_scores_refuses(changes, error, message):
    with pytest.raises(error, match=message):
        dot_scores(**{"q": Q, "k": K, **changes})


@pytest.mark.parametrize(
    ("context", "g", "error", "message"),
    [
        (1.0, G, ValueError, r"context must have shape \(\.\.\., Dv\), got \(\)"),
        (
            [1, 2, 3],
            G,
            ValueError,
            r"g must have shape \(3, V\) with V >= 1 for context of shape \(3,\), got \(2, 3\)",
        ),
        ([1, 2], [1, 2], ValueError, r"g must have shape \(2, V\) .*, got \(2,\)"),
        ([1, 2], np.zeros((2, 0)), ValueError, r"g must have shape \(2, V\) .*, got \(2, 0\)"),
        ([1, 2], np.zeros((1, 2, 3)), ValueError, r"g must have shape \(2, V\) .*, got \(1, 2, 3\)"),
        ([math.nan, 2], G, ValueError, r"context must be finite"),
        ([1, 2], [[math.inf], [0]], ValueError, r"g must be finite"),
        ([1e200, 0], [[1e200], [0]], ValueError, r"context @ g leaves the range of float64"),
        ([True, False], G, TypeError, r"context must hold real numbers, got dtype bool"),
        ([1, 2], [["a"], ["b"]], TypeError, r"g must hold real numbers, got dtype <U1"),
    ],
)
def test_output_distribution_refuses(context, g, error, message):
    with pytest.raises(error, match=message):
        output_distribution(context, g)
