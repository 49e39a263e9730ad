"""Sentences of different lengths in one array."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.batches import batches, id_vector, padded

ROWS = st.lists(st.lists(st.integers(1, 9), max_size=7), min_size=1, max_size=6)


@given(ROWS)
def test_padded_gives_every_sentence_back_through_its_mask(rows):
    batch = padded(rows, pad=0)
    assert [ids[kept].tolist() for ids, kept in zip(batch.ids, batch.mask, strict=True)] == rows
    assert (batch.ids[~batch.mask] == 0).all()
    assert batch.lengths.tolist() == [len(row) for row in rows]


@given(ROWS)
def test_padded_agrees_with_torch(rows):
    theirs = torch.nn.utils.rnn.pad_sequence([torch.tensor(r, dtype=torch.int64) for r in rows], True, 0)
    assert padded(rows, pad=0).ids.tolist() == theirs.tolist()


def test_padded_with_a_length_only_adds_padding():
    short, long = padded([[1, 2], [3]], pad=0), padded([[1, 2], [3]], pad=0, length=4)
    assert long.ids.shape == (2, 4)
    assert (long.ids[:, :2] == short.ids).all()
    assert not long.mask[:, 2:].any()


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "sequences: expected at least one, got none"),
        ([[1], [2, 0]], {}, r"sequences\[1\]: holds 0, the id of PAD"),
        ([[1, 2, 3]], {"length": 2}, "length: expected at least 3, the longest sequence, got 2"),
        ([[[1]]], {}, r"sequences\[0\] must have shape \(T,\), got \(1, 1\)"),
    ],
)
def test_padded_refuses(rows, options, message):
    with pytest.raises(ValueError, match=message):
        padded(rows, pad=0, **options)


def test_id_vector_refuses_what_is_not_an_integer():
    with pytest.raises(TypeError, match="ids must hold integers, got dtype float64"):
        id_vector("ids", [1.5])
    assert id_vector("ids", []).dtype == np.int64


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 5))
def test_batches_hold_every_number_once(count, size, seed):
    groups = list(batches(count, size, np.random.default_rng(seed)))
    assert sorted(np.concatenate(groups).tolist()) == list(range(count))
    assert all(len(group) == size for group in groups[:-1])


def test_batches_refuse_before_the_first_is_asked_for():
    with pytest.raises(ValueError, match="size: expected at least 1, got 0"):
        batches(3, 0)


def test_batches_are_shuffled_by_their_generator():
    in_order = np.concatenate(list(batches(40, 7)))
    one, same, other = (np.concatenate(list(batches(40, 7, np.random.default_rng(s)))) for s in (0, 0, 1))
    assert in_order.tolist() == list(range(40))
    assert one.tolist() == same.tolist()
    assert one.tolist() not in (in_order.tolist(), other.tolist())


def test_padded_refuses_a_pad_or_a_length_that_is_no_integer():
    with pytest.raises(TypeError, match=r"pad must be an integer, got 0\.5"):
        padded([[1]], pad=0.5)
    with pytest.raises(TypeError, match=r"length must be an integer, got 2\.5"):
        padded([[1]], pad=0, length=2.5)
