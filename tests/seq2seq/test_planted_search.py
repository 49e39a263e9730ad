"""A search over a tree whose probabilities are written down: who is at fault is known by hand."""

from __future__ import annotations

import math

import pytest

from onesentence.generate.tree import Tree
from onesentence.seq2seq.planted_search import searched

TREE = Tree.closed(
    {
        "": {"A": 0.45, "B": 0.30, "C": 0.25},
        "A": {"a": 0.7, "b": 0.3},
        "A a": {"EOS": 2 / 3, "c": 1 / 3},
        "B": {"EOS": 0.75, "d": 0.25},
    }
)


@pytest.mark.parametrize(
    ("target", "width", "output", "beam", "p"),
    [
        ("C EOS", 2, "B EOS", ("pruned",), (0.25, 0.225)),
        ("B EOS", 1, "A a EOS", ("pruned",), (0.225, 0.21)),
        ("A a EOS", 2, "B EOS", ("open", "open", "ended"), (0.21, 0.225)),
        ("B EOS", 3, "C EOS", ("open", "ended", "ended"), (0.225, 0.25)),
    ],
)
def test_searched_scores_both_and_follows_the_target(
    target: str, width: int, output: str, beam: tuple[str, ...], p: tuple[float, float]
) -> None:
    seen = searched(TREE, target, width)
    assert (TREE.text(seen.target), TREE.text(seen.output)) == (target, output)
    assert seen.beam == beam
    assert seen.log_p == pytest.approx([math.log(x) for x in p])


def test_searched_refuses_a_text_that_is_returned() -> None:
    with pytest.raises(ValueError, match="no failure to explain"):
        searched(TREE, "A a EOS", 1)
