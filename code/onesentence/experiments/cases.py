"""One experiment, several cases and several seeds: run all of them and sort what came out into a record's metrics.

Every run returns a mapping from metrics to values, all of them the same metrics; `seeds.over` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from onesentence.experiments import seeds as processes

Name = TypeVar("Name", bound=str)
Run = Callable[[Any], Mapping[str, Any]]


def by_case(
    cases: Mapping[Name, tuple[Any, ...]],
    seeds: Sequence[int],
    run: Run,
    *,
    left_out: Collection[tuple[str, int]] = (),
) -> dict[str, list[Any]]:
    """Run every case with every seed.

    Args:
        cases: by name what a run gets in front of the seed.
        seeds: the seeds, at least one.
        run: gets (*case, seed); a function of a module, or a `functools.partial` of one.
        left_out: pairs (name, seed) that are not run.

    Returns:
        Metrics named `<name>_<metric>`, each a list with one value a seed, None for a seed that is left out.

    Raises:
        ValueError: if there is nothing to run.
        KeyError: if a run lacks a metric of the first one.

    Example:
        >>> by_case({"one": (1,), "two": (2,)}, [5, 6], lambda case: {"sum": sum(case)})
        {'one_sum': [6, 7], 'two_sum': [7, 8]}
    """
    jobs = [(name, seed) for name in cases for seed in seeds if (name, seed) not in left_out]
    if not jobs:
        raise ValueError("cases, seeds: expected at least one run, got none")
    results = dict(zip(jobs, processes.over([(*cases[name], seed) for name, seed in jobs], run), strict=True))

    def value(job: tuple[Name, int], metric: str) -> Any:
        return results[job][metric] if job in results else None

    metrics = list(results[jobs[0]])
    return {
        f"{name}_{metric}": [value((name, s), metric) for s in seeds] for name in cases for metric in metrics
    }


def by_seed(axes: Sequence[Sequence[Any]], seeds: Sequence[int], run: Run) -> dict[str, list[Any]]:
    """Run every point of a grid with every seed.

    Args:
        axes: the values along each axis, at least one.
        seeds: the seeds, at least one.
        run: gets (a value of each axis ..., seed); as for `by_case`.

    Returns:
        Per metric a list over seeds of lists over the first axis of lists over the next.

    Raises:
        ValueError: if there is nothing to run.
        KeyError: if a run lacks a metric of the first one.

    Example:
        >>> by_seed([(1, 2), (10, 20, 30)], [0], lambda case: {"sum": sum(case)})
        {'sum': [[[11, 21, 31], [12, 22, 32]]]}
    """
    results = processes.over([(*point, seed) for seed in seeds for point in product(*axes)], run)
    if not results:
        raise ValueError("axes, seeds: expected at least one run, got none")
    return {metric: _folded([result[metric] for result in results], axes) for metric in results[0]}


def _folded(values: list[Any], axes: Sequence[Sequence[Any]]) -> list[Any]:
    for size in map(len, reversed(axes)):
        values = [values[at : at + size] for at in range(0, len(values), size)]
    return values
