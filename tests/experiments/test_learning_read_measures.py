"""What the learnt reads are measured by, again sentence by sentence; what each intervention of `diagnose` takes away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.experiments import learning_read
from onesentence.experiments.fixed_translator import WRONG, part_at
from onesentence.experiments.learning_read import KINDS, LearningRead, kind_at, told_her
from onesentence.experiments.reading_translator import ReadingTranslator, Sizes
from onesentence.seq2seq.training import LabelScores, Training, train

SMALL = LearningRead(pairs=200, test=12, width=8, updates=30, batch=32, every=15, rate=0.02, seeds=(0, 1))


@pytest.fixture(scope="module")
def corpus() -> Any:
    return learning_read.corpus_of(SMALL)


@pytest.fixture(scope="module")
def trained(corpus: Any) -> ReadingTranslator:
    """Return what `one` trains with seed 1, trained here."""
    sizes = Sizes(len(corpus.source_vocabulary), len(corpus.target_vocabulary), 8)
    model = ReadingTranslator.initial(sizes, seed=1)
    plan = Training(updates=30, batch=32, rate=0.02)
    train(model, learning_read.batch(corpus, corpus.train), plan, np.random.default_rng([1, 1]))
    return model


def test_one_equals_the_sentences_one_by_one(corpus: Any, trained: ReadingTranslator) -> None:
    found = learning_read.one(SMALL, corpus, 1)
    hit, mass, even, right, losses, exact = [], [], [], [], [], []
    parts: dict[str, list[bool]] = {}
    looks = np.zeros((len(WRONG), len(KINDS)), dtype=int)
    for example in corpus.test:
        row = learning_read.batch(corpus, (example,))
        tensors = map(torch.from_numpy, (row.source, row.source_mask, row.inputs))
        log_p, alpha = trained(*tensors)[0].detach().log_softmax(-1).numpy(), trained.weights(row)[0]
        likeliest = log_p.argmax(axis=1) == row.labels[0]
        losses += [-log_p[i, y] for i, y in enumerate(row.labels[0])]
        exact.append(likeliest.all())
        for i in range(len(example.target)):
            linked = [j for j, at in example.pair.alignment if at == i]
            if linked:
                hit.append(int(alpha[i].argmax()) in linked)
                mass.append(alpha[i, linked].sum())
                even.append(len(linked) / len(example.source))
                right.append(bool(likeliest[i]))
                parts.setdefault(part_at(example, i), []).append(hit[-1])
                looks[
                    WRONG.index(part_at(example, i)), KINDS.index(kind_at(example, int(alpha[i].argmax())))
                ] += 1
    hits, rights = np.array(hit), np.array(right)
    assert [len(found[name]) for name in ("hit", "mass", "nll")] == [3, 3, 3]
    assert found["hit"][-1] == pytest.approx(hits.mean())
    assert found["mass"][-1] == pytest.approx(np.mean(mass), abs=1e-5)
    assert found["nll"][-1] == pytest.approx(np.mean(losses), abs=1e-5)
    assert found["uniform"] == pytest.approx(np.mean(even))
    assert found["exact"] == pytest.approx(np.mean(exact))
    assert (found["linked"], found["wrong"]) == (len(hits), (~rights).sum())
    assert found["wrong_on_gold"] == (~rights & hits).sum()
    assert found["right_off_gold"] == (rights & ~hits).sum()
    assert found["parts"] == pytest.approx({part: np.mean(values) for part, values in parts.items()})
    assert found["looks"] == looks.tolist()


def test_exact_leaves_out_what_is_padded(corpus: Any, trained: ReadingTranslator, monkeypatch: Any) -> None:
    test = learning_read.batch(corpus, corpus.test)
    assert not test.mask.all()
    all_hit = LabelScores(np.zeros(test.mask.shape), test.mask, test.mask)
    monkeypatch.setattr(learning_read, "label_scores", lambda *_: all_hit)
    links = learning_read.gold(corpus.test, (*test.inputs.shape, test.source.shape[1]))
    assert learning_read._by_part(trained, corpus, test, links)["exact"] == 1.0


@torch.no_grad()
def test_diagnose_equals_the_formulas(corpus: Any, trained: ReadingTranslator) -> None:
    model, found = trained, learning_read.diagnose(trained, corpus)
    her, him = told_her(corpus)
    sources = [torch.from_numpy(corpus.source_vocabulary.encode(e.source))[None] for e in (her, him)]
    inputs = torch.from_numpy(corpus.target_vocabulary.encode(("BOS", "I", "gave")))[None]
    at, (y, z) = her.source.index("她"), (corpus.target_vocabulary.id(word) for word in ("her", "him"))
    mask = torch.ones_like(sources[0], dtype=torch.bool)
    hidden = mask.clone()
    hidden[0, at] = False

    def asked(logits: torch.Tensor) -> float:
        return float(logits[0, -1, y] - logits[0, -1, z])

    assert found["intact"] == pytest.approx(asked(model(sources[0], mask, inputs)), abs=1e-5)
    assert found["both"] == pytest.approx(asked(model(sources[1], mask, inputs)), abs=1e-5)
    assert found["unread"] == pytest.approx(asked(model(sources[0], hidden, inputs)), abs=1e-5)
    s, (h, other) = model.states(inputs)[:, -1], (model.annotations(each, mask) for each in sources)
    for name, keys, values in (("value", h, other), ("key", other, h)):
        alpha = (model.K(keys)[0] @ model.Q(s)[0] / 8**0.5).softmax(0)
        told = torch.tanh(model.combine(torch.cat([s[0], alpha @ model.V(values)[0]])))
        assert found[name] == pytest.approx(asked(model.output(told)[None, None]), abs=1e-5)
    weight = (model.K(h)[0] @ model.Q(s)[0] / 8**0.5).softmax(0)[at]
    assert found["weight"] == pytest.approx(float(weight), abs=1e-6)
