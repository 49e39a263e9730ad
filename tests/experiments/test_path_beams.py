"""Beams over one sequence: how wide they are, which candidates they show, where the right answer stands."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.experiments.path_beams import beams_of, optimum, search
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader
from onesentence.seq2seq.reversal_teaching import TeachingReader

READER = TeachingReader.from_torch(SourceReader.initial(ReaderConfig("dynamic"), seed=2))
SOURCE = np.array([3, 4])


def test_search_of_width_one_is_greedy() -> None:
    greedy = [step.chosen for step in READER.write(SOURCE, bos=1, eos=2, limit=4)]
    found = search(READER, SOURCE, width=1, limit=4)
    assert [list(text.ids) for text in found.texts] == [greedy]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_beams_of_show_every_candidate_of_every_round(width: int) -> None:
    found = search(READER, SOURCE, width=width, limit=3)
    (beam,) = beams_of(READER, SOURCE, np.array([4, 3, 2]), widths=[width], limit=3)
    assert len(beam["texts"]) == beam["width"] == width
    shown = [[(c["rank"], c["fate"], c["log_p"]) for c in row] for row in beam["rounds"]]
    assert shown == [[(c.rank, c.fate, c.log_prob) for c in row] for row in found.rounds]
    assert all(sum(c["fate"] != "pruned" for c in row) <= width for row in beam["rounds"])
    assert all(c["fate"] == "pruned" for row in beam["rounds"] for c in row[width:])
    ended = any(c.fate == "ended" for row in found.rounds for c in row)
    assert any(c["ended"] and c["fate"] == "ended" for row in beam["rounds"] for c in row) == ended


def test_beams_of_say_at_which_place_the_target_stands() -> None:
    found = search(READER, SOURCE, width=30, limit=2)
    ended = [at for at, text in enumerate(found.texts) if text.ended]
    assert len(ended) > 1
    (beam,) = beams_of(READER, SOURCE, np.array([2]), widths=[30], limit=2)
    assert any(text["ended"] for text in beam["rounds"][0])
    assert [len(row) for row in beam["rounds"]] == [len(row) for row in found.rounds]
    for place in ended:
        target = np.array(found.texts[place].ids)
        (beam,) = beams_of(READER, SOURCE, target, widths=[30], limit=2)
        assert (beam["target"]["kept"], beam["target"]["place"]) == (True, place)
    (beam,) = beams_of(READER, SOURCE, np.array([3, 4, 5, 2]), widths=[30], limit=2)
    assert (beam["target"]["kept"], beam["target"]["place"]) == (False, None)


def test_a_pruned_beginning_of_the_target_is_found_in_the_rounds() -> None:
    found = search(READER, SOURCE, width=1, limit=3)
    lost = next(c for c in found.rounds[0] if c.fate == "pruned" and not c.ended)
    (beam,) = beams_of(READER, SOURCE, np.array([*lost.ids, 2]), widths=[1], limit=3)
    last = beam["target"]["path"][-1]
    assert (last["rank"], last["fate"]) == (lost.rank, "pruned")
    assert beam["rounds"][0][lost.rank] | last == beam["rounds"][0][lost.rank]


def test_optimum_is_what_a_beam_that_prunes_nothing_returns() -> None:
    best = optimum(READER, SOURCE, limit=3)
    assert best.proved
    assert best.best == search(READER, SOURCE, width=10**6, limit=3).best
    assert not optimum(READER, SOURCE, limit=3, most=1).proved
