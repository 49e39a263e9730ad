"""Choosing the weights of a phrase model on pairs that it was not counted on.

Only the ratios of the four weights matter, so lambda_tm is held at 1 and the others are tried on a small grid.
What is compared is how many held-out sentences are translated word for word as in their pair. Minimum
error rate training (Och 2003) looks for the weights without a grid, and for BLEU. Section 1.15 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from onesentence.text.parallel import ParallelPair
from onesentence.text.phrase import PhraseModel, Weights
from onesentence.text.stack_search import search

GRID = tuple(
    Weights(1.0, language, distortion, words)
    for language, distortion, words in product((0.3, 1.0, 3.0), (0.03, 0.1, 0.3), (0.0, 1.0))
)
"""Weights to try, small ones first."""


@dataclass(frozen=True)
class Trial:
    """How one setting of the weights did.

    Attributes:
        weights: the setting.
        exact: how many held-out sentences came out as in their pair.
    """

    weights: Weights
    exact: int


def exact_matches(model: PhraseModel, pairs: Iterable[ParallelPair], *, stack_size: int = 10) -> int:
    """Count the pairs whose source is translated exactly as in the pair.

    Args:
        model: the model.
        pairs: pairs to translate.
        stack_size: see `search`.
    """
    return sum(search(model, p.source, stack_size=stack_size).best.target == p.target for p in pairs)


def try_weights(
    model: PhraseModel,
    held_out: Sequence[ParallelPair],
    grid: Sequence[Weights] = GRID,
    *,
    stack_size: int = 10,
) -> tuple[Trial, ...]:
    """Translate held-out pairs with every setting of a grid.

    Args:
        model: the model; its own weights are not used.
        held_out: pairs that the model was not counted on, at least one.
        grid: settings, at least one.
        stack_size: see `search`.

    Returns:
        One trial per setting, in the order of the grid.

    Raises:
        ValueError: if there is nothing to try, or nothing to try it on.
    """
    if not held_out:
        raise ValueError("held_out: expected at least one pair, got none")
    if not grid:
        raise ValueError("grid: expected at least one setting, got none")
    models = [replace(model, weights=weights) for weights in grid]
    return tuple(Trial(m.weights, exact_matches(m, held_out, stack_size=stack_size)) for m in models)


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the most exact matches, the earliest of equals.

    Args:
        trials: at least one.

    Raises:
        ValueError: if there is none.

    Example:
        >>> light, heavy = Weights(1, 0.3, 0.1, 0), Weights(1, 3, 0.1, 0)
        >>> best_trial([Trial(light, 7), Trial(heavy, 7)]).weights.language
        0.3
    """
    if not trials:
        raise ValueError("trials: expected at least one, got none")
    return max(trials, key=lambda trial: trial.exact)
