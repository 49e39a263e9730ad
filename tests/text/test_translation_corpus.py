"""The translation corpus: what its parts hold and never share."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from onesentence.sentence.example import NAMED, SENTENCE, TRANSLATION
from onesentence.text.giving import Event
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import VARIANTS, TranslationConfig, running_events
from onesentence.text.translation_corpus import PARTS, Example, TranslationCorpus, translation_corpus
from onesentence.text.translation_words import CAST, GOODS
from onesentence.text.vocabulary import SPECIALS

SMALL = TranslationConfig(train=400, dev=40, test=40, probe=20)
FEW = {  # so few words that the same sentence is drawn again and again
    "people": tuple(person for person in CAST if person.zh in ("我", "他", "张明", "李华", "玛丽")),
    "verbs": SMALL.verbs[:1],
    "numbers": SMALL.numbers[:1],
    "times": SMALL.times[:1],
}
CORPORA = [
    translation_corpus(),
    translation_corpus(replace(SMALL, **FEW)),
    *(translation_corpus(replace(SMALL, seed=seed)) for seed in (1, 2, 3, 4)),
]
PEOPLE = {person.zh: person for person in CAST}
THINGS = {thing.zh: thing for thing in GOODS}


def triples(examples: tuple[Example, ...]) -> set[tuple[str, str, str]]:
    return {triple for e in examples for triple in e.triples}


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_triple_that_is_tested_was_trained_or_chosen_with(corpus):
    known = triples(corpus.train) | triples(corpus.dev)
    for name in ("test", "new_recipient", "three_things", "running"):
        assert not known & triples(corpus.part(name)), name


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_sentence_of_either_language_stands_in_two_parts(corpus):
    for one, other in combinations(PARTS, 2):
        for side in ("source", "target"):
            texts = [{getattr(e, side) for e in corpus.part(name)} for name in (one, other)]
            assert not texts[0] & texts[1], (one, other, side)


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_source_comes_twice_and_parts_have_the_size_asked_for(corpus):
    c = corpus.config
    sizes = [len(corpus.part(name)) for name in PARTS]
    assert sizes == [c.train, c.dev, c.test, c.probe, c.probe, len(VARIANTS)]
    sources = [e.source for name in PARTS for e in corpus.part(name)]
    assert len(set(sources)) == len(sources)


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_running_sentence_and_all_its_variants_are_held_out(corpus):
    known = {("".join(e.source), " ".join(e.target)) for e in corpus.train + corpus.dev}
    held = [("".join(e.source), " ".join(e.target)) for e in corpus.running]
    assert held[0] == (SENTENCE, TRANSLATION)
    assert held[5][0] == NAMED.text
    assert not known & set(held)
    # every other telling of the same event too: no other verb, number, day or mood
    book = {("我", "他", "书"), ("他", "我", "书"), ("张明", "李华", "书")}
    assert not book & triples(corpus.train + corpus.dev)


def test_the_running_sentence_is_held_out_where_hardly_anything_is():
    corpus = translation_corpus(replace(SMALL, held_out=1e-6, coordinated=0.0, test=5))
    running = {triple for example in corpus.running for triple in example.triples}
    assert running >= {triple for example in corpus.test for triple in example.triples}
    assert not running & {triple for part in (corpus.train, corpus.dev) for e in part for triple in e.triples}


def test_the_variants_are_these_sentences():
    sentences = {
        name: ("".join(pair.source), " ".join(pair.target))
        for name, event in running_events(TranslationConfig()).items()
        for pair in [pair_of(event)]
    }
    assert tuple(sentences) == VARIANTS
    assert sentences["time_first"] == ("昨天我给了他一本书。", TRANSLATION)
    assert sentences["negated"] == ("我昨天没给他一本书。", "I did not give him a book yesterday .")
    assert sentences["question"] == ("我昨天给了他一本书吗？", "Did I give him a book yesterday ?")
    assert sentences["swapped"] == ("他昨天给了我一本书。", "He gave me a book yesterday .")
    assert sentences["named"] == (NAMED.text, "Zhang Ming gave Li Hua a book yesterday .")


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_probe_asks_a_giver_to_receive(corpus):
    name = corpus.config.giver_only
    others = [e for part in PARTS if part != "new_recipient" for e in corpus.part(part)]
    assert all(e.event.recipient.zh != name for e in others)
    assert all(e.event.recipient.zh == name for e in corpus.new_recipient)
    assert sum(e.event.giver.zh == name for e in corpus.train) > len(corpus.train) / 30


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_probe_coordinates_three_things_where_training_has_one_or_two(corpus):
    assert {len(e.event.items) for e in corpus.train} == {1, 2}
    assert {len(e.event.items) for e in corpus.test} == {1, 2}
    assert {len(e.event.items) for e in corpus.three_things} == {3}
    assert all(e.source.count("和") == e.target.count("and") == 2 for e in corpus.three_things)


@pytest.mark.parametrize("corpus", CORPORA)
def test_sentences_with_several_things_are_never_denied(corpus):
    assert not any(e.event.negated and e.event.others for part in PARTS for e in corpus.part(part))


@pytest.mark.parametrize("corpus", CORPORA)
def test_alignment_covers_all_but_the_measure_words(corpus):
    for part in PARTS:
        for e in corpus.part(part):
            assert {j for _, j in e.pair.alignment} == set(range(len(e.target)))
            free = set(range(len(e.source))) - {i for i, _ in e.pair.alignment}
            assert [e.source[i] for i in sorted(free)] == [item.thing.measure for item in e.event.items]


@pytest.mark.parametrize("corpus", CORPORA)
def test_english_agrees(corpus):
    plurals = {word for thing in GOODS for word in [thing.plural]}
    for part in PARTS:
        for e in corpus.part(part):
            words = e.target
            assert words[0][0].isupper()
            assert words[-1] == ("?" if e.event.question else ".")
            assert not {"me", "him", "her", "us", "them"} & {words[0].lower()}
            for before, word in pairwise(words):
                assert not (before in ("two", "three", "four", "five") and word not in plurals)
                if before in ("a", "an"):
                    assert word not in plurals
                    assert (before == "an") == (word[0] in "aeiou")
                if before in ("not", "Will"):
                    assert not word.endswith("ed")


def test_every_word_of_the_other_parts_is_in_the_default_training_part():
    corpus = CORPORA[0]
    for part in PARTS:
        sources, targets = corpus.encode(corpus.part(part))
        assert all(ids.min() > 3 for ids in sources + targets), part
    assert corpus.source_vocabulary.symbols[:4] == corpus.target_vocabulary.symbols[:4] == SPECIALS


def test_encode_comes_back():
    corpus = CORPORA[0]
    sources, targets = corpus.encode(corpus.test)
    assert [corpus.source_vocabulary.decode(ids) for ids in sources] == [e.source for e in corpus.test]
    assert [corpus.target_vocabulary.decode(ids) for ids in targets] == [e.target for e in corpus.test]


def test_a_smaller_training_part_is_the_beginning_of_a_larger_and_leaves_the_rest_as_it_is():
    large, small = CORPORA[2], translation_corpus(replace(SMALL, seed=1, train=100))
    assert large.train[:100] == small.train
    assert all(large.part(name) == small.part(name) for name in PARTS[1:])


def test_translation_corpus_is_decided_by_the_seed():
    again = translation_corpus(replace(SMALL, seed=1))
    assert again == CORPORA[2]
    assert again.digest == CORPORA[2].digest
    assert len({corpus.digest for corpus in CORPORA}) == len(CORPORA)
    assert pickle.loads(pickle.dumps(again)) == again


def test_digest_sees_a_change_of_one_link():
    first, *rest = CORPORA[2].dev
    links = frozenset(sorted(first.pair.alignment)[1:])
    changed = replace(first, pair=replace(first.pair, alignment=links))
    assert replace(CORPORA[2], dev=(changed, *rest)).digest != CORPORA[2].digest


def test_without_coordination_there_is_no_he():
    corpus = translation_corpus(replace(SMALL, coordinated=0.0))
    assert corpus.three_things == ()
    assert "和" not in corpus.source_vocabulary
    assert "and" not in corpus.target_vocabulary


def test_shares_are_about_what_was_asked_for():
    train = CORPORA[0].train
    single = [e for e in train if not e.event.others]
    assert abs(sum(e.event.negated for e in single) / len(single) - 0.2) < 0.04
    assert abs(sum(e.event.question for e in train) / len(train) - 0.2) < 0.04
    assert abs(1 - len(single) / len(train) - 0.25) < 0.04
    assert abs(sum(e.event.time_first for e in train) / len(train) - 0.5) < 0.05


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": 0}, "train: expected at least 1, got 0"),
        ({"seed": -1}, "seed: expected at least 0, got -1"),
        ({"coordinated": 1.0}, r"coordinated: expected a share from 0 to below 1, got 1\.0"),
        ({"held_out": 0.0}, r"held_out: expected a share above 0, got 0\.0"),
        (
            {"negated": 0.5, "question": 0.5},
            r"question: expected a share below 1 together with negated, got 1\.0",
        ),
        ({"giver_only": "我"}, "giver_only: 我 receives in a variant of the running sentence"),
        ({"giver_only": "Ann"}, "giver_only: expected one of the people, got 'Ann'"),
        ({"things": GOODS[1:]}, "things: the running sentence needs 书"),
        ({"people": CAST[:6]}, "people: the running sentence needs 张明、李华"),
        ({"things": (*GOODS, GOODS[0])}, "things: expected different words"),
    ],
)
def test_config_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


@pytest.mark.parametrize("size", [2.5, True, "5"])
def test_config_refuses_sizes_that_are_no_integers(size):
    for name in ("train", "seed"):
        with pytest.raises(TypeError, match=f"{name}: expected an integer, got {size!r}"):
            replace(SMALL, **{name: size})


def test_translation_corpus_refuses_more_sentences_than_there_are():
    with pytest.raises(
        ValueError, match=r"test: asked for 4000 sentences, the words gave only \d+ different"
    ):
        translation_corpus(replace(SMALL, **FEW, test=4000, coordinated=0.0))
    with pytest.raises(
        ValueError, match="three_things: asked for 20 sentences, the words gave only 0 different"
    ):
        translation_corpus(replace(SMALL, held_out=0.3, things=GOODS[:2]))


def test_part_and_variant_refuse_other_names():
    corpus: TranslationCorpus = CORPORA[2]
    with pytest.raises(ValueError, match=r"name: expected one of train, dev, .*got 'valid'"):
        corpus.part("valid")
    with pytest.raises(ValueError, match=r"name: expected one of running, .*got 'passive'"):
        corpus.variant("passive")


def event(giver: str, recipient: str, thing: str, **changes: object) -> Event:
    c = TranslationConfig()
    plain = {"verb": c.verbs[0], "number": c.numbers[0], "thing": THINGS[thing], "time": c.times[0]}
    return Event(**({"giver": PEOPLE[giver], "recipient": PEOPLE[recipient]} | plain | changes))


def test_words_make_these_sentences():
    c = TranslationConfig()
    two, will = c.numbers[1], c.times[6]
    cases = [
        (
            event("你", "他", "伞", question=True),
            "你昨天给了他一把伞吗？",
            "Did you give him an umbrella yesterday ?",
        ),
        (
            event("玛丽", "我们", "围巾", number=two, time=will, question=True, time_first=True),
            "下周玛丽会给我们两条围巾吗？",
            "Will Mary give us two scarves next week ?",
        ),
        (
            event("他们", "王芳", "手表", number=two, verb=c.verbs[3], time=c.times[1]),
            "他们昨晚寄给了王芳两块手表。",
            "They sent Wang Fang two watches last night .",
        ),
        (
            event("她", "汤姆", "相册", negated=True, verb=c.verbs[1], time=c.times[5]),
            "她今晚不会借给汤姆一本相册。",
            "She will not lend Tom an album tonight .",
        ),
    ]
    for said, chinese, english in cases:
        pair = pair_of(said)
        assert ("".join(pair.source), " ".join(pair.target)) == (chinese, english)
