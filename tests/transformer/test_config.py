"""Sizes and designs that a configuration takes and refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from onesentence.transformer.config import BASE, TransformerConfig

BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"source_size": 0}, ValueError, "source_size must be at least 1, got 0"),
    ({"target_size": 2.0}, TypeError, r"target_size must be an integer, got 2\.0"),
    ({"d_model": 10, "n_head": 4}, ValueError, "d_model must be a multiple of n_head = 4, got 10"),
    ({"n_head": 0}, ValueError, "n_head must be at least 1, got 0"),
    ({"d_ff": -1}, ValueError, "d_ff must be at least 1, got -1"),
    ({"encoder_layers": 0}, ValueError, "encoder_layers must be at least 1, got 0"),
    ({"decoder_layers": True}, TypeError, "decoder_layers must be an integer, got True"),
    ({"longest": 0}, ValueError, "longest must be at least 1, got 0"),
    ({"order": "last"}, ValueError, "order: expected one of post, pre, got 'last'"),
    (
        {"positions": "rotary"},
        ValueError,
        "positions: expected one of sinusoidal, learned, none, got 'rotary'",
    ),
    ({"dropout": 1.0}, ValueError, r"dropout must lie in \[0, 1\), got 1\.0"),
    ({"dropout": -0.1}, ValueError, r"dropout must lie in \[0, 1\), got -0\.1"),
    ({"dropout": float("nan")}, ValueError, "dropout must be finite, got nan"),
    ({"dropout": "0.1"}, TypeError, r"dropout must be a number, got '0\.1'"),
    ({"cross": "no"}, TypeError, "cross must be True or False, got 'no'"),
    (
        {"barred": (6,)},
        ValueError,
        r"barred: expected different ids below 6, and not all of them, got \(6,\)",
    ),
    ({"barred": (1, 1)}, ValueError, r"barred: expected different ids .* got \(1, 1\)"),
    ({"barred": tuple(range(6))}, ValueError, r"barred: expected different ids below 6, and not all of them"),
    ({"barred": (-1,)}, ValueError, "barred must be at least 0, got -1"),
    ({"barred": (1.0,)}, TypeError, r"barred must be an integer, got 1\.0"),
]


@pytest.mark.parametrize(("settings", "kind", "message"), BAD)
def test_config_refuses(settings: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        TransformerConfig(**{"source_size": 5, "target_size": 6} | settings)


def test_config_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        BASE.d_model = 8  # type: ignore[misc]


def test_base_is_the_row_of_2017() -> None:
    sizes = (BASE.encoder_layers, BASE.decoder_layers, BASE.d_model, BASE.d_ff, BASE.n_head, BASE.dropout)
    assert sizes == (6, 6, 512, 2048, 8, 0.1)
    assert (BASE.order, BASE.positions, BASE.d_model // BASE.n_head) == ("post", "sinusoidal", 64)
