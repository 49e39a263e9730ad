"""The comparison on held-out text, at a small size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf, log

import pytest
import torch

from onesentence.experiments import held_out_networks, held_out_text
from onesentence.experiments.held_out_counts import loss_per_token
from onesentence.experiments.held_out_data import (
    NETWORKS,
    HeldOut,
    as_characters,
    characters_per_token,
    draw_texts,
)
from onesentence.experiments.held_out_networks import train_networks, train_recurrent
from onesentence.experiments.held_out_text import COUNTED, by_model
from onesentence.recurrent.language_model import RecurrentLM
from onesentence.text.ngram import AddAlpha, MaximumLikelihood
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, Vocabulary

SMALL = HeldOut(train=60, choose=20, test=15, epochs=3, seeds=(0, 1))
MODELS = [*COUNTED, *NETWORKS, "characters"]


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
    for name in ("choose", "test", "unseen"):
        for curves in record.metrics[f"curve_{name}"]:
            assert [len(curve) for curve in curves] == [SMALL.epochs] * len(NETWORKS)


def test_run_takes_each_network_at_the_epoch_that_the_choosing_text_prefers(record) -> None:
    curves = {name: by_model(record, f"curve_{name}") for name in ("choose", "test", "unseen")}
    for kind in NETWORKS:
        for seed, best in enumerate(by_model(record, "best")[kind]):
            assert curves["choose"][kind][seed][best - 1] == min(curves["choose"][kind][seed])
            for name in ("test", "unseen"):
                assert by_model(record, name)[kind][seed] == curves[name][kind][seed][best - 1]


def test_networks_of_the_page_have_about_as_many_parameters() -> None:
    """Counted by hand: a table of 25 words, one output row each, of the window all but BOS."""
    config = HeldOut(epochs=1)
    networks = train_networks(config, draw_texts(config, 0), 0)
    V, d, H, L = 25, 8, 16, 8
    assert {kind: training.size for kind, training in networks.items()} == {
        "window": V * d + H * 3 * d + H + (V - 1) * (H + 1),
        "rnn": V * d + H * d + H * H + H + V * (H + 1),
        "lstm": V * d + 4 * L * (d + L + 1) + V * (L + 1),
    }


@pytest.mark.parametrize("kind", ["rnn", "lstm"])
def test_train_recurrent_measures_as_torch_does(kind: str) -> None:
    """The choosing text read sentence by sentence by torch's cell, after the same steps: no padding, BOS impossible."""
    captured = {}

    class Kept(RecurrentLM):
        def __post_init__(self) -> None:
            super().__post_init__()
            captured["model"] = self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out_networks, "RecurrentLM", Kept)
        texts = draw_texts(SMALL, 0)
        training = train_recurrent(SMALL, texts, 0, kind)
    model, vocabulary = captured["model"], Vocabulary.from_sentences(texts.train, specials=[BOS, EOS])
    bos, eos = (vocabulary.symbols.index(name) for name in (BOS, EOS))
    p = {name: torch.from_numpy(value) for name, value in model.parameters().items()}
    H, d = model.cell.hidden_size, SMALL.embedding
    cell = (torch.nn.RNN if kind == "rnn" else torch.nn.LSTM)(d, H).double()
    with torch.no_grad():
        for name, value in (("weight_ih_l0", "W_x"), ("weight_hh_l0", "W_h"), ("bias_ih_l0", "b")):
            getattr(cell, name).copy_(p[f"cell.{value}"])
        cell.bias_hh_l0.zero_()
        total, count = 0.0, 0
        for words in texts.choose:
            ids = vocabulary.encode(words).tolist()
            h, _ = cell(p["E"][[bos, *ids]])
            logits = h @ p["W_y"].T + p["b_y"]
            logits[:, bos] = -torch.inf
            total += torch.nn.functional.cross_entropy(
                logits, torch.tensor([*ids, eos]), reduction="sum"
            ).item()
            count += len(ids) + 1
    assert training.curves["choose"][-1] == pytest.approx(total / count, rel=1e-12)


def test_run_trains_the_networks_that_are_named(record) -> None:
    alone = held_out_text.run(replace(SMALL, networks=("rnn",)))
    assert list(by_model(alone, "unseen")) == [*COUNTED, "rnn", "characters"]
    assert by_model(alone, "unseen")["rnn"] == by_model(record, "unseen")["rnn"]


def test_by_model_refuses_a_metric_that_is_none(record) -> None:
    with pytest.raises(ValueError, match=r"metric must be one of .*'unseen'.*, got 'seen'"):
        by_model(record, "seen")


def test_by_model_reads_none_as_infinite(record) -> None:
    unseen = by_model(record, "unseen")
    assert list(unseen) == MODELS
    assert unseen["mle"] == [inf, inf], "the pair was never counted"
    for model in ("kneser_ney", *NETWORKS):
        assert max(unseen[model]) < inf


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
        ({"sentences": 0}, "sentences must be at least 1, got 0"),
        ({"networks": ("gru",)}, r"networks must name some of .*, got \('gru',\)"),
        ({"networks": ()}, "networks must name some of"),
        ({"order": 1}, "order must be at least 2"),
        ({"seeds": ()}, "seeds: expected at least one"),
    ],
)
def test_configuration_outside_its_range_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)
