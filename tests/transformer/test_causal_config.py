"""What a configuration says and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from onesentence.transformer.causal_config import CausalConfig


def test_config_has_as_many_key_heads_as_query_heads_unless_told() -> None:
    assert CausalConfig(5).key_heads == 4
    assert CausalConfig(5, n_kv_head=2).key_heads == 2
    assert CausalConfig(5, d_model=24, n_head=4).head_size == 6


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"vocabulary": 0}, ValueError, "vocabulary must be at least 1, got 0"),
    ({"layers": 1.5}, TypeError, r"layers must be an integer, got 1\.5"),
    ({"n_kv_head": 0}, ValueError, "n_kv_head must be at least 1, got 0"),
    ({"window": 0}, ValueError, "window must be at least 1, got 0"),
    ({"d_model": 66}, ValueError, "d_model must be a multiple of n_head = 4, got 66"),
    ({"n_kv_head": 3}, ValueError, "n_head must be a multiple of n_kv_head = 3, got 4"),
    ({"n_kv_head": 8}, ValueError, "n_head must be a multiple of n_kv_head = 8, got 4"),
    ({"order": "both"}, ValueError, "order: expected one of post, pre, got 'both'"),
    ({"positions": "learned"}, ValueError, "positions: expected one of rope, none, got 'learned'"),
    ({"rope_base": 1}, ValueError, "rope_base must be larger than 1, got 1"),
    ({"d_model": 12}, ValueError, "D must be even, as components turn in pairs, got 3"),
    ({"dropout": 1}, ValueError, r"dropout must lie in \[0, 1\), got 1"),
    ({"tied": 1}, TypeError, "tied must be True or False, got 1"),
]


@pytest.mark.parametrize(("settings", "kind", "message"), BAD)
def test_config_refuses(settings: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        CausalConfig(**{"vocabulary": 5} | settings)


def test_config_takes_an_odd_head_without_rope() -> None:
    assert CausalConfig(5, d_model=12, positions="none").head_size == 3
