"""How much a case computes and moves, by the convention that rates are quoted in.

Forwards 4 D operations for each pair of a query head's query and a key that it may read: a multiplication and an addition
are two, in each of the two products; softmax is not counted. Backwards 2.5 times as much: five products in the place of two
(Dao 2023, arXiv:2307.08691, section 4.1). Causal pairs are counted exactly. Decoding moves the keys and values once, and
the queries and outputs. Section 7.7 of the course.
"""

from __future__ import annotations

from onesentence.kernels.bench.cases import DTYPES, Case

BACKWARD = 2.5
"""Operations of the backward pass, in forward passes."""


def pairs(case: Case) -> int:
    """Return how many (query, key) pairs one head of one sequence reads.

    Example:
        >>> pairs(Case("forward", 1, 1, 1, 2, 4, 8, "float32", causal=True))
        7
    """
    T, S = case.T, case.S
    if not case.causal:
        return T * S
    return sum(max(0, S - T + i + 1) for i in range(T)) if T > S else T * (2 * S - T + 1) // 2


def work_flops(case: Case) -> float:
    """Return the operations of a case.

    Example:
        >>> work_flops(Case("backward", 2, 4, 4, 3, 5, 8, "float32", causal=False))
        9600.0
    """
    forward = 4 * case.B * case.H * pairs(case) * case.D
    return forward * (BACKWARD if case.kind == "backward" else 1.0)


def traffic_bytes(case: Case) -> int:
    """Return the bytes that a forward pass has to move at least: q, k and v read, o written, once each.

    Example:
        >>> traffic_bytes(Case("decode", 2, 4, 2, 1, 100, 8, "bfloat16", causal=False))
        13056
    """
    ends, keys = 2 * case.B * case.H * case.T * case.D, 2 * case.B * case.G * case.S * case.D
    return (ends + keys) * DTYPES[case.dtype]
