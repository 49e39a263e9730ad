"""What the reading translators measure, again sentence by sentence without padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.experiments import alignment as al
from onesentence.experiments.fixed_translator import Data, FixedTranslator, data_of
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.reading import Reading
from onesentence.seq2seq.training import Training, train
from onesentence.text.vocabulary import EOS

CORPUS = FixedTranslator(pairs=400, dev=10, test=20, probe=5)
TINY = al.Alignment(corpus=CORPUS, width=8, updates=3, seeds=(0, 1))


@pytest.fixture(scope="module")
def data() -> Data:
    return data_of(CORPUS)


def run_alone(model: Reading, row: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return log probabilities and weights of one sentence."""
    with torch.no_grad():
        logits, weights = model.run(*map(torch.from_numpy, (row.source, row.source_mask, row.inputs)))
    return logits[0].double().log_softmax(-1).numpy(), weights[0].numpy()


def hits_and_mass(model: Reading, data: Data) -> tuple[list[bool], list[float]]:
    hits, mass = [], []
    for n, example in enumerate(data.corpus.test):
        _, weights = run_alone(model, data.test.rows([n]))
        for i in range(len(example.target)):
            linked = [j for j, at in example.pair.alignment if at == i]
            if linked:
                hits.append(int(weights[i].argmax()) in linked)
                mass.append(float(weights[i, linked].sum()))
    return hits, mass


def test_model_of_uses_its_seed(data: Data) -> None:
    model = al.model_of(TINY, data.corpus, 1)
    same = Reading.initial(model.config, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), same.parameters(), strict=True))


def test_train_one_equals_the_sentences_one_by_one(data: Data) -> None:
    found: dict[str, Any] = al.train_one(TINY, data, (1,))
    model = al.model_of(TINY, data.corpus, 1)
    assert found["hits_before"] == pytest.approx(np.mean(hits_and_mass(model, data)[0]))
    train(model, data.train, Training(3, 64, 7e-3, 1.0), np.random.default_rng([1, 1]))
    hits, mass = hits_and_mass(model, data)
    assert found["hits"] == pytest.approx(np.mean(hits))
    assert found["mass"] == pytest.approx(np.mean(mass), abs=1e-6)
    assert sum(right for right, _ in found["by_part"].values()) == sum(hits)
    assert sum(of for _, of in found["by_part"].values()) == len(hits)
    rows = [data.test.rows([n]) for n in range(len(data.test))]
    losses = [-run_alone(model, row)[0][np.arange(row.labels.shape[1]), row.labels[0]] for row in rows]
    count = sum(len(example.target) + 1 for example in data.corpus.test)
    assert found["nll"] == pytest.approx(sum(x.sum() for x in losses) / count, abs=1e-5)
    running = data.running.rows([0])
    np.testing.assert_allclose(found["weights"], run_alone(model, running)[1], rtol=0, atol=1e-6)


def test_replaced_is_the_loss_with_the_other_word_less_the_loss_without(data: Data) -> None:
    model, row = al.model_of(TINY, data.corpus, 0), data.running.rows([0])
    words, labels = data.corpus.source_vocabulary, row.labels[0]
    usual, _ = run_alone(model, row)
    for at, (old, new) in enumerate(al.REPLACEMENTS):
        source = np.where(row.source == words.id(old), words.id(new), row.source)
        changed, _ = run_alone(model, Batch(source, row.source_mask, row.inputs, row.labels, row.mask))
        places = np.arange(len(labels)), labels
        added = usual[places] - changed[places]
        np.testing.assert_allclose(al._replaced(model, data, row)[:, at], added, rtol=0, atol=1e-6)
        assert np.abs(added).max() > 1e-4


def test_exact_is_counted_over_the_test_part(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    labels, eos = data.test.labels, data.corpus.target_vocabulary.id(EOS)

    class Written:
        def __init__(self, ids: tuple[int, ...]) -> None:
            self.ids, self.ended = ids, True

    def translate(model: object, part: Batch, *, eos: int, limit: int) -> list[Written]:
        if len(part) != len(data.test):
            return [Written((eos,)) for _ in range(len(part))]
        assert part is data.test
        texts = [tuple(row[real].tolist()) for row, real in zip(labels, data.test.mask, strict=True)]
        return [Written((eos,)) if n < 5 else Written(text) for n, text in enumerate(texts)]

    monkeypatch.setattr(al, "translate", translate)
    found = al.train_one(TINY, data, (0,))
    assert found["exact"] == pytest.approx(1 - 5 / len(data.test))
    assert found["running"] is False
    assert eos in labels
