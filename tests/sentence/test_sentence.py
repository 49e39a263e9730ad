"""The running example: its units, analyses and variants fit together."""

from __future__ import annotations

import pytest

from onesentence.sentence.draft import DICTIONARY, differences, replace_words
from onesentence.sentence.example import (
    DRAFT,
    NAMED,
    POS,
    ROLES,
    SENTENCE,
    TARGET,
    TRANSLATION,
    UNITS,
    name_people,
    target_of,
)
from onesentence.sentence.strip import Strip, positions
from onesentence.sentence.structure import Tree, giving_roles, giving_tree, unit_roles


def test_units_parts_of_speech_and_target_fit() -> None:
    assert "".join(UNITS) == SENTENCE
    assert len(POS) == len(UNITS) == 9
    assert target_of(TRANSLATION) == TARGET
    assert len(TARGET) == 8


def test_draft_is_the_replacement_by_the_dictionary() -> None:
    assert set(DICTIONARY) == set(UNITS)
    assert " ".join(replace_words(UNITS)).replace(" .", ".") == DRAFT
    assert differences(replace_words(UNITS), TARGET[:-1]) == (["gave", "him", "a"], ["give", "he", "one"])
    with pytest.raises(ValueError, match="no entry for 她"):
        replace_words(("她",))


def test_named_variant_is_the_sentence_with_names() -> None:
    assert name_people(UNITS, dict(NAMED.assignment)) == NAMED.text
    with pytest.raises(ValueError, match="她 does not occur in 我/昨天"):
        name_people(UNITS, {"她": "王芳"})


@pytest.mark.parametrize("text", ["", "  "])
def test_target_refuses_an_empty_text(text: str) -> None:
    with pytest.raises(ValueError, match="expected at least one token"):
        target_of(text)


def test_target_refuses_reserved_symbols() -> None:
    with pytest.raises(ValueError, match="EOS is a reserved symbol"):
        target_of("I gave EOS")


def test_tree_has_the_units_as_leaves() -> None:
    tree = giving_tree()
    assert tree.leaves() == UNITS
    assert tree.depth() == 6
    assert len(tree.innermost()) == 9
    assert tree.innermost()[7] == "名词短语"
    assert tree.find(("给", "了")) == ("动词",)
    assert Tree("叶").leaves() == ("叶",)


def test_roles_cover_disjoint_units() -> None:
    used = [i for role in ROLES for i in role.units]
    assert len(used) == len(set(used)) == 6
    assert unit_roles() == ("给出者", "时间", None, None, "接收者", "交付物", "交付物", "交付物", None)


def test_exchange_swaps_giver_and_recipient_only() -> None:
    swapped = giving_roles(tuple({"我": "他", "他": "我"}.get(u, u) for u in UNITS))
    assert dict(swapped.edges) == {"给出者": "他", "接收者": "我", "交付物": "一本书", "时间": "昨天"}
    with pytest.raises(ValueError, match="unknown '收件人'; this event has 给出者"):
        swapped.filler("收件人")
    with pytest.raises(ValueError, match="expected 9 units, got 2"):
        giving_roles(("我", "他"))


def test_strip_lights_tiles_and_describes_itself() -> None:
    strip = Strip(source=(4,), target=(2,))
    html = strip.html()
    assert html.count("strip-tile") == 17
    assert html.count("is-active") == 2
    assert '<span class="strip-tile is-active">他</span>' in html
    assert 'role="img"' in html
    assert "点亮：他" in html
    assert "目标" not in Strip(target_units=()).description


def test_strip_refuses_positions_outside() -> None:
    with pytest.raises(ValueError, match=r"source: position 9 is outside the 9 tiles"):
        Strip(source=(9,))
    with pytest.raises(ValueError, match="target: '她' is no tile"):
        positions("她", TARGET, "target")
    assert positions("all", UNITS, "source") == tuple(range(9))


def test_strip_escapes_its_tiles() -> None:
    assert "<b>" not in Strip(source_units=("<b>",), target_units=()).html()
