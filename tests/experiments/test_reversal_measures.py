"""What the reversal lab measures, again sequence by sequence without padding; who is trained, on what, with which seed."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.experiments import reversal
from onesentence.seq2seq.reversal_model import SourceReader, parameter_count
from onesentence.seq2seq.training import Training, train
from onesentence.text.reversal import VOCABULARY, ReversalData, reversal_corpus

DATA = ReversalData(train=60, dev=5, test=40, shortest=2, longest=4)
TINY = reversal.ReversalLab(data=DATA, updates=12, every=4, limit=6, seeds=(0, 1), wide_seeds=())
EOS = VOCABULARY.id("EOS")


def texts(ids: np.ndarray, real: np.ndarray) -> list[str]:
    return ["".join(VOCABULARY.symbols[i] for i in row[kept]) for row, kept in zip(ids, real, strict=True)]


def test_parts_of_are_the_corpus_and_share_no_sequence() -> None:
    corpus, parts = reversal_corpus(DATA), reversal.parts_of(DATA)
    for part, batch in ((corpus.train, parts.train), (corpus.test, parts.test)):
        sources = ["".join(source) for source in part]
        assert texts(batch.source, batch.source_mask) == sources
        assert texts(batch.labels, batch.mask) == [source[::-1] + "EOS" for source in sources]
    assert parts.sources == corpus.test
    train_texts, test_texts = (set(texts(b.source, b.source_mask)) for b in (parts.train, parts.test))
    assert (len(train_texts), len(test_texts)) == (60, 40)
    assert not train_texts & test_texts


@pytest.mark.parametrize("seed", range(3))
def test_default_corpus_shares_no_sequence_between_parts(seed: int) -> None:
    corpus = reversal_corpus(ReversalData(seed=seed))
    parts = [set(part) for part in (corpus.train, corpus.dev, corpus.test)]
    assert [len(part) for part in parts] == [3000, 300, 300]
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]


def test_record_names_the_hash_of_all_that_was_drawn() -> None:
    corpus = reversal_corpus(DATA)
    lines = ["\n".join(map("".join, part)) for part in (corpus.train, corpus.dev, corpus.test)]
    digest = hashlib.sha256("\n\n".join(lines).encode()).hexdigest()
    record = reversal.run.__wrapped__(replace(TINY, updates=4, seeds=(0,)))
    assert record.data_hash == corpus.digest == digest


@pytest.mark.parametrize("updates", [1, 60])
def test_measured_equals_the_sequences_one_by_one(updates: int) -> None:
    lab, parts = replace(TINY, updates=updates, every=1, rate=0.01), reversal.parts_of(DATA)
    model, _ = reversal.trained(lab, parts, reversal.reader_config("dynamic"), 0)
    found, losses, hits, written = reversal.measured(lab, parts, model), [], [], []
    for source in parts.sources:
        ids = torch.from_numpy(VOCABULARY.encode(source))[None]
        right = [*VOCABULARY.encode(source[::-1]).tolist(), EOS]
        inputs = torch.tensor([[VOCABULARY.id("BOS"), *right[:-1]]])
        log_p = model(ids, torch.ones_like(ids, dtype=torch.bool), inputs)[0].log_softmax(-1).detach()
        losses.append([-float(row[y]) for row, y in zip(log_p, right, strict=True)])
        hits.append([int(row.argmax()) == y for row, y in zip(log_p, right, strict=True)])
        state, text = model.start(ids.numpy()), [VOCABULARY.id("BOS")]
        while len(text) <= lab.limit and text[-1] != EOS:
            logits, state = model.step(np.array(text[-1:]), state)
            text.append(int(logits.argmax()))
        written.append((text[1:], right))
    count = sum(map(len, losses))
    wrong = [i for i, (text, right) in enumerate(written) if text != right]
    assert found["tokens"] == count == sum(len(source) + 1 for source in parts.sources)
    assert found["nll"] == pytest.approx(sum(map(sum, losses)) / count, abs=1e-6)
    assert found["accuracy"] == pytest.approx(sum(map(sum, hits)) / count)
    assert found["all_right"] == pytest.approx(sum(map(all, hits)) / 40)
    assert found["exact"] == pytest.approx(1 - len(wrong) / 40)
    assert found["ended"] == pytest.approx(sum(text[-1] == EOS for text, _ in written) / 40)
    assert found["first_failure"] == wrong[0]
    for n, asked, failed in found["by_length"]:
        assert asked == sum(len(source) == n for source in parts.sources)
        assert failed == sum(len(parts.sources[i]) == n for i in wrong)


def test_trained_uses_its_seed_for_parameters_and_order_and_the_training_part() -> None:
    parts, sizes = reversal.parts_of(DATA), reversal.reader_config("fixed")
    model, losses = reversal.trained(TINY, parts, sizes, 1)
    mine = SourceReader.initial(sizes, seed=1)
    plan = Training(updates=12, batch=32, rate=3e-3, clip=1e6)
    assert losses == train(mine, parts.train, plan, np.random.default_rng([1, 1]))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), mine.parameters(), strict=True))
    found = reversal.train_one(TINY, parts, ("fixed", "zero", 1))["loss"]
    assert found == pytest.approx([np.mean(losses[at : at + 4]) for at in (0, 4, 8)])


def test_the_wider_fixed_reader_has_slightly_more_parameters_than_the_dynamic_one() -> None:
    fixed, dynamic, wide = (
        parameter_count(reversal.reader_config(reader)) for reader in ("fixed", "dynamic", "wide")
    )
    assert (fixed, dynamic) == (15577, 16601)
    assert dynamic < wide < 1.01 * dynamic
