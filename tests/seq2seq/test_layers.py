"""Sizes of recurrent translators, their layers and their output."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from onesentence.seq2seq.layers import RecurrentConfig, parts_of, recurrent_layer, run_layer
from onesentence.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary

CONFIG = RecurrentConfig(7, 9, embedding=5, hidden=6, barred=(0, 1))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"source_size": 0}, ValueError, "source_size must be at least 1, got 0"),
        ({"hidden": 0}, ValueError, "hidden must be at least 1, got 0"),
        ({"hidden": 2.0}, TypeError, "hidden must be an integer, got 2.0"),
        ({"cell": "mlp"}, ValueError, "cell: expected one of rnn, gru, lstm, got 'mlp'"),
        ({"cell": "gru", "forget_bias": 1.0}, ValueError, "forget_bias: only an lstm has a forget gate"),
        ({"cell": "lstm", "forget_bias": float("nan")}, ValueError, "forget_bias: expected a finite number"),
        ({"barred": (0, 9)}, ValueError, "barred: expected different ids below 9"),
        ({"barred": (0, 0)}, ValueError, "barred: expected different ids below 9"),
        ({"barred": tuple(range(9))}, ValueError, "barred: at least one symbol must be left"),
    ],
)
def test_recurrent_config_refuses(change, error, message):
    with pytest.raises(error, match=message):
        replace(CONFIG, **change)


def test_recurrent_config_over_bars_what_is_never_written():
    source = Vocabulary.from_words(["我", "走"], specials=[PAD])
    target = Vocabulary.from_words(["I", "go"], specials=[UNK, PAD, EOS, BOS])
    config = RecurrentConfig.over(source, target, width=8, cell="gru")
    assert config == RecurrentConfig(3, 6, embedding=8, hidden=8, cell="gru", barred=config.barred)
    assert {target.symbols[i] for i in config.barred} == {PAD, BOS, UNK}


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_run_layer_in_two_parts_equals_one(cell):
    torch.manual_seed(0)
    layer = recurrent_layer(cell, inputs=3, hidden=4)
    x, state = torch.randn(2, 5, 3), (torch.zeros(2, 4),) * parts_of(cell)
    whole, last = run_layer(layer, x, state)
    first, between = run_layer(layer, x[:, :2], state)
    second, end = run_layer(layer, x[:, 2:], between)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)
    for one, other in zip(end, last, strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(last[0], whole[:, -1])


def test_recurrent_layer_refuses():
    with pytest.raises(ValueError, match="cell: expected one of rnn, gru, lstm, got 'mlp'"):
        recurrent_layer("mlp", inputs=3, hidden=4)
    with pytest.raises(ValueError, match="forget_bias: only an lstm has a forget gate, got one for 'rnn'"):
        recurrent_layer("rnn", inputs=3, hidden=4, forget_bias=1.0)
