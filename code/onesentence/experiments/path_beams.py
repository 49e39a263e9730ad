"""Beams over one sequence of the reversal lab, and what became in them of the right answer.

Scores are log probabilities in nats, EOS's among them, without a length penalty; ended texts hold their place in the
beam. Section 3.15 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesentence.generate.beam_plain import Step, beam_search_plain
from onesentence.generate.exact_search import Exact, exact_search
from onesentence.generate.hypotheses import Candidate, Found, Hypothesis, LengthPenalty, follow
from onesentence.numerics import FloatArray
from onesentence.seq2seq.reversal_teaching import TeachingReader, TeachingReaderState
from onesentence.text.reversal import VOCABULARY
from onesentence.text.vocabulary import BOS, EOS

Ids = NDArray[np.int64]


SETTINGS: dict[str, Any] = {
    "score": "ln p",
    "eos_counted": True,
    "alpha": 0.0,
    "finished": "in_beam",
    "stop": "bound",
}
"""How texts are scored and kept; `hypotheses.SearchSettings` says what the words mean."""


def search(reader: TeachingReader, source: Ids, *, width: int, limit: int) -> Found:
    """Search with every candidate of every round kept.

    Args:
        reader: the model.
        source: ids, (S,).
        width: hypotheses kept in each round.
        limit: largest number of tokens, EOS among them.
    """
    return beam_search_plain(
        _step_of(reader),
        reader.start(source),
        bos=VOCABULARY.id(BOS),
        eos=VOCABULARY.id(EOS),
        limit=limit,
        width=width,
        penalty=LengthPenalty(SETTINGS["alpha"]),
        finished=SETTINGS["finished"],
        stop=SETTINGS["stop"],
        record=True,
    )


def optimum(reader: TeachingReader, source: Ids, *, limit: int, most: int = 10_000) -> Exact:
    """Search for the sequence that the model gives the most, and say whether that is proved.

    Args:
        reader: the model.
        source: ids, (S,).
        limit: largest number of tokens, EOS among them.
        most: largest number of steps of the model.
    """
    bos, eos = VOCABULARY.id(BOS), VOCABULARY.id(EOS)
    return exact_search(_step_of(reader), reader.start(source), bos=bos, eos=eos, limit=limit, most=most)


def beams_of(
    reader: TeachingReader, source: Ids, target: Ids, *, widths: Sequence[int], limit: int
) -> list[dict[str, Any]]:
    """Search with several widths and follow the right answer through each.

    Args:
        reader: the model.
        source: ids, (S,).
        target: the right answer, ids, EOS at the end.
        widths: of the beams.
        limit: largest number of tokens, EOS among them.

    Returns:
        Per width `width`, `stopped`, `texts` (what was left, best first), `rounds` (per round all candidates, best
        first, each with its `rank` from 0 and its `fate`), each text with `text`, `log_p` and `ended`; and `target`:
        per round in which a beginning of the right answer was a candidate its `rank` and `fate`, `kept` whether it was
        there complete at the end, `place` its place among the texts from 0, None where it was lost.
    """
    right, results = tuple(target.tolist()), []
    for width in widths:
        found = search(reader, source, width=width, limit=limit)
        place = next((i for i, text in enumerate(found.texts) if text.ids == right), None)
        results.append(
            {
                "width": width,
                "stopped": found.stopped,
                "texts": [_plain(text) for text in found.texts],
                "rounds": [[_plain(c) | _at(c) for c in row] for row in found.rounds],
                "target": {
                    "path": [_at(candidate) for candidate in follow(found, right)],
                    "kept": place is not None,
                    "place": place,
                },
            }
        )
    return results


def _step_of(reader: TeachingReader) -> Step:
    """Return the reader's step as searches call it: one row."""

    def step(ids: Ids, state: TeachingReaderState) -> tuple[FloatArray, TeachingReaderState]:
        logits, after = reader.step(int(ids[0]), state)
        return logits[None], after

    return step


def _plain(text: Hypothesis) -> dict[str, Any]:
    return {
        "text": [VOCABULARY.symbols[token] for token in text.ids],
        "log_p": text.log_prob,
        "ended": text.ended,
    }


def _at(candidate: Candidate) -> dict[str, Any]:
    return {"rank": candidate.rank, "fate": candidate.fate, "log_p": candidate.log_prob}
