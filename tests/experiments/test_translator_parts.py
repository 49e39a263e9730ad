"""Which sentences the translators, their ablations and their limits are trained on and measured with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from onesentence.experiments import translator as tr
from onesentence.experiments import translator_ablations as ta
from onesentence.experiments import translator_limits as li
from onesentence.experiments.fixed_translator import Data, FixedTranslator, data_of
from onesentence.experiments.translations import Written
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.training import logits_of
from onesentence.text.vocabulary import BOS, PAD, UNK
from onesentence.transformer.attention_layer import MultiHeadAttention

CORPUS = FixedTranslator(pairs=400, dev=60, test=20, probe=5)
TINY = tr.Translator(
    corpus=CORPUS,
    d_model=8,
    n_head=2,
    d_ff=8,
    updates=4,
    batch=8,
    every=2,
    averaged=2,
    measured=(4,),
    limit=8,
    seeds=(0,),
)
Calls = list[tuple[str, Batch]]
Watch = Callable[[Any], Calls]


@pytest.fixture(scope="module")
def data() -> Data:
    return data_of(CORPUS)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Note the batch of each call of `train`, `written` and `label_scores` in a module."""

    def start(module: Any) -> Calls:
        calls: Calls = []
        for name in ("train", "written", "label_scores"):
            if not hasattr(module, name):
                continue
            real = getattr(module, name)

            def noted(
                model: Any, part: Batch, *rest: Any, name: str = name, real: Any = real, **more: Any
            ) -> Any:
                calls.append((name, part))
                return real(model, part, *rest, **more)

            monkeypatch.setattr(module, name, noted)
        return calls

    return start


def of(calls: Calls, *names: str) -> list[Batch]:
    return [part for name, part in calls if name in names]


def begins(part: Batch, whole: Batch) -> bool:
    """Say whether these pairs are the first of a part, with inputs and labels as they are there."""
    first = whole.rows(range(len(part)))
    names = ("source", "source_mask", "inputs", "labels", "mask")
    pairs = [(getattr(part, name), getattr(first, name)) for name in names]
    return all(one[:, : other.shape[1]].tolist() == other.tolist() for one, other in pairs)


def test_train_one_trains_on_train_and_reads_its_curve_from_dev(data: Data, watch: Watch) -> None:
    calls = watch(tr)
    found = tr.train_one(TINY, data, 0)
    assert [begins(part, data.train) and len(part) == CORPUS.pairs for part in of(calls, "train")] == [True]
    measured = next(i for i, (_, part) in enumerate(calls) if part is data.test)
    before = [part for name, part in calls[:measured] if name != "train"]
    assert len(before) == len(found["curve"]) == 3
    assert all(part is data.dev for part in before)
    elsewhere = tr.elsewhere(data.test)
    later = of(calls[measured:], "label_scores")
    assert later[0] is data.test
    assert begins(later[1], elsewhere)
    heads = 3 * TINY.layers * TINY.n_head
    assert len(later) == 2 + heads
    assert all(begins(part, data.dev) for part in later[2:])
    assert [
        part is whole for part, whole in zip(of(calls[measured:], "written"), _asked(data), strict=True)
    ] == [True] * 3


def _asked(data: Data) -> tuple[Batch, Batch, Batch]:
    return data.test, data.new_recipient, data.running


def test_sizes_bar_what_is_never_a_label(data: Data) -> None:
    words = data.corpus.target_vocabulary
    barred = set(tr.sizes_of(TINY, data.corpus).barred)
    assert barred == {words.id(symbol) for symbol in (PAD, BOS, UNK)}
    for part in (data.train, data.dev, data.test, data.new_recipient, data.running):
        assert not barred & set(part.labels[part.mask].tolist())


