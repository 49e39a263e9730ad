"""Characters and bytes: ids by hand, round trips, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.sentence.example import SENTENCE
from onesentence.text.coding import ByteCoding, CharacterCoding, from_utf8, to_utf8
from onesentence.text.symbols import SymbolTable

BOOK = CharacterCoding.learn(["一本书"], specials=("BOS", "EOS", "UNK"), unknown="UNK")


def test_character_coding_orders_by_code_point_after_the_specials():
    assert BOOK.table.symbols == ("一", "书", "本")
    assert BOOK.encode("一本书") == (3, 5, 4)


def test_character_coding_loses_what_unk_stands_for():
    assert BOOK.encode("一封信", end="EOS") == (3, 2, 2, 1)
    assert BOOK.decode((3, 2, 2, 1)) == "一\ufffd\ufffd"


def test_character_coding_refuses_the_unknown_unless_told_otherwise():
    coding = CharacterCoding.learn([SENTENCE])
    with pytest.raises(ValueError, match=r"text: no id for '她' \(U\+5979\) at position 1, and no symbol"):
        coding.encode("给她")
    with pytest.raises(ValueError, match="no special symbol 'UNK'"):
        CharacterCoding.learn([SENTENCE], unknown="UNK")


def test_character_coding_refuses_what_is_no_character():
    with pytest.raises(ValueError, match="table: expected single characters, got '一本'"):
        CharacterCoding(SymbolTable(("一本",)))
    with pytest.raises(ValueError, match="table: expected single characters, got b'a'"):
        CharacterCoding(SymbolTable((b"a",)))
    with pytest.raises(TypeError, match="texts: expected a collection of texts, got a single string"):
        CharacterCoding.learn("一本书")


@given(st.lists(st.text(max_size=8), max_size=4))
def test_character_coding_returns_its_training_texts(texts):
    coding = CharacterCoding.learn(texts, specials=("BOS", "EOS"))
    for text in texts:
        ids = coding.encode(text, start="BOS", end="EOS")
        assert coding.decode(ids) == text
        assert len(ids) == len(text) + 2


def test_byte_coding_is_utf_8_shifted_by_the_specials():
    assert ByteCoding().encode("岚") == tuple("岚".encode()) == (229, 178, 154)
    assert ByteCoding(("BOS", "EOS")).encode("岚", start="BOS") == (0, 231, 180, 156)
    assert len(ByteCoding(("EOS",)).table) == 257


@given(st.text(max_size=20))
def test_byte_coding_returns_every_text(text):
    coding = ByteCoding(("BOS", "EOS"))
    assert coding.decode(coding.encode(text, start="BOS", end="EOS")) == text


def test_byte_coding_says_where_bytes_are_no_text():
    with pytest.raises(ValueError, match="ids: the bytes B2 61 are not UTF-8 at byte 1"):
        ByteCoding().decode((97, 0xB2, 97))
    with pytest.raises(ValueError, match="ids: expected 0 to 255, got 256"):
        ByteCoding().decode((256,))


def test_to_utf8_refuses_half_a_surrogate_pair():
    with pytest.raises(ValueError, match=r"text: U\+D83D at position 1 is no character"):
        to_utf8("a\ud83d")
    assert from_utf8(to_utf8("😀")) == "😀"
