"""How much a case computes and moves, by the convention that rates are quoted in.

Operations are those of `kernels.costs.products`: two for each multiplication in a matrix product, causal pairs counted
exactly, and backwards five products in the place of two, whatever a backend does. Decoding moves the keys and values once,
and the queries and outputs. Sections 7.3 and 7.5 of the course.
"""

from __future__ import annotations

from onesentence.kernels.bench.cases import DTYPES, Case
from onesentence.kernels.costs.products import backward_macs, flops, forward_macs


def work_flops(case: Case) -> int:
    """Return the operations of a case.

    Example:
        >>> work_flops(Case("backward", 2, 4, 4, 3, 5, 8, "float32", causal=False))
        9600
    """
    macs = backward_macs if case.kind == "backward" else forward_macs
    return flops(sum(macs(case.sizes, causal=case.causal).values()))


def traffic_bytes(case: Case) -> int:
    """Return the bytes that a forward pass has to move at least: q, k and v read, o written, once each.

    Example:
        >>> traffic_bytes(Case("decode", 2, 4, 2, 1, 100, 8, "bfloat16", causal=False))
        13056
    """
    ends, keys = 2 * case.B * case.H * case.T * case.D, 2 * case.B * case.G * case.S * case.D
    return (ends + keys) * DTYPES[case.dtype]
