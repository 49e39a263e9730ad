"""What a training costs by the estimate of 2017, and which choices quality and cost leave open.

    FLOPs = devices * hours * 3600 s * sustained rate

The rate is a guess about the device, so the product is an estimate of capacity that was booked, not a count of what a
model computed. Vaswani et al. 2017 (arXiv:1706.03762v1), section 6.1 and Table 2; section 4.15 of the course.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from onesentence.checks import as_ids, checked_integer, checked_number

SECONDS_PER_HOUR = 3600


def training_flops(devices: int, hours: float, rate: float) -> float:
    """Return the estimate.

    Args:
        devices: number of them.
        hours: how long all of them were used.
        rate: FLOP per second that one is taken to sustain.

    Raises:
        TypeError: if `devices` is not an integer, or hours or rate are no numbers.
        ValueError: if `devices` is less than 1, or hours or rate are not positive and finite.

    Example:
        >>> f"{training_flops(8, 12, 9.5e12):.2e}"
        '3.28e+18'
    """
    checked_integer("devices", devices, 1)
    for name, value in (("hours", hours), ("rate", rate)):
        if checked_number(name, value) <= 0:
            raise ValueError(f"{name} must be positive and finite, got {value}")
    return devices * hours * SECONDS_PER_HOUR * rate


def undominated(quality: Sequence[float], cost: Sequence[float]) -> list[bool]:
    """Return which choices no other beats: none is as good and as cheap, and better in one of the two.

    Args:
        quality: larger is better.
        cost: smaller is better, as many.

    Returns:
        For each choice whether it is left; equal ones leave each other.

    Raises:
        TypeError: if one is no number.
        ValueError: if there is nothing to choose from, the lengths differ, or a number is not finite.

    Example:
        >>> undominated([27.3, 25.2, 28.4], [3.3, 9.6, 23.0])
        [True, False, True]
    """
    if len(quality) != len(cost) or not len(quality):
        raise ValueError(
            f"quality and cost must be equally many, at least one, got {len(quality)} and {len(cost)}"
        )
    for name, values in (("quality", quality), ("cost", cost)):
        for value in values:
            checked_number(name, value)
    pairs = list(zip(quality, cost, strict=True))
    return [not any(q >= a and c <= b and (q, c) != (a, b) for q, c in pairs) for a, b in pairs]


def rank(quality: Sequence[float | None], index: int) -> int:
    """Return the place of one choice among those that have a number, 1 for the best; equal ones share a place.

    Args:
        quality: larger is better; None where nothing was reported.
        index: of the choice.

    Raises:
        TypeError: if the index is no integer or the quality of a choice no number.
        ValueError: if there is no such choice, it has no number, or one is not finite.

    Example:
        >>> [rank([27.3, None, 28.4], index) for index in (0, 2)]
        [2, 1]
    """
    as_ids("index", index, len(quality))
    known = [checked_number("quality", value) for value in quality if value is not None]
    own = quality[index]
    if own is None:
        raise ValueError(f"quality: choice {index} has no number")
    return 1 + sum(other > own for other in known)


def cost_ratios(cost: Sequence[float | None], reference: Sequence[float | None]) -> list[float | None]:
    """Return how many times its reference each cost is.

    Args:
        cost: of the choices; None where nothing was reported.
        reference: what each is compared with, as many.

    Returns:
        For each choice the quotient, None where one of the two was not reported.

    Raises:
        ValueError: if the lengths differ, or a number is not positive and finite.

    Example:
        >>> cost_ratios([6.0, None], [1.5, 2.0])
        [4.0, None]
    """
    if len(cost) != len(reference):
        raise ValueError(f"cost and reference must be equally many, got {len(cost)} and {len(reference)}")
    for name, values in (("cost", cost), ("reference", reference)):
        if wrong := [value for value in values if value is not None and not 0 < value < math.inf]:
            raise ValueError(f"{name} must be positive and finite, got {wrong[0]}")
    pairs = zip(cost, reference, strict=True)
    return [None if c is None or r is None else c / r for c, r in pairs]
