"""Readers with a planted fault write what the fault makes of the source, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.seq2seq.planted import PlantedReader

letters = st.lists(st.integers(0, 3), min_size=1, max_size=8)


@given(letters)
def test_planted_reader_without_a_fault_writes_backwards(source: list[int]) -> None:
    assert PlantedReader().write(source) == (*reversed(source), 4)


@given(letters)
def test_planted_reader_output_fault_exchanges_two_letters(source: list[int]) -> None:
    exchanged = {0: 1, 1: 0}
    assert PlantedReader("output").write(source) == (*(exchanged.get(x, x) for x in reversed(source)), 4)


@given(letters)
def test_planted_reader_source_fault_takes_one_letter_for_another(source: list[int]) -> None:
    assert PlantedReader("source").write(source) == (*(0 if x == 1 else x for x in reversed(source)), 4)


@given(letters)
def test_planted_reader_reading_fault_reads_one_place_early(source: list[int]) -> None:
    early = [source[max(j - 1, 0)] for j in reversed(range(len(source)))]
    assert PlantedReader("reading").write(source) == (*early, 4)


@given(letters, st.floats(2, 50))
def test_planted_reader_without_a_fault_writes_backwards_however_blunt(
    source: list[int], sharp: float
) -> None:
    assert PlantedReader(sharp=sharp).write(source) == (*reversed(source), 4)


def test_planted_reader_outweighs_seven_places_with_one_letter() -> None:
    assert PlantedReader(sharp=2).write([0, *[1] * 7]) == (*[1] * 7, 0, 4)


def test_planted_reader_refuses_letters_that_are_no_number() -> None:
    with pytest.raises(TypeError, match=r"letters must be an integer, got 4\.5"):
        PlantedReader(letters=4.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (("luck",), "fault: expected none"),
        (("none", 2), "letters must be at least 3"),
        (("none", 4, 1.5), "sharp must be finite and at least 2, got 1.5"),
        (("none", 4, float("inf")), "sharp must be finite and at least 2, got inf"),
        (("none", 4, float("nan")), "sharp must be finite and at least 2, got nan"),
    ],
)
def test_planted_reader_refuses(given_: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PlantedReader(*given_)


@pytest.mark.parametrize("source", [[], [0] * 9, [[0, 1]]])
def test_planted_reader_refuses_a_source_of_another_shape(source: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"source must have shape \(S,\)"):
        PlantedReader().start(source)


def test_planted_reader_refuses_a_letter_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"source must lie in \[0, 4\), got 4"):
        PlantedReader().start([0, 4])
