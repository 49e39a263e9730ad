"""Files that pages offer: what may be in them."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.evidence import files, offer


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    records: list[dict] = []
    monkeypatch.setattr(files, "emit", lambda record, summary: records.append(record))
    return records


def test_offer_keeps_plain_data(emitted) -> None:
    offer(
        "run-0",
        {"loss": np.array([0.5, np.float64(1.0)]), "right": np.bool_(True), "words": ("我",)},
        label="一次",
    )
    assert emitted == [
        {
            "kind": "file",
            "name": "run-0",
            "label": "一次",
            "data": {"loss": [0.5, 1.0], "right": True, "words": ["我"]},
        }
    ]


@pytest.mark.parametrize(
    ("name", "data", "label", "error", "message"),
    [
        ("../x", 1, "数", ValueError, "name: write it in a-z"),
        ("", 1, "数", ValueError, "name: write it in a-z"),
        ("x.json", 1, "数", ValueError, "name: write it in a-z"),
        (None, 1, "数", ValueError, "name: write it in a-z"),
        ("x", 1, " ", ValueError, "label: expected what the link says"),
        ("x", [float("nan")], "数", ValueError, "data: expected finite numbers"),
        ("x", {"y": -np.inf}, "数", ValueError, "data: expected finite numbers"),
        ("x", object(), "数", TypeError, "value: a object cannot be kept"),
        ("x", "书" * files.LARGEST, "数", ValueError, "data: expected at most 1000000 bytes"),
        ("x", "书" * (files.LARGEST // 2), "数", ValueError, "of JSON, got 1500002"),  # bytes, not characters
    ],
)
def test_offer_refuses(emitted, name, data, label, error, message) -> None:
    with pytest.raises(error, match=message):
        offer(name, data, label=label)
    assert not emitted
