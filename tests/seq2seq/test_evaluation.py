"""Generation of a whole batch, and where it departs from the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.generate.exact_match import ExactMatch
from onesentence.generate.loop import Generated
from onesentence.seq2seq.batches import batch_of
from onesentence.seq2seq.evaluation import counts_behind, exact_of, first_difference, labels_of, translate
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary

ZH = Vocabulary.from_words(["我", "他", "走"], specials=[PAD])
EN = Vocabulary.from_words(["I", "he", "go"], specials=[PAD, BOS, EOS])
SEQUENCES = st.lists(st.integers(0, 3), max_size=6)


@given(SEQUENCES, SEQUENCES)
def test_first_difference_stands_behind_equal_prefixes(one, other):
    at = first_difference(one, other)
    if at is None:
        assert one == other
    else:
        assert one[:at] == other[:at]
        assert one[at : at + 1] != other[at : at + 1]


def test_labels_of_drops_padding():
    batch = batch_of([(("我",), ("I", "go")), (("他",), ("he",))], ZH, EN)
    assert labels_of(batch) == [(3, 5, 2), (4, 2)]


def test_exact_of_counts_whole_sentences_with_their_end():
    batch = batch_of([(("我",), ("I", "go")), (("他",), ("he",)), (("走",), ("go",))], ZH, EN)
    written = (Generated((3, 5, 2), True), Generated((4,), False), Generated((5, 2), True))
    assert exact_of(written, batch) == ExactMatch(2, 3)


def test_translate_writes_what_was_learned():
    pairs = [(("我", "走"), ("I", "go")), (("他",), ("he",)), (("他", "走"), ("he", "go"))]
    batch = batch_of(pairs, ZH, EN)
    model = FixedSummary.initial(
        FixedSummaryConfig(len(ZH), len(EN), embedding=8, hidden=8, barred=(0, 1)), seed=0
    )
    unlearned = translate(model, batch, eos=EN.id(EOS), limit=5)
    train(model, batch, Training(updates=80, batch=3, rate=0.03), np.random.default_rng(0))
    written = translate(model, batch, eos=EN.id(EOS), limit=5)
    assert [row.ids for row in written] == labels_of(batch) != [row.ids for row in unlearned]
    assert all(row.ended for row in written)
    (cut,) = translate(model, batch.rows([0]), eos=EN.id(EOS), limit=2)
    assert (cut.ids, cut.ended) == (labels_of(batch)[0][:2], False)


def test_translate_is_exact_where_every_label_is_likeliest():
    pairs = [((a, b), ("I", "go")) for a in ("我", "他") for b in ("走", "我")]
    batch = batch_of(pairs, ZH, EN)
    for seed in range(20):
        config = FixedSummaryConfig(len(ZH), len(EN), embedding=4, hidden=4, barred=(0, 1))
        model = FixedSummary.initial(config, seed=seed)
        written = translate(model, batch, eos=EN.id(EOS), limit=5)
        hits = label_scores(model, batch).hits
        exact = [row.ids == labels for row, labels in zip(written, labels_of(batch), strict=True)]
        assert exact == (hits | ~batch.mask).all(axis=1).tolist()


def test_counts_behind_finds_every_count_that_prints_so():
    for count in range(301):
        assert counts_behind(round(100 * count / 300, 2), 300) == (count,)
    assert counts_behind(50, 400, digits=0) == (198, 199, 200, 201, 202)
    assert counts_behind(33.0, 3) == ()
    with pytest.raises(ValueError, match="of must be at least 1, got 0"):
        counts_behind(50.0, 0)
