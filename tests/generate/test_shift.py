"""Inputs and labels by shifting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.generate.shift import shifted, shifted_batch

PAD, BOS, EOS = 0, 1, 2
TEXTS = st.lists(st.lists(st.integers(3, 9), max_size=6), min_size=1, max_size=5)


@given(st.lists(st.integers(3, 9), max_size=8))
def test_shifted_labels_run_one_ahead(text):
    inputs, labels = shifted(text, BOS, EOS)
    assert inputs.tolist() == [BOS, *text]
    assert labels.tolist() == [*text, EOS]
    assert inputs[1:].tolist() == labels[:-1].tolist()


@given(TEXTS, st.integers(0, 3))
def test_shifted_batch_is_shifted_row_by_row_whatever_the_padding(texts, more):
    length = max(map(len, texts)) + 1 + more
    batch = shifted_batch(texts, pad=PAD, bos=BOS, eos=EOS, length=length)
    assert batch.inputs.shape == batch.labels.shape == batch.mask.shape == (len(texts), length)
    for text, inputs, labels, mask in zip(texts, *batch, strict=True):
        one = shifted(text, BOS, EOS)
        assert inputs[mask].tolist() == one.inputs.tolist()
        assert labels[mask].tolist() == one.labels.tolist()
        assert mask.sum() == len(text) + 1
        assert (inputs[~mask] == PAD).all()
        assert (labels[~mask] == PAD).all()


def test_shifted_of_nothing_asks_for_eos():
    inputs, labels = shifted(np.array([]), BOS, EOS)
    assert (inputs.tolist(), labels.tolist()) == ([BOS], [EOS])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3, BOS], BOS, EOS), "ids: expected a text without BOS, found its id 1"),
        (([EOS], BOS, EOS), "ids: expected a text without EOS, found its id 2"),
        (([3], 1, 1), "eos: expected another id than that of BOS, got 1 for both"),
    ],
)
def test_shifted_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        shifted(*arguments)


def test_shifted_batch_refuses():
    for pad in (1, 2):
        with pytest.raises(
            ValueError, match=f"pad: expected another id than those of BOS and EOS, got {pad}"
        ):
            shifted_batch([[3]], pad=pad, bos=1, eos=2)
    with pytest.raises(ValueError, match=r"sequences\[0\]: holds 0, the id of PAD"):
        shifted_batch([[3, 0]], pad=0, bos=1, eos=2)
    with pytest.raises(TypeError, match="ids must hold integers, got dtype float64"):
        shifted([1.5], BOS, EOS)


@pytest.mark.parametrize("special", [1.5, True, None, "a"])
def test_special_ids_and_lengths_that_are_no_integers_are_refused(special):
    for bos, eos, name in ((special, EOS, "bos"), (BOS, special, "eos")):
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            shifted([3], bos, eos)
    with pytest.raises(TypeError, match="pad must be an integer"):
        shifted_batch([[3]], pad=special, bos=3 + BOS, eos=3 + EOS)
    with pytest.raises(ValueError, match="bos must be at least 0, got -1"):
        shifted([3], -1, EOS)
