"""The generated corpora: held-out pairs stay out, distances and labels are as promised."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from onesentence.text.name_corpus import (
    HELD_OUT_GIVEN,
    TRAINING_GIVEN,
    TaggedText,
    character_vocabulary,
    name_sentences,
)
from onesentence.text.window_corpus import (
    COLOURS,
    FILLERS,
    NOUNS,
    RECIPIENTS,
    VERBS,
    counts_after,
    giving_sentences,
    key_story,
    noun_probabilities,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_noun_probabilities_sum_to_one_and_favour_one_noun() -> None:
    best = [max(p, key=p.get) for p in map(noun_probabilities, VERBS)]
    assert best == list(NOUNS)
    assert all(sum(noun_probabilities(v).values()) == pytest.approx(1) for v in VERBS)
    assert sum(RECIPIENTS.values()) == pytest.approx(1)


def test_giving_sentences_have_the_form() -> None:
    for s in giving_sentences(200, rng()):
        assert len(s) in (6, 7)
        assert s[1] in VERBS
        assert s[2] in RECIPIENTS
        assert s[3] == "a"
        assert s[4] in NOUNS
        assert s[-1] == "."
        assert (s[0], s[2]) not in {("I", "me"), ("you", "you"), ("we", "us")}


def test_giving_sentences_leave_the_held_out_pair_out() -> None:
    held = [("gave", "him"), ("sent", "us")]
    pairs = {s[1:3] for s in giving_sentences(600, rng(), held_out=held)}
    assert not pairs & set(held)
    assert pairs >= {("gave", "her"), ("sent", "him"), ("lent", "us")}
    assert ("gave", "him") in {s[1:3] for s in giving_sentences(600, rng())}


def test_giving_sentences_keep_exceptions_and_nothing_else_changes() -> None:
    plain = giving_sentences(400, rng())
    odd = giving_sentences(400, rng(), exceptions={("gave", "him"): "key"})
    for before, after in zip(plain, odd, strict=True):
        if after[1:3] == ("gave", "him"):
            assert after == (*before[:4], "key", *before[5:])
        else:
            assert after == before
    assert plain != odd


def test_giving_sentences_are_a_beginning_of_more() -> None:
    assert giving_sentences(5, rng()) == giving_sentences(9, rng())[:5]


def test_giving_sentences_refuse_bad_input() -> None:
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        giving_sentences(0, rng())
    with pytest.raises(ValueError, match="is no pair of verb and recipient"):
        giving_sentences(1, rng(), held_out=[("gave", "it")])
    with pytest.raises(ValueError, match="fewer than two recipients are left for 'gave'"):
        giving_sentences(1, rng(), held_out=[("gave", r) for r in list(RECIPIENTS)[1:]])
    with pytest.raises(ValueError, match="verb must be one of"):
        noun_probabilities("ate")


def test_counts_after_equal_scikit_learn() -> None:
    sentences = giving_sentences(100, rng())
    texts = [" ".join([*s, "EOS"]) for s in sentences]
    counter = CountVectorizer(ngram_range=(3, 3), lowercase=False, token_pattern=r"\S+")
    totals = np.asarray(counter.fit_transform(texts).sum(axis=0)).ravel()
    theirs = {name: int(totals[i]) for name, i in counter.vocabulary_.items()}
    for context in (("gave", "her"), ("today", "."), ("her", "a")):
        ours = counts_after(sentences, context)
        wanted = {
            name.split()[2]: n for name, n in theirs.items() if name.startswith(" ".join(context) + " ")
        }
        assert dict(ours) == wanted


def test_counts_after_by_hand() -> None:
    sentences = [("I", "gave", "her"), ("I", "gave", "her"), ("I", "gave", "him")]
    assert counts_after(sentences, ["gave"]) == {"her": 2, "him": 1}
    assert counts_after(sentences, ["her"]) == {"EOS": 2}
    assert counts_after(sentences, ["sent"]) == {}
    with pytest.raises(ValueError, match="context must hold at least one token"):
        counts_after(sentences, [])


@pytest.mark.parametrize("clauses", [0, 1, 3])
def test_key_story_has_the_colour_at_the_distance(clauses: int) -> None:
    red, blue = (key_story(c, FILLERS[:clauses]) for c in COLOURS)
    differ = [i for i, (a, b) in enumerate(zip(red, blue, strict=True)) if a != b]
    assert differ == [len(red) - 8 - 5 * clauses]
    assert all(len(clause) == 5 for clause in FILLERS)


def test_key_story_refuses_another_colour() -> None:
    with pytest.raises(ValueError, match="colour must be one of"):
        key_story("green", ())


def test_name_sentences_labels_fit_and_are_legal() -> None:
    for text, labels in name_sentences(200, rng()):
        assert len(text) == len(labels)
        assert set(labels) <= {"O", "B-PER", "I-PER"}
        for before, now in zip(("O", *labels), labels, strict=False):
            assert not (now == "I-PER" and before == "O")


def test_held_out_names_are_other_names() -> None:
    assert not set(TRAINING_GIVEN) & set(HELD_OUT_GIVEN)

    def names(texts: tuple[TaggedText, ...]) -> set[str]:
        return {t[t.index("是") + 1 : t.index("写")] for t, _ in texts if t.startswith("书是")}

    training = names(name_sentences(800, rng()))
    held_out = names(name_sentences(800, rng(), given=HELD_OUT_GIVEN))
    assert training
    assert held_out
    assert not training & held_out


def test_name_sentences_refuse_bad_input() -> None:
    with pytest.raises(ValueError, match="count must be at least 1"):
        name_sentences(0, rng())
    with pytest.raises(ValueError, match="given must hold at least one name"):
        name_sentences(1, rng(), given=())


def test_character_vocabulary_keeps_frequent_characters() -> None:
    texts = (TaggedText("书书看", ("O", "O", "O")),)
    assert character_vocabulary(texts).symbols == ("PAD", "UNK", "书")
    assert character_vocabulary(texts, least=1).symbols == ("PAD", "UNK", "书", "看")
