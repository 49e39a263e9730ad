"""Before anything is timed a backend has to compute what the reference computes.

The reference is `kernels.reference.attention` in float64, on the first and the last key head with their query heads, in
the first and the last sequence; the rest of an output must be finite. The measure is what the naive version in the case's
own dtype loses against it on the same heads: a backend may lose FACTOR times as much, plus FLOOR rounding steps of the
largest value, without which a lucky naive version would forbid every other order of summation. Errors are the largest
absolute ones, of the output and, backwards, of each gradient, each held against its own. Long tensors are held part by
part along their length: with a causal mask the first rows are values as they are and the last ones averages of thousands, a
hundred times smaller, which would pass as zeros within what bfloat16 may lose of the first ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from onesentence.kernels.bench.cases import Case
from onesentence.kernels.bench.inputs import Inputs
from onesentence.kernels.reference import attention

FACTOR = 2.0
"""How many times the error of the naive version is allowed."""
FLOOR = 4.0
"""Rounding steps (the dtype's epsilon) of the largest value that are allowed besides."""
PARTS, ROWS = 8, 128
"""In how many parts of its length a tensor is held against the reference, of at least how many rows each."""

Call = Callable[[], Tensor]
Parts = dict[str, Tensor]


def computed(forward: Call, inputs: Inputs) -> Parts:
    """Return what a backend computes: `o`, and `dq`, `dk`, `dv` where there is an upstream gradient."""
    o = forward()
    parts = {"o": o.detach()}
    if inputs.upstream is not None:
        grads = torch.autograd.grad(o, inputs.leaves, inputs.upstream)
        parts |= dict(zip(("dq", "dk", "dv"), grads, strict=True))
    return parts


@dataclass(frozen=True)
class Bound:
    """What the reference says of one tensor on the checked heads, and how far a backend may be from it.

    Attributes:
        expected: float64, per checked place (sequence, key head) its part.
        allowed: largest absolute error in each part of the length.
    """

    expected: dict[tuple[int, int], Tensor]
    allowed: tuple[float, ...]

    def worst(self, found: Tensor, group: int) -> tuple[float, float]:
        """Return the largest absolute error at the checked places, and what is allowed, where it is most for what is allowed.

        Args:
            found: (B, heads, length, D).
            group: how many of its heads belong to one key head.
        """
        errors = _largest(
            found[b, g * group : (g + 1) * group].double() - part[0] for (b, g), part in self.expected.items()
        )
        return max(zip(errors, self.allowed, strict=True), key=lambda pair: pair[0] / max(pair[1], 1e-300))


def _largest(found: Iterable[Tensor]) -> tuple[float, ...]:
    """Return the largest absolute value of some tensors (…, length, D) in each part of their length."""
    peaks = [
        [
            rows.abs().max().item()
            for rows in part.tensor_split(min(max(part.shape[-2] // ROWS, 1), PARTS), dim=-2)
        ]
        for part in found
    ]
    return tuple(map(max, zip(*peaks, strict=True)))


@dataclass(frozen=True)
class Verdict:
    """Whether a backend may be timed.

    Attributes:
        errors: by name of the tensor, `Bound.worst`.
        reason: what is wrong, empty where nothing is.
    """

    errors: dict[str, tuple[float, float]]
    reason: str = ""


def bounds(case: Case, inputs: Inputs) -> dict[str, Bound]:
    """Compute the reference and the naive version's loss on the checked heads.

    Args:
        case: what is checked.
        inputs: all heads of it.
    """
    places = sorted({(0, 0), (case.B - 1, case.G - 1)})
    exact = {place: _by_reference(case, inputs.part(*place, torch.float64)) for place in places}
    own = {place: _by_reference(case, inputs.part(*place, inputs.q.dtype)) for place in places}
    epsilon = torch.finfo(inputs.q.dtype).eps
    found = {}
    for name in exact[places[0]]:
        expected = {place: exact[place][name] for place in places}
        lost = _largest(own[place][name].double() - expected[place] for place in places)
        allowed = (
            FACTOR * loss + FLOOR * epsilon * largest
            for loss, largest in zip(lost, _largest(expected.values()), strict=True)
        )
        found[name] = Bound(expected, tuple(allowed))
    return found


def _by_reference(case: Case, part: Inputs) -> Parts:
    return computed(lambda: attention(*part.leaves, causal=case.causal)[0], part)


def verdict(case: Case, found: Mapping[str, Tensor], limits: Mapping[str, Bound]) -> Verdict:
    """Hold what a backend computed against the reference.

    Args:
        case: what was computed.
        found: as `computed` gives it.
        limits: as `bounds` gives them.
    """
    errors, reasons = {}, []
    for name, bound in limits.items():
        heads = case.H if name in ("o", "dq") else case.G
        shape = (case.B, heads, case.T if name in ("o", "dq") else case.S, case.D)
        if tuple(found[name].shape) != shape:
            return Verdict({}, f"{name} has shape {tuple(found[name].shape)}, expected {shape}")
        errors[name] = error, allowed = bound.worst(found[name], heads // case.G)
        if not torch.isfinite(found[name]).all():
            reasons.append(f"{name} is not finite everywhere")
        elif not error <= allowed:
            reasons.append(f"{name} is off by {error:.2e}, allowed are {allowed:.2e}")
    return Verdict(errors, "; ".join(reasons))
