"""What a translator wrote, scored, and the kinds of its errors."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.experiments import translations as tl
from onesentence.experiments.fixed_translator import FixedTranslator, data_of
from onesentence.text.giving import PEOPLE
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import TranslationConfig, running_events
from onesentence.text.translation_corpus import translation_corpus
from onesentence.text.vocabulary import EOS


@pytest.fixture(scope="module")
def data():
    return data_of(FixedTranslator(pairs=300, dev=5, test=6, probe=5))


class Reciter:
    """Writes given ids one after another, whatever the source."""

    def __init__(self, rows, size):
        self.rows, self.size = rows, size

    def start(self, source, mask):
        return 0

    def step(self, ids, state):
        logits = np.zeros((len(self.rows), self.size))
        for row, line in zip(self.rows, logits, strict=True):
            line[row[min(state, len(row) - 1)]] = 1
        return logits, state + 1


def test_written_by_hand(data):
    words = data.corpus.target_vocabulary
    references = [(*words.encode(e.target).tolist(), words.id(EOS)) for e in data.corpus.running]
    wrong = words.encode(["He", "gave", "me", "a", "book"]).tolist()
    rows = [*references[:-1], (*wrong, *[wrong[-1]] * 12)]
    found = tl.written(Reciter(rows, len(words)), data.running, words, limit=12)
    assert found.texts[0] == "I gave him a book yesterday ."
    assert found.texts[-1] == "He gave me a book book book book book book book book …"
    assert found.right == (True,) * 5 + (False,)
    assert found.exact == pytest.approx(5 / 6)
    assert 0 < found.bleu < 100
    source, reference, text = tl.failures(data.corpus.running, found, 3)[0]
    assert source == "张明昨天给了李华一本书。"
    assert (reference, text) == (" ".join(data.corpus.running[-1].target), found.texts[-1])
    assert tl.failures(data.corpus.running, found, 0) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Zhang Ming gave Li Hua a book yesterday .", "right"),
        ("Li Hua gave Zhang Ming a book yesterday .", "exchanged"),
        ("Zhang Ming gave her a book yesterday .", "person"),
        ("Zhang Ming gave Li Hua a pen yesterday .", "after"),
        ("Zhang Ming gave Li Hua", "after"),
        ("Zhang Ming gave Li", "other"),
        ("Zhang Ming gave a book yesterday .", "other"),
    ],
)
def test_recipient_kind_by_hand(text, kind):
    event = running_events(TranslationConfig())["named"]
    assert tl.recipient_kind(PEOPLE)(event, text) == kind
    assert kind in tl.RECIPIENT_KINDS


def test_things_kind_by_hand():
    event = translation_corpus(TranslationConfig(train=200, dev=5, test=5, probe=5)).three_things[0].event
    three = " ".join(pair_of(event).target)
    assert three == "Wang Fang will give Li Hua two cups and two guitars and two dictionaries tonight ."
    cases = {
        "Wang Fang will give Li Hua two guitars and two cups and two dictionaries tonight .": "order",
        "Wang Fang will give Li Hua two cups and two dictionaries tonight .": "two",
        "Wang Fang will give Li Hua two guitars tonight .": "one",
        "Wang Fang will give Li Hua two cups and two cups tonight .": "other",
        "Wang Fang will give her two guitars tonight .": "other",
        three: "right",
    }
    for text, kind in cases.items():
        assert tl.things_kind(event, text) == kind
        assert kind in tl.THINGS_KINDS


def test_kinds_count_every_sentence(data):
    texts = tuple(" ".join(e.target) for e in data.corpus.running)
    found = tl.Written((texts[4], *texts[1:]), (False,) + (True,) * 5, 5 / 6, 90.0)
    counts = tl.kinds(data.corpus.running, found, tl.recipient_kind(PEOPLE), tl.RECIPIENT_KINDS)
    assert counts == {"right": 5, "exchanged": 1, "person": 0, "after": 0, "other": 0}
