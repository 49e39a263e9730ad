"""The strongest pairs: by hand, what is left out, bad input."""

import pytest

from onesentence.text.association import strongest_pairs
from onesentence.text.cooccurrence import Window, count_pairs, pmi


def test_strongest_pairs_names_each_pair_once_and_leaves_out_what_never_met():
    counts = count_pairs([["茶", "水", "水", "书"]], Window(1))
    found = strongest_pairs(counts, pmi(counts.matrix), 9)
    assert [(pair.centre, pair.context) for pair in found] == [("茶", "水"), ("水", "书"), ("水", "水")]
    assert [pair.times for pair in found] == [1, 1, 2]


def test_strongest_pairs_refuses():
    counts = count_pairs([["茶", "水"]], Window(1))
    with pytest.raises(ValueError, match=r"scores must have shape \(2, 2\), got \(1, 2\)"):
        strongest_pairs(counts, [[0.0, 1.0]], 1)
    with pytest.raises(ValueError, match="scores must be symmetric"):
        strongest_pairs(counts, [[0.0, 1.0], [2.0, 0.0]], 1)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        strongest_pairs(counts, counts.matrix, 0)


def test_strongest_pairs_allows_differences_of_rounding():
    counts = count_pairs([list("茶水书笔纸墨砚水茶书")] * 3, Window(5, weighting="inverse"))
    scores = pmi(counts.matrix)
    scores[0, 1] += 1e-12  # weights 1/3 do not add up to the same sum in every order
    assert len(strongest_pairs(counts, scores, 3)) == 3
