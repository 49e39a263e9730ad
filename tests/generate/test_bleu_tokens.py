"""Tokenisations: sacrebleu's on every kind of text, and what they do to Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from onesentence.generate.bleu_tokens import _HAN, tokens

NAMES = ("13a", "zh", "char", "none")
REAL = (
    "I gave him a book, yesterday.",
    "  Mr. Li paid $3,141.59 (or 1.5-2%) -- isn't that 'dear'?\n",
    "a well-\nknown <skipped> &quot;tag&quot; &amp;lt; A&T 5-6 e.g.x 3.a a.3",
    "我昨天给了他一本书。",
    "他说：“给我3.5元，book和pen……”（真的）",
    "ｆｕｌｌ　ｗｉｄｔｈ，カナ가㎏①𠀀𠀁",
    "",
    " \t\u3000\u2003\x1c",
)
TEXT = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("我。“ .,-09&\n<>;ab'\u3000")
    )
)
PIECES = st.lists(
    st.sampled_from(["&quot;", "&amp;", "lt;", "&lt;", "<skipped>", "-\n", ".", ",", "1", "a", "-", " "])
)


def expected(text: str, name: str) -> tuple[str, ...]:
    return tuple(_get_tokenizer(name)()(text.rstrip()).split())  # as sacrebleu's BLEU prepares a sentence


@pytest.mark.parametrize("name", NAMES)
def test_tokens_equal_sacrebleu_on_real_text(name):
    for text in REAL:
        assert tokens(text, name) == expected(text, name), text


@given(st.one_of(TEXT, PIECES.map("".join)), st.sampled_from(NAMES))
def test_tokens_equal_sacrebleu_on_random_text(text, name):
    assert tokens(text, name) == expected(text, name)


def test_zh_splits_off_the_characters_that_sacrebleu_does():
    for code in [
        *range(0x3000),
        *range(0x3000, 0xD800, 7),
        *range(0xE000, 0x10000),
        *range(0x1FF00, 0x30000, 97),
    ]:
        assert bool(_HAN.match(chr(code))) == TokenizerZh._is_chinese_char(chr(code)), hex(code)


def test_tokens_by_hand():
    assert tokens("我给了他book。", "zh") == ("我", "给", "了", "他", "book", "。")
    assert tokens("我给了他一本书。", "13a") == ("我给了他一本书。",)
    assert tokens("a b.", "char") == ("a", "b", ".")
    assert tokens("a  b.", "none") == ("a", "b.")
    assert tokens("3.5 a.b", "13a") == ("3.5", "a", ".", "b")
    assert tokens("“他”", "zh") == ("“", "他", "”")


def test_tokens_refuses():
    with pytest.raises(ValueError, match="tokenisation must be one of 13a, zh, char, none, got 'jieba'"):
        tokens("a", "jieba")
    with pytest.raises(TypeError, match=r"text must be a string, got \['a'\]"):
        tokens(["a"], "none")
