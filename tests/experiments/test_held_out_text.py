"""The comparison on held-out text, at a small size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf, log

import pytest

from onesentence.experiments import held_out_text
from onesentence.experiments.held_out_text import (
    MODELS,
    HeldOut,
    as_characters,
    by_model,
    characters_per_token,
    draw_texts,
    loss_per_token,
)
from onesentence.text.ngram import AddAlpha, MaximumLikelihood
from onesentence.text.ngram_counts import NgramCounts

SMALL = HeldOut(train=60, choose=20, test=15, epochs=3, seeds=(0, 1))


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONESENTENCE_RECORDS", str(tmp_path_factory.mktemp("records")))
        yield held_out_text.run(SMALL)


def test_draw_texts_keeps_the_pair_out_of_training_and_in_every_unseen_sentence() -> None:
    texts = draw_texts(SMALL, 0)
    for name in ("train", "choose", "test"):
        assert not [words for words in getattr(texts, name) if SMALL.pair in pairwise(words)]
    assert len(texts.unseen) == SMALL.test
    assert all(SMALL.pair in pairwise(words) for words in texts.unseen)
    assert texts == draw_texts(SMALL, 0)
    assert texts != draw_texts(SMALL, 1)


def test_loss_per_token_by_hand_counts_the_end() -> None:
    counts = NgramCounts.of([("a",), ("b",)], 2)
    model = AddAlpha(counts, 1.0)  # candidates a, b, EOS
    # p(a | BOS) = 2/5, p(EOS | a) = 2/4
    assert loss_per_token(model, [("a",)]) == pytest.approx(-(log(2 / 5) + log(2 / 4)) / 2)
    assert loss_per_token(MaximumLikelihood(counts), [("a", "b")]) == inf


def test_characters_are_those_of_the_printed_sentence() -> None:
    sentences = [("I", "gave"), ("a",)]
    assert as_characters(sentences) == (tuple("I gave"), ("a",))
    # 6 + 1 and 1 + 1 characters for 2 + 1 and 1 + 1 tokens
    assert characters_per_token(sentences) == pytest.approx(9 / 5)


def test_run_has_a_value_per_model_and_seed(record) -> None:
    assert record.seeds == SMALL.seeds
    for metric in ("test", "unseen", "per_character"):
        assert [len(row) for row in record.metrics[metric]] == [len(MODELS)] * 2
    for name in ("train", "choose", "test", "unseen"):
        assert [len(curve) for curve in record.metrics[f"curve_{name}"]] == [SMALL.epochs] * 2
    for best, curve, row in zip(
        record.metrics["best"], record.metrics["curve_choose"], record.metrics["test"], strict=True
    ):
        assert curve[best - 1] == min(curve)
        assert row[MODELS.index("window")] > 0


def test_by_model_reads_none_as_infinite(record) -> None:
    unseen = by_model(record, "unseen")
    assert list(unseen) == list(MODELS)
    assert unseen["mle"] == [inf, inf], "the pair was never counted"
    assert max(unseen["kneser_ney"]) < inf


def test_per_character_divides_word_losses_and_keeps_those_of_characters(record) -> None:
    for seed, (test, per_character) in enumerate(
        zip(record.metrics["test"], record.metrics["per_character"], strict=True)
    ):
        ratio = characters_per_token(draw_texts(SMALL, seed).test)
        assert per_character[1] == pytest.approx(test[1] / ratio)
        assert per_character[-1] == test[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": 0}, "train must be at least 1, got 0"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"order": 1}, "order must be at least 2"),
        ({"seeds": ()}, "seeds: expected at least one"),
    ],
)
def test_configuration_outside_its_range_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)
