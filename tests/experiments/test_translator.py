"""Transformer translators on the generated corpus, their ablations and their limits, in tiny configurations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.experiments import translator as tr
from onesentence.experiments import translator_ablations as ta
from onesentence.experiments import translator_limits as li
from onesentence.experiments.fixed_translator import FixedTranslator, data_of
from onesentence.experiments.translations import RECIPIENT_KINDS, THINGS_KINDS, written
from onesentence.seq2seq.training import label_scores, logits_of, train
from onesentence.transformer.size import parameter_count

CORPUS = FixedTranslator(pairs=400, dev=10, test=20, probe=5)
TINY = tr.Translator(
    corpus=CORPUS,
    d_model=8,
    n_head=2,
    d_ff=8,
    updates=4,
    batch=8,
    every=2,
    averaged=2,
    measured=(2, 4),
    ablated=5,
    limit=8,
    seeds=(0, 1),
)
ABLATIONS = ta.Ablations(base=TINY, updates=3)
LIMITS = li.Limits(base=TINY, updates=3, pairs=(50, 100), seeds=(0, 1))


@pytest.fixture(scope="module")
def data():
    return data_of(CORPUS)


def test_run_has_a_value_per_seed_and_repeats():
    one, other = (tr.run.__wrapped__(TINY) for _ in range(2))
    assert one == other
    metrics = one.metrics
    assert np.shape(metrics["curve"]) == (2, 3)
    assert np.shape(metrics["loss"]) == (2, 2)
    for name in ("nll", "accuracy", "accuracy_elsewhere", "exact", "bleu", "new_recipient"):
        assert np.shape(metrics[name]) == (2, 2)
    assert np.shape(metrics["encoder"]) == (2, 2, 2, 9, 9)
    assert np.shape(metrics["decoder"]) == (2, 2, 2, 8, 8)
    assert np.shape(metrics["cross"]) == (2, 2, 2, 8, 9)
    assert np.shape(metrics["without"][0]["cross"]) == (2, 2)
    assert set(metrics["new_recipient_kinds"][0]) == set(RECIPIENT_KINDS)
    assert sum(metrics["new_recipient_kinds"][1].values()) == CORPUS.probe


def test_likeliest_everywhere_is_written_exactly(data):
    sizes = replace(TINY, d_model=32, d_ff=32, rate=0.01, warm_up=10, batch=32)
    model = tr.TransformerTranslator.initial(tr.sizes_of(sizes, data.corpus), seed=0)
    words, few = data.corpus.target_vocabulary, data.train.rows(range(64))
    train(model, few, tr.plan_of(sizes, 120), np.random.default_rng(0))
    for part in (few, data.test):
        assert label_scores(model, part).all_right == written(model, part, words, limit=20).exact
    assert label_scores(model, few).all_right > 0


def test_elsewhere_moves_the_source_only(data):
    part = tr.elsewhere(data.test)
    np.testing.assert_array_equal(part.source[0], data.test.source[1])
    np.testing.assert_array_equal(part.source[-1], data.test.source[0])
    np.testing.assert_array_equal(part.source_mask[0], data.test.source_mask[1])
    assert part.labels is data.test.labels


def test_without_heads_asks_for_the_right_head(data):
    model = tr.TransformerTranslator.initial(tr.sizes_of(TINY, data.corpus), seed=0)
    with torch.no_grad():
        for block in model.decoder.blocks:
            block.cross.merge.weight.zero_()  # every head is already away
    part = data.dev
    table = tr._without(TINY, model, part, "cross")
    assert np.shape(table) == (2, 2)
    assert np.unique(table).tolist() == [label_scores(model, part).all_right]


def test_ablations_have_what_they_should(data):
    record = ta.run.__wrapped__(ABLATIONS)
    for ablation in ABLATIONS.ablations:
        assert len(record.metrics[f"{ablation}_loss"][0]) == 3
        assert sum(record.metrics[f"{ablation}_kinds"][0].values()) == CORPUS.test
    assert record.metrics["no_cross_different"] == [1]
    assert record.metrics["no_cross_apart"] == [0.0]
    assert record.metrics["no_positions_apart"][0] < 1e-4
    sizes = {
        name: sum(p.numel() for p in ta.model_of(TINY, data.corpus, name, 0).parameters())
        for name in ("whole", "no_positions", "no_cross", "no_mask")
    }
    whole = parameter_count(tr.sizes_of(TINY, data.corpus))
    assert sizes["whole"] == sizes["no_positions"] == sizes["no_mask"] == whole
    assert sizes["no_cross"] < whole


def test_no_mask_reads_the_future_and_starts_like_the_whole(data):
    part = data.test.rows([0, 1])
    later = replace(part, inputs=part.inputs.copy())
    later.inputs[:, -1] = data.corpus.target_vocabulary.id("book")
    moved = {}
    for name in ("whole", "no_mask"):
        model = ta.model_of(TINY, data.corpus, name, 0)
        one, other = (logits_of(model, rows).detach().numpy()[:, 0] for rows in (part, later))
        free = np.isfinite(one)
        moved[name] = np.abs(one[free] - other[free]).max()
    assert moved["whole"] == 0 < 1e-6 < moved["no_mask"]
    models = [ta.model_of(TINY, data.corpus, name, 0).state_dict() for name in ("whole", "no_mask")]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_permuted_sentences_have_the_same_units(data):
    one, other = (data.corpus.running[i] for i in ta.PERMUTED)
    assert sorted(one.source) == sorted(other.source)
    assert one.source != other.source
    assert one.target != other.target


def test_unshifted_gives_each_label_as_its_input(data):
    part = ta.unshifted(data.test)
    np.testing.assert_array_equal(part.inputs, data.test.labels)


def test_limits_have_a_value_per_seed_and_lists_grow():
    metrics = li.run.__wrapped__(LIMITS).metrics
    for name in ("pairs_50_exact", "pairs_100_new_recipient", "lists_three", "lists_exact_two"):
        assert len(metrics[name]) == 2
    assert set(metrics["lists_three_kinds"][0]) == set(THINGS_KINDS)
    corpus = li.lists_of(LIMITS)
    assert {len(e.event.items) for e in corpus.train} == {1, 2}
    assert {len(e.event.items) for e in corpus.three_things} == {3}


@pytest.mark.parametrize(
    ("config", "change", "message"),
    [
        (TINY, {"seeds": ()}, "seeds must not be empty"),
        (TINY, {"every": 3}, "every must divide updates = 4, got 3"),
        (TINY, {"averaged": 0}, "averaged must divide updates = 4, got 0"),
        (TINY, {"measured": (4, 2)}, r"measured must rise from 1 or more to 4, got \(4, 2\)"),
        (TINY, {"measured": (2,)}, r"measured must rise from 1 or more to 4, got \(2,\)"),
        (TINY, {"ablated": 11}, r"ablated must lie in \[1, 10\], got 11"),
        (TINY, {"limit": 0}, "limit must be at least 1, got 0"),
        (ABLATIONS, {"ablations": ("half",)}, "ablations: expected some of whole, .*, got 'half'"),
        (ABLATIONS, {"ablations": ()}, "ablations must not be empty"),
        (ABLATIONS, {"updates": 0}, "updates must be at least 1, got 0"),
        (LIMITS, {"pairs": (401,)}, r"pairs must lie in \[1, 400\], got \(401,\)"),
        (LIMITS, {"coordinated": 0.0}, "coordinated must lie between 0 and 1, got 0.0"),
        (LIMITS, {"seeds": ()}, "seeds must not be empty"),
        (LIMITS, {"updates": 0}, "updates must be at least 1, got 0"),
    ],
)
def test_config_refuses(config, change, message):
    with pytest.raises(ValueError, match=message):
        replace(config, **change)
