"""The experiment with fixed summaries: what it measures, on a corpus of a few sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesentence.experiments import fixed_translator as ft
from onesentence.generate.loop import Generated
from onesentence.text.vocabulary import EOS

TINY = ft.FixedTranslator(
    pairs=400, dev=10, test=20, probe=5, width=8, updates=4, every=2, seeds=(0, 1), forget_bias=1.0
)


@pytest.fixture(scope="module")
def data() -> ft.Data:
    return ft.data_of(TINY)


def test_run_has_a_value_per_seed_and_repeats():
    one, other = (ft.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    assert {name.partition("_")[0] for name in one.metrics} == {"initial", "inject"}
    assert [len(row) for row in one.metrics["initial_curve"]] == [3, 3]
    assert [len(row) for row in one.metrics["inject_loss"]] == [2, 2]
    assert [len(row) for row in one.metrics["inject_running"]] == [6, 6]
    assert one.data_hash


@pytest.mark.parametrize("interface", TINY.interfaces)
def test_train_one_exact_generation_is_all_labels_likeliest(data, interface):
    first = data.train.rows(range(20))  # learnt by heart in part, some shorter than others
    assert not first.mask.all()
    known = ft.Data(
        replace(data.corpus, test=data.corpus.train[:20]),
        first,
        data.dev,
        first,
        data.new_recipient,
        data.running,
    )
    config = replace(TINY, width=32, updates=20, every=20, rate=0.02)
    result = ft.train_one(config, known, (interface, 0))
    assert 0 < result["exact"] == result["all_right"] < 1


def test_run_counts_one_first_error_for_each_failure():
    metrics = ft.run.__wrapped__(replace(TINY, seeds=(0,), updates=60, every=20, rate=0.02)).metrics
    for interface in TINY.interfaces:
        counts = metrics[f"{interface}_errors"][0]
        assert sum(counts.values()) == round(20 * (1 - metrics[f"{interface}_exact"][0]))
        assert sum(counts.values()) == metrics[f"{interface}_positions"][0]["first"]


def test_data_holds_out_the_running_sentence_and_has_no_coordination(data):
    assert not {e.source for e in data.corpus.train} & {e.source for e in data.corpus.running}
    assert not any(e.event.others for e in data.corpus.train)
    assert len(data.train) == 400


def test_part_at_names_every_position(data):
    example = data.corpus.variant("question")
    assert example.target == ("Did", "I", "give", "him", "a", "book", "yesterday", "?")
    named = [ft.part_at(example, i) for i in range(9)]
    parts = ["giver", "verb", "recipient", "number", "thing", "time"]
    assert named == ["other", *parts, "other", "other"]
    with pytest.raises(ValueError, match=r"position must lie in \[0, 8\], got 9"):
        ft.part_at(example, 9)


def test_first_errors_by_hand(data):
    target, eos = data.corpus.target_vocabulary, data.corpus.target_vocabulary.id(EOS)
    references = ft.labels_of(data.test)
    written = [Generated(ids, True) for ids in references]
    example = data.corpus.test[0]
    exchanged = (*target.encode(ft._exchanged(example).split()).tolist(), eos)
    written[0] = Generated(exchanged, True)
    hits = data.test.mask.copy()
    hits[0, ft.first_difference(exchanged, references[0])] = False
    result = ft._first_errors(TINY, data, tuple(written), hits)
    assert result["exchanged"] == 1
    assert result["errors"]["giver"] == 1 == sum(result["errors"].values())
    positions = result["positions"]
    assert positions["before"] + positions["first"] + positions["after"] == len(references[0])
    assert positions["after_true"] == 0 < positions["after_free"]
    wrong = [i for i, label in enumerate(references[0]) if exchanged[i : i + 1] != (label,)]
    assert positions["after_free"] == len(wrong) - 1  # the first error is not behind itself
    source, reference, text = result["failures"][0]
    assert (source, reference) == ("".join(example.source), " ".join(example.target))
    assert text == ft._exchanged(example)
    assert np.array_equal(hits.sum(), data.test.mask.sum() - 1)


def test_every_position_behind_an_end_that_came_too_early_is_wrong(data):
    references = ft.labels_of(data.test)
    written = [Generated(ids, True) for ids in references]
    written[0] = Generated((data.corpus.target_vocabulary.id(EOS),), True)
    positions = ft._first_errors(TINY, data, tuple(written), data.test.mask)["positions"]
    behind = len(references[0]) - 1
    assert positions == {"before": 0, "first": 1, "after": behind, "after_free": behind, "after_true": 0}


def test_text_marks_what_the_limit_cut(data):
    ids = tuple(data.corpus.target_vocabulary.encode(["I", "gave"]).tolist())
    assert ft._text(data, Generated(ids, False)) == "I gave …"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": ()}, "seeds and interfaces must not be empty"),
        ({"every": 3}, "every must divide updates = 4, got 3"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
    ],
)
def test_config_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)
