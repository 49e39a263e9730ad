"""The names of the eight kinds of evidence; what readers see of them is in `identity`.

They stand alone so that the record of a run, which names its kind, does not depend on how kinds are shown.
"""

from __future__ import annotations

KINDS = (
    "constructed",
    "mechanism",
    "trained",
    "measured",
    "recorded",
    "course",
    "literature",
    "pending",
)
"""In the order in which they are explained to readers."""


def checked_kind(key: str) -> str:
    """Return the name of a kind of evidence after checking that there is such a kind.

    Raises:
        ValueError: if there is none, listing the known names.

    Example:
        >>> checked_kind("trained")
        'trained'
    """
    if key not in KINDS:
        raise ValueError(f"identity: unknown {key!r}; known are {', '.join(KINDS)}")
    return key
