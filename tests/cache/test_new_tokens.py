"""Masks of a step by hand, and where there is none."""

from __future__ import annotations

import pytest
import torch

from onesentence.cache.new_tokens import NewTokens, mask_of_run, mask_of_slots, new_tokens


def step(lengths: list[int], real: list[list[int]]) -> NewTokens:
    return new_tokens(torch.tensor(lengths), torch.tensor(real, dtype=torch.bool), torch.device("cpu"))


def test_new_tokens_are_numbered_past_padding_on_any_side() -> None:
    new = step([4, 0, 7], [[1, 1, 0], [0, 1, 1], [0, 0, 0]])
    assert new.positions.tolist() == [[4, 5, 0], [0, 0, 1], [0, 0, 0]]
    assert new.after.tolist() == [6, 2, 7]
    assert new.places.tolist() == [4, 5, 0, 1]
    assert [part.tolist() for part in new.where] == [[0, 0, 1, 1], [0, 1, 1, 2]]
    assert (new.longest, new.full, new.even) == (7, False, False)
    part = torch.arange(9).reshape(3, 1, 3, 1)
    assert new.tokens_of(part).flatten().tolist() == [0, 1, 4, 5]
    assert step([0, 0], [[0], [0]]).longest == 1


def test_new_tokens_without_padding() -> None:
    new = step([1, 2], [[1, 1], [1, 1]])
    assert new.positions.tolist() == [[1, 2], [2, 3]]
    assert new.after.tolist() == [3, 4]
    assert (new.longest, new.full, new.even) == (4, True, False)
    assert new.tokens_of(torch.arange(8).reshape(2, 2, 2, 1)).flatten(1).tolist() == [
        [0, 2],
        [1, 3],
        [4, 6],
        [5, 7],
    ]
    assert step([2, 2], [[1], [1]]).even


@pytest.mark.parametrize(
    ("lengths", "T", "window", "expected"),
    [
        ([0, 0], 1, None, (None, False)),
        ([5, 5], 1, None, (None, False)),
        ([0, 0], 4, None, (None, True)),
        ([0, 0], 4, 4, (None, True)),
    ],
)
def test_mask_of_run_is_none_where_nothing_needs_one(
    lengths: list[int], T: int, window: int | None, expected: tuple[None, bool]
) -> None:
    assert mask_of_run(step(lengths, [[1] * T] * 2), 0, lengths[0] + T, window) == expected


def test_mask_of_run_by_hand() -> None:
    mask, causal = mask_of_run(step([1, 1], [[1, 1], [1, 1]]), 0, 3)
    assert mask is not None
    assert mask.int().tolist() == [
        [[[1, 1, 0], [1, 1, 1]]]
    ]  # aligned to the end of the keys; one for both rows
    assert not causal
    mask, _ = mask_of_run(step([0], [[1] * 4]), 0, 4, window=2)
    assert mask is not None
    assert mask[0, 0].int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    mask, _ = mask_of_run(step([5], [[1, 1]]), 3, 4, window=3)  # positions 3 to 6, queries at 5 and 6
    assert mask is not None
    assert mask[0, 0].int().tolist() == [[1, 1, 1, 0], [0, 1, 1, 1]]
    mask, _ = mask_of_run(step([0, 2], [[0, 1], [1, 0]]), 0, 3)
    assert mask is not None
    assert mask[:, 0].int().tolist() == [[[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [1, 0, 0]]]


def test_mask_of_slots_by_hand() -> None:
    positions, real = torch.tensor([[5, 6, 0]]), torch.tensor([[True, True, False]])
    held = torch.tensor([[6, 4, 5, -1, 3]])
    assert mask_of_slots(positions, real, held)[0, 0].int().tolist() == [
        [0, 1, 1, 0, 1],
        [1, 1, 1, 0, 1],
        [1, 0, 0, 0, 0],  # the query of a padding reads slot 0
    ]
    assert mask_of_slots(positions, real, held, window=2)[0, 0, :2].int().tolist() == [
        [0, 1, 1, 0, 0],
        [1, 0, 1, 0, 0],
    ]
