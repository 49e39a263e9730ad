"""Data that a page offers beside itself: a JSON file that a reader can download and check elsewhere.

The data travel inside the cell's outputs, as records do, so that the file is there whether the page was run or taken
from the cache; the build writes it as `<page>-<name>.json` beside the page and links to it where the cell stands.
"""

from __future__ import annotations

import json
import re
from typing import Any

from onesentence.evidence.emit import emit
from onesentence.evidence.plain import plain

LARGEST = 1_000_000
"""Bytes that a file may have."""


def offer(name: str, data: Any, *, label: str) -> None:
    """Offer data for download beside the page.

    Args:
        name: the file's name without the page's and without `.json`, in a-z, 0-9 and -.
        data: numbers, text, booleans, None, arrays, and lists or mappings of them; finite.
        label: what the link says, in Chinese.

    Raises:
        TypeError: if something cannot be kept as plain data.
        ValueError: if the name or the label is none, a number is not finite, or the file would be too large.

    Example:
        >>> offer("losses", {"seed": 0, "loss": 1.5}, label="每步的损失")
        >>> offer("Losses", {}, label="每步的损失")
        Traceback (most recent call last):
            ...
        ValueError: name: write it in a-z, 0-9 and -, got 'Losses'
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"name: write it in a-z, 0-9 and -, got {name!r}")
    if not isinstance(label, str) or not label.strip():
        raise ValueError(f"label: expected what the link says, got {label!r}")
    kept = plain(data)
    try:
        text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ValueError("data: expected finite numbers, got NaN or infinity") from None
    if (size := len(text.encode())) > LARGEST:
        raise ValueError(f"data: expected at most {LARGEST} bytes of JSON, got {size}")
    emit({"kind": "file", "name": name, "label": label, "data": kept}, f"{label}（{name}.json）")
