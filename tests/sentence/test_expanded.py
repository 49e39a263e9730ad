"""The expanded sentence and its own numbering."""

from __future__ import annotations

import pytest

from onesentence.sentence.example import UNITS
from onesentence.sentence.expanded import EXPANDED, EXPANDED_UNITS, in_expanded


def test_units_make_up_the_sentence():
    assert "".join(EXPANDED_UNITS) == EXPANDED


def test_in_expanded_finds_every_unit_in_order():
    places = [in_expanded(p) for p in range(len(UNITS))]
    assert [EXPANDED_UNITS[p] for p in places] == list(UNITS)
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(EXPANDED_UNITS) - 1)


@pytest.mark.parametrize("position", [-1, 9])
def test_in_expanded_refuses(position):
    with pytest.raises(ValueError, match=rf"position must lie in \[0, 9\), got {position}"):
        in_expanded(position)
