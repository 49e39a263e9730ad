"""Published tables: what they hold, and what is refused."""

from __future__ import annotations

import pytest

from onesentence.evidence.literature import LiteratureError, Published, published


def test_published_has_the_cells_of_the_paper():
    table = published("transformer-v1-table2")
    assert "v1" in table.source
    cells = {(row[0], row[1]): row[2:] for row in table.rows}
    assert len(cells) == len(table.rows) == 10
    assert cells["Transformer (big)", False] == (28.4, 41.0, 2.3e19, 2.3e19, True)
    assert cells["ConvS2S", True] == (26.36, 41.29, 7.7e19, 1.2e21, False)
    assert cells["ByteNet", False] == (23.75, None, None, None, False)


def test_published_merged_costs_are_those_of_the_transformer_only():
    table = published("transformer-v1-table2")
    merged = [
        name for name, flag in zip(table.column("model"), table.column("cost_merged"), strict=True) if flag
    ]
    assert merged == ["Transformer (base)", "Transformer (big)"]


def test_published_refuses_unknown_names():
    with pytest.raises(LiteratureError, match="did you mean 'transformer-v1-table2'"):
        published("transformer-v1-table3")
    with pytest.raises(LiteratureError, match=r"expected one of model, .*, got 'bleu'"):
        published("transformer-v1-table2").column("bleu")


def test_published_refuses_a_row_of_another_length():
    with pytest.raises(LiteratureError, match=r"x: expected 2 cells, got \(1,\)"):
        Published("x", "", ("a", "b"), ((1, 2), (1,)), "")