@pytest.mark.parametrize("ablation", ["whole", "no_positions", "no_cross", "no_shift", "no_mask"])
def test_ablations_are_given_the_same_pairs_but_without_the_shift(
    data: Data, watch: Watch, ablation: Any
) -> None:
    calls = watch(ta)
    ta.train_one(ta.Ablations(base=TINY, updates=2), data, ablation)
    (trained,), (scored, moved) = of(calls, "train"), of(calls, "label_scores")
    wanted = [(trained, data.train), (scored, data.test), (moved, tr.elsewhere(data.test))]
    for part, whole in wanted:
        given = replace(whole, inputs=whole.labels) if ablation == "no_shift" else whole
        assert len(part) == len(whole)
        assert begins(part, given)
    assert of(calls, "written") == [data.test, data.running]


def test_no_mask_lifts_every_mask_of_the_targets_own_attention_and_no_other(data: Data) -> None:
    model = ta.model_of(TINY, data.corpus, "no_mask", 0)
    for block in model.decoder.blocks:
        assert isinstance(block.attention, ta.SeesAll)
        assert type(block.cross) is MultiHeadAttention
    assert all(type(block.attention) is MultiHeadAttention for block in model.encoder.blocks)
    part = data.test.rows([0, 1, 2])
    wider = replace(
        part,
        source=np.concatenate([part.source, np.full((3, 2), 7)], axis=1),
        source_mask=np.concatenate([part.source_mask, np.zeros((3, 2), dtype=bool)], axis=1),
    )
    with torch.no_grad():  # source padding is still hidden
        torch.testing.assert_close(logits_of(model, wider), logits_of(model, part), rtol=0, atol=1e-5)


def test_ablations_start_with_the_parameters_of_the_whole(data: Data) -> None:
    whole = ta.model_of(TINY, data.corpus, "whole", 0).state_dict()
    for ablation in ("no_positions", "no_mask", "no_shift"):
        other = ta.model_of(TINY, data.corpus, ablation, 0).state_dict()
        assert list(other) == list(whole)
        assert all(torch.equal(other[name], whole[name]) for name in whole)


def test_no_positions_gives_order_of_the_source_no_say_and_that_of_the_target_one(data: Data) -> None:
    model, part = ta.model_of(TINY, data.corpus, "no_positions", 0).double(), data.running.rows([0])
    turned = replace(part, source=part.source[:, ::-1].copy())
    with torch.no_grad():
        one, other = (logits_of(model, each) for each in (part, turned))
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)
    assert model.encoder.embedding.positions == model.decoder.embedding.positions == "none"


def test_fewer_pairs_are_the_first_and_all_is_measured_on_whole_parts(data: Data, watch: Watch) -> None:
    calls = watch(li)
    li.train_fewer(li.Limits(base=TINY, updates=2, pairs=(50,)), data, (50, 0))
    (trained,) = of(calls, "train")
    assert len(trained) == 50
    assert begins(trained, data.train)
    assert of(calls, "written") == [data.test, data.new_recipient]


def test_lists_train_on_train_and_count_those_with_two_things(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = li.Limits(base=TINY, updates=2, pairs=(50,))
    corpus = li.lists_of(config)
    two = [len(e.event.items) == 2 for e in corpus.test]
    assert 0 < sum(two) < len(two)

    def answers(model: Any, part: Batch, words: Any, *, limit: int) -> Written:
        right = tuple(two) if len(part) == len(two) else (False,) * len(part)
        return Written(("x",) * len(part), right, float(np.mean(right)), 0.0)

    monkeypatch.setattr(li, "written", answers)
    calls = watch(li)
    found = li.train_lists(config, corpus, 0)
    assert (found["exact_two"], found["three"]) == (1.0, 0.0)
    assert found["exact"] == pytest.approx(np.mean(two))
    (trained,), (known, three) = of(calls, "train"), of(calls, "written")
    for part, examples in ((trained, corpus.train), (known, corpus.test), (three, corpus.three_things)):
        assert len(part) == len(examples)
        assert begins(part, li.part_of(corpus, examples))
    seen = {triple for e in corpus.train for triple in e.triples}
    assert not seen & {triple for e in (*corpus.test, *corpus.three_things) for triple in e.triples}
