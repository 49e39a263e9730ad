"""Translations of prefixes: each as if the prefix stood alone."""

from __future__ import annotations

from onesentence.seq2seq.batches import batch_of
from onesentence.seq2seq.evaluation import translate
from onesentence.seq2seq.live import prefix_translations
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary

ZH = Vocabulary.from_words(["我", "你", "走", "来"], specials=[PAD])
EN = Vocabulary.from_words(["I", "you", "go", "come"], specials=[PAD, BOS, EOS])
SOURCES = (("我", "走"), ("你", "来", "走", "我"), ("来",))


def test_prefix_translations_equal_each_prefix_alone():
    model = Reading.initial(ReadingConfig(len(ZH), len(EN), embedding=6, hidden=6, barred=(0, 1)), seed=3)
    ask = {"eos": EN.id(EOS), "limit": 5}
    together = prefix_translations(model, batch_of([(s, ("I",)) for s in SOURCES], ZH, EN), **ask)
    assert [len(texts) for texts in together] == [2, 4, 1]
    for source, texts in zip(SOURCES, together, strict=True):
        for i, text in enumerate(texts, start=1):
            (alone,) = translate(model, batch_of([(source[:i], ("I",))], ZH, EN), **ask)
            assert text == (alone.ids[:-1] if alone.ended else alone.ids)
            assert EN.id(EOS) not in text
