"""Batches shifted by one, and training with true histories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from onesentence.experiments.fixed_translator import FixedTranslator
from onesentence.numerics import token_losses
from onesentence.seq2seq.adam import Adam
from onesentence.seq2seq.batches import batch_of
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig
from onesentence.seq2seq.training import LabelScores, Training, label_scores, logits_of, mean_loss, train
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary

ZH = Vocabulary.from_words(["我", "他", "走", "来"], specials=[PAD])
EN = Vocabulary.from_words(["I", "he", "go", "come"], specials=[PAD, BOS, EOS])
PAIRS = [
    (("我", "走"), ("I", "go")),
    (("他",), ("he",)),
    (("他", "来"), ("he", "come")),
    (("我", "来"), ("I", "come")),
]


def model_of(seed: int = 0) -> FixedSummary:
    config = FixedSummaryConfig(len(ZH), len(EN), embedding=8, hidden=8, barred=(EN.id(PAD), EN.id(BOS)))
    return FixedSummary.initial(config, seed=seed)


def test_batch_of_by_hand():
    batch = batch_of(PAIRS[:2], ZH, EN)
    assert batch.source.tolist() == [[1, 3], [2, 0]]
    assert batch.source_mask.tolist() == [[True, True], [True, False]]
    assert batch.inputs.tolist() == [[1, 3, 5], [1, 4, 0]]
    assert batch.labels.tolist() == [[3, 5, 2], [4, 2, 0]]
    assert batch.mask.tolist() == [[True, True, True], [True, True, False]]


def test_batch_inputs_are_the_labels_one_later():
    batch = batch_of(PAIRS, ZH, EN)
    both = batch.mask[:, 1:]
    np.testing.assert_array_equal(batch.inputs[:, 1:][both], batch.labels[:, :-1][both])


def test_rows_cuts_to_the_longest():
    batch = batch_of(PAIRS, ZH, EN).rows([1])
    assert (batch.source.shape, batch.labels.shape, len(batch)) == ((1, 1), (1, 2), 1)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "pairs: expected at least one, got none"),
        ([((), ("I",))], "got an empty side"),
        ([(("你",), ("I",))], "'你' is not among"),
    ],
)
def test_batch_of_refuses(pairs, message):
    with pytest.raises(ValueError, match=message):
        batch_of(pairs, ZH, EN)


def test_mean_loss_counts_real_labels_only():
    model, batch = model_of(), batch_of(PAIRS, ZH, EN)
    logits = logits_of(model, batch)
    scores = label_scores(model, batch)
    losses, hits = scores.losses, scores.hits
    mine = token_losses(np.where(batch.mask[..., None], logits.detach().numpy(), 0), batch.labels, batch.mask)
    np.testing.assert_allclose(losses, mine, rtol=0, atol=1e-6)
    assert mean_loss(logits, batch).item() == pytest.approx(mine.sum() / batch.mask.sum(), abs=1e-6)
    assert not hits[~batch.mask].any()


def test_label_scores_shares_by_hand():
    real = np.array([[True, True, True], [True, False, False]])
    hits = np.array([[True, False, True], [True, False, False]])
    scores = LabelScores(np.array([[0.5, 2.0, 0.5], [1.0, 0.0, 0.0]]), hits, real)
    assert (scores.nll, scores.accuracy, scores.all_right) == (1.0, 0.75, 0.5)


def test_training_of_takes_an_experiments_own_attributes():
    plan = FixedTranslator(updates=50, batch=7, rate=0.5, clip=2.0)
    assert Training.of(plan) == Training(updates=50, batch=7, rate=0.5, clip=2.0)
    with pytest.raises(ValueError, match="rate must be positive and finite, got 0"):
        Training.of(FixedTranslator(rate=0))


def test_train_learns_four_pairs_and_reports_each_loss():
    model, batch = model_of(), batch_of(PAIRS, ZH, EN)
    seen: list[int] = []
    losses = train(
        model, batch, Training(updates=60, batch=3, rate=0.03), np.random.default_rng(0), seen.append
    )
    assert seen == list(range(61))
    assert len(losses) == 60
    assert losses[-1] < 0.1 < 1 < losses[0]
    assert label_scores(model, batch).hits.sum() == batch.mask.sum()


def test_train_repeats():
    results = []
    for _ in range(2):
        model = model_of()
        train(model, batch_of(PAIRS, ZH, EN), Training(updates=3, batch=2), np.random.default_rng(5))
        results.append(model.output.linear.weight.detach())
    assert torch.equal(*results)


def test_train_equals_the_steps_one_by_one():
    model, mine, data = model_of(), model_of(), batch_of(PAIRS, ZH, EN)
    plan = Training(updates=5, batch=3, rate=0.03, clip=0.1)  # rounds of 3 pairs and 1
    losses = train(model, data, plan, np.random.default_rng(0))
    rng, weights = np.random.default_rng(0), list(mine.parameters())
    orders = [rng.permutation(len(data)) for _ in range(3)]
    chosen = [part for order in orders for part in (order[:3], order[3:])][:5]
    adam = torch.optim.Adam(weights, lr=plan.rate)
    for rows, loss in zip(chosen, losses, strict=True):
        batch = data.rows(rows)
        value = mean_loss(logits_of(mine, batch), batch)
        assert loss == pytest.approx(value.item(), abs=1e-5)
        gradients = torch.autograd.grad(value, weights)
        norm = float(torch.cat([g.ravel() for g in gradients]).norm())
        assert norm > plan.clip
        for weight, g in zip(weights, gradients, strict=True):
            weight.grad = g * plan.clip / norm
        adam.step()
    for one, other in zip(model.parameters(), weights, strict=True):
        np.testing.assert_allclose(one.detach(), other.detach(), rtol=0, atol=2e-4)


def test_warm_up_scales_the_first_steps_only():
    plan = Training(updates=5, batch=4, rate=0.03, warm_up=2)
    moved = []
    for chosen in (plan, replace(plan, warm_up=0)):
        model, first = model_of(), model_of()
        train(model, batch_of(PAIRS, ZH, EN), replace(chosen, updates=1), np.random.default_rng(0))
        both = zip(model.parameters(), first.parameters(), strict=True)
        moved.append(torch.cat([(one - other).detach().ravel() for one, other in both]))
    torch.testing.assert_close(2 * moved[0], moved[1], rtol=1e-3, atol=1e-6)
    assert [plan.rate_at(update) for update in range(4)] == [0.015, 0.03, 0.03, 0.03]
    model, data = model_of(), batch_of(PAIRS, ZH, EN)
    seen: list[float] = []
    real = Adam.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Adam, "step", lambda self, clip: (seen.append(self.rate), real(self, clip)))
        train(model, data, plan, np.random.default_rng(0))
    assert seen == [0.015, 0.03, 0.03, 0.03, 0.03]


def test_training_of_takes_warm_up_where_there_is_one():
    @dataclass
    class Plan:
        updates: int = 7
        batch: int = 3
        rate: float = 0.1
        clip: float = 2.0

    @dataclass
    class Warm(Plan):
        warm_up: int = 4

    assert Training.of(Plan()) == Training(7, 3, 0.1, 2.0, 0)
    assert Training.of(Warm()) == Training(7, 3, 0.1, 2.0, 4)


def test_label_scores_have_no_hit_where_a_padded_label_is_the_likeliest():
    config = FixedSummaryConfig(len(ZH), len(EN), embedding=8, hidden=8)
    model, batch = FixedSummary.initial(config, seed=0), batch_of(PAIRS, ZH, EN)
    with torch.no_grad():
        model.output.linear.bias[EN.id(PAD)] = 100
    scores = label_scores(model, batch)
    losses, hits = scores.losses, scores.hits
    assert not batch.mask.all()
    assert not hits.any()
    assert (losses[~batch.mask] == 0).all()


@pytest.mark.parametrize("index", [[], [False] * 4, 0])
def test_rows_refuses_to_choose_none(index):
    with pytest.raises(ValueError, match="index must choose at least one pair, in a row"):
        batch_of(PAIRS, ZH, EN).rows(index)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"updates": 0}, "updates and batch must be at least 1, got updates=0"),
        ({"rate": 0.0}, "rate must be positive and finite, got 0.0"),
        ({"clip": float("inf")}, "clip must be positive and finite, got inf"),
        ({"warm_up": -1}, "warm_up must be at least 0, got -1"),
    ],
)
def test_training_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        Training(**change)
