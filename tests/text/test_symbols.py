"""Tables of symbols: ids, special symbols, names; rows of ids in a rectangle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.symbols import SymbolTable, pad

TABLE = SymbolTable(("BOS", "书", b"\xe5"), specials=("PAD", "BOS"))


def test_symbol_table_gives_specials_the_first_ids():
    assert len(TABLE) == 5
    assert [TABLE.name(number) for number in range(5)] == ["PAD", "BOS", "BOS", "书", "E5"]
    assert [TABLE.symbol(number) for number in range(5)] == [None, None, "BOS", "书", b"\xe5"]


def test_symbol_table_keeps_a_text_that_spells_bos_apart_from_bos():
    assert (TABLE.special_id("BOS"), TABLE.id_of("BOS")) == (1, 2)


def test_symbol_table_has_no_special_symbols_unless_asked_for():
    table = SymbolTable(("书",))
    assert table.id_of("书") == 0
    with pytest.raises(ValueError, match="name: no special symbol 'EOS'; the table has none"):
        table.special_id("EOS")


def test_symbol_table_takes_integers_of_numpy_and_nothing_else():
    assert TABLE.symbol(np.int64(3)) == "书"
    with pytest.raises(TypeError, match="integer"):
        TABLE.symbol(1.0)


def test_framed_puts_named_symbols_around():
    assert TABLE.framed([4], "BOS", None) == (1, 4)
    assert TABLE.framed([4], None, "PAD") == (4, 0)
    assert TABLE.framed([], None, None) == ()


@pytest.mark.parametrize("number", [-1, 5])
def test_symbol_table_refuses_ids_that_nothing_has(number):
    with pytest.raises(ValueError, match=f"ids: expected 0 to 4, got {number}"):
        TABLE.symbol(number)


def test_symbol_table_refuses_what_is_no_table():
    with pytest.raises(TypeError, match="symbols: expected a tuple of symbols, got a single string"):
        SymbolTable("书")
    with pytest.raises(TypeError, match="specials: expected a tuple of symbols"):
        SymbolTable(("书",), specials="BOS")
    with pytest.raises(ValueError, match="symbols: '书' stands there twice"):
        SymbolTable(("书", "书"))
    with pytest.raises(ValueError, match="specials: an empty symbol cannot have an id"):
        SymbolTable(("书",), specials=("",))
    with pytest.raises(ValueError, match="symbol: '本' is not among the 3 symbols"):
        TABLE.id_of("本")


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), max_size=4))
def test_pad_keeps_every_row_under_the_mask(rows):
    ids, real = pad(rows, fill=0)
    assert ids.shape == real.shape == (len(rows), max(map(len, rows), default=0))
    assert [row[mask].tolist() for row, mask in zip(ids, real, strict=True)] == rows
    assert not ids[~real].any()
