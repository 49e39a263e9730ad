"""Whole texts: round trips, what happens to the unknown, and what training may see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from onesentence.text.subwords import ByteBpe, CharacterBpe, run_words, space_words

TRAIN = ["low low low lower lower new"]
MIXED = ["慕容家的书 low", "给他 a book, low"]
FALLBACK = CharacterBpe.learn([*TRAIN, *MIXED], 12, unknown="bytes", specials=("BOS", "EOS"))
LEVEL = ByteBpe.learn([*TRAIN, *MIXED], 12, specials=("BOS", "EOS"))
awkward = st.text(
    st.one_of(st.sampled_from("low er</w>慕容岚\n😀"), st.characters(exclude_categories=["Cs"]))
)


@given(awkward)
def test_byte_bpe_returns_every_text(text):
    assert LEVEL.decode(LEVEL.encode(text)) == text
    assert b"".join(LEVEL.pieces(text)) == text.encode()


@given(awkward)
def test_character_bpe_with_bytes_returns_every_text(text):
    ids = FALLBACK.encode(text, start="BOS", end="EOS")
    assert FALLBACK.decode(ids) == text
    assert (ids[0], ids[-1]) == (0, 1)


@given(st.text("lowern ", max_size=20))
def test_character_bpe_returns_every_text_of_known_characters(text):
    bpe = CharacterBpe.learn(TRAIN, 4)
    assert bpe.decode(bpe.encode(text)) == text


@given(awkward)
def test_words_give_the_text_back(text):
    assert "".join(run_words(text)) == text
    assert " ".join(space_words(text)) == text


def test_run_words_by_hand():
    assert run_words("low, 3low?!  岚。\n\n x") == (
        "low",
        ",",
        " 3low",
        "?!",
        " ",
        " 岚",
        "。",
        "\n",
        "\n",
        " x",
    )
    assert run_words("") == ()


@pytest.mark.parametrize("text", ["", " ", "  ", "\n", "low", " low ", "</w>", "low</w>", "岚"])
def test_both_variants_return_the_awkward_ones(text):
    assert LEVEL.decode(LEVEL.encode(text)) == FALLBACK.decode(FALLBACK.encode(text)) == text


def test_character_bpe_by_hand():
    bpe = CharacterBpe.learn(TRAIN, 4)
    assert bpe.table.symbols == ("e", "l", "n", "o", "r", "w", "</w>", "lo", "low", "low</w>", "er")
    assert bpe.encode("newer low") == (2, 0, 5, 10, 6, 9)


def test_character_bpe_refuses_loses_or_falls_back():
    with pytest.raises(ValueError, match=r"text: no symbol for '岚' \(U\+5C9A\) in '岚low'"):
        CharacterBpe.learn(TRAIN, 4).encode("岚low")
    lossy = CharacterBpe.learn(TRAIN, 4, unknown="UNK", specials=("UNK",))
    assert lossy.pieces("岚low") == (None, "low</w>")
    assert lossy.decode(lossy.encode("岚low")) == "\ufffdlow"
    whole = CharacterBpe.learn(TRAIN, 4, unknown="bytes")
    assert whole.pieces("岚low") == (b"\xe5", b"\xb2", b"\x9a", "low</w>")
    assert whole.decode(whole.encode("岚low")) == "岚low"
    assert lossy.decode(lossy.encode("岚")) == "\ufffd"


def test_character_bpe_merges_nothing_over_an_unknown_character():
    lossy = CharacterBpe.learn(TRAIN, 4, unknown="UNK", specials=("UNK",))
    assert lossy.pieces("lo岚w") == ("lo", None, "w", "</w>")


def test_decode_of_a_beginning_keeps_the_space_only_between_words():
    bpe = CharacterBpe.learn(TRAIN, 4)
    ids = bpe.encode("low lower")
    assert [bpe.decode(ids[:end]) for end in range(len(ids) + 1)] == [
        "",
        "low",
        "low low",
        "low lower",
        "low lower",
    ]


def test_learning_sees_only_what_it_is_given():
    clean, leaked = CharacterBpe.learn(TRAIN, 4), CharacterBpe.learn([*TRAIN, "newer newer newer"], 4)
    assert clean.rules != leaked.rules
    assert len(leaked.pieces("newer")) < len(clean.pieces("newer"))
    text = "newer newer newer"
    assert clean.pieces(text) == clean.pieces("newer") * 3  # applying counts nothing


def test_special_symbols_are_not_spelled():
    bpe = ByteBpe.learn(["BOS BOS BOS"], 9, specials=("BOS",))
    assert bpe.table.special_id("BOS") not in bpe.encode("BOS")
    assert bpe.decode(bpe.encode("BOS", start="BOS")) == "BOS"


def test_byte_bpe_never_merges_over_signs_or_spaces():
    pieces = ByteBpe.learn(["low, low, low, low"], 99).pieces("low, low")
    assert pieces == (b"low", b",", b" low")


def test_byte_bpe_stops_and_keeps_256_bytes():
    assert len(ByteBpe.learn([], 9).table) == 256
    assert len(ByteBpe.learn(["low"], 99).table) == 258


def test_byte_bpe_decode_says_where_a_character_is_cut():
    ids = LEVEL.encode("岚")
    with pytest.raises(ValueError, match="ids: the bytes E5 B2 are not UTF-8 at byte 0"):
        LEVEL.decode(ids[:2])


def test_byte_bpe_agrees_with_tokenizers():
    alphabet = dict(zip(range(256), byte_alphabet(), strict=True))

    def spelled(piece: bytes) -> str:
        return "".join(alphabet[byte] for byte in piece)

    vocabulary = {spelled(symbol): number for number, symbol in enumerate(LEVEL.table.symbols)}
    other = Tokenizer(models.BPE(vocabulary, [(spelled(a), spelled(b)) for a, b in LEVEL.rules]))
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for word in ("low", " lower", " 慕容", "岚", "😀"):
        assert other.encode(word).tokens == [spelled(piece) for piece in LEVEL.pieces(word)]


def byte_alphabet() -> list[str]:
    """Return the printable character that the ByteLevel pre-tokenizer writes for each byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: CharacterBpe((), (), "drop"), ValueError, "unknown: expected 'refuse', 'UNK' or 'bytes'"),
        (
            lambda: CharacterBpe((), (), "UNK"),
            ValueError,
            "specials: expected UNK exactly if unknown is 'UNK'",
        ),
        (lambda: CharacterBpe((), (), specials=("UNK",)), ValueError, "specials: expected UNK exactly if"),
        (lambda: CharacterBpe.learn("low", 4), TypeError, "texts: expected a collection of texts"),
        (lambda: ByteBpe.learn("low", 4), TypeError, "texts: expected a collection of texts"),
        (lambda: ByteBpe.learn(["low"], -1), ValueError, "merges must be at least 0, got -1"),
        (lambda: CharacterBpe.learn(["</w>"], 4), ValueError, "word: '</w>' contains the mark"),
        (lambda: LEVEL.encode("\ud800"), ValueError, r"text: U\+D800 at position 0 is no character"),
    ],
)
def test_subwords_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call()
