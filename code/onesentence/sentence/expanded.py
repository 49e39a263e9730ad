"""The sentence with a longer noun phrase, 我昨天给了他一本封面很厚、里面夹着许多便签的书。, numbered for itself.

It is the same event of giving, but another sequence: positions are not those of the nine units, and the segmentation
is set by hand for teaching (identity `constructed`). Source: section 2.1 of the course. Positions count from 0.
"""

from __future__ import annotations

from onesentence.sentence.example import UNITS

EXPANDED = "我昨天给了他一本封面很厚、里面夹着许多便签的书。"
EXPANDED_UNITS: tuple[str, ...] = (
    *UNITS[:7],
    *("封面", "很", "厚", "、", "里面", "夹", "着", "许多", "便签", "的"),
    *UNITS[7:],
)


def in_expanded(position: int) -> int:
    """Return where a unit of the short sentence stands in the expanded one.

    Args:
        position: in `UNITS`, from 0.

    Raises:
        ValueError: if there is no such unit.

    Example:
        >>> in_expanded(UNITS.index("书")), EXPANDED_UNITS[17]
        (17, '书')
    """
    if not 0 <= position < len(UNITS):
        raise ValueError(f"position must lie in [0, {len(UNITS)}), got {position}")
    return position if position < 7 else position + len(EXPANDED_UNITS) - len(UNITS)
