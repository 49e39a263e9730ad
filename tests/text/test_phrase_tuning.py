"""Weights chosen on held-out pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesentence.sentence.example import TRANSLATION, UNITS
from onesentence.text.giving import Grammar
from onesentence.text.parallel import sample_pairs
from onesentence.text.phrase import Weights, train
from onesentence.text.phrase_tuning import GRID, Trial, best_trial, exact_matches, try_weights
from onesentence.text.stack_search import search

PAIRS = sample_pairs(Grammar(), 60, np.random.default_rng(0))
MODEL = train(PAIRS[:48], Weights(1, 1, 1, 0), copy_unknown=True)


def test_grid_holds_the_translation_weight_at_one():
    assert len(set(GRID)) == len(GRID) == 18
    assert {weights.translation for weights in GRID} == {1.0}


def test_try_weights_counts_what_each_setting_gets_right():
    grid = GRID[2:6:2]
    trials = try_weights(MODEL, PAIRS[48:], grid)
    assert [trial.weights for trial in trials] == list(grid)
    for trial in trials:
        assert trial.exact == exact_matches(replace(MODEL, weights=trial.weights), PAIRS[48:])


@pytest.mark.parametrize("seed", range(3))
def test_weights_from_held_out_pairs_translate_the_sentence_of_the_book(seed):
    pairs = sample_pairs(Grammar(), 60, np.random.default_rng(seed))
    assert UNITS not in {pair.source for pair in pairs}
    model = train(pairs[:48], GRID[0], copy_unknown=True)
    weights = best_trial(try_weights(model, pairs[48:], GRID[::2])).weights
    assert search(replace(model, weights=weights), UNITS).best.text == TRANSLATION


def test_scaling_all_weights_changes_no_translation():
    weights = GRID[2]
    scaled = Weights(2 * weights.translation, 2 * weights.language, 2 * weights.distortion, 2 * weights.words)
    one, other = (search(replace(MODEL, weights=w), UNITS).best for w in (weights, scaled))
    assert one.text == other.text
    assert other.score == pytest.approx(2 * one.score)


def test_best_trial_takes_the_earliest_of_equals():
    trials = [Trial(weights, exact) for weights, exact in zip(GRID, (1, 3, 3, 2), strict=False)]
    assert best_trial(trials) is trials[1]


def test_tuning_refuses_nothing():
    with pytest.raises(ValueError, match="held_out: expected at least one pair, got none"):
        try_weights(MODEL, ())
    with pytest.raises(ValueError, match="grid: expected at least one setting, got none"):
        try_weights(MODEL, PAIRS[48:], ())
    with pytest.raises(ValueError, match="trials: expected at least one, got none"):
        best_trial([])
