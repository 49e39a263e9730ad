"""Runs of one experiment over several seeds, in processes of their own where there are cores for them.

The number of processes is what the build gives a page (`ONESENTENCE_WORKERS`, the cores divided by the pages that
run); outside a build it is what `joblib.parallel_config` says, one without it. A cluster is another backend there,
`parallel_config(backend="dask")`, and nothing else changes. Each run uses one thread: two threads make models of
this size slower, not faster, and the result must not depend on how many there are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

from joblib import Parallel, delayed

WORKERS_VARIABLE = "ONESENTENCE_WORKERS"

Case = TypeVar("Case")
Result = TypeVar("Result")


def over(cases: Iterable[Case], run: Callable[[Case], Result]) -> list[Result]:
    """Run every case, in order of the cases.

    Args:
        cases: seeds, or tuples of a setting and a seed; they are sent to other processes.
        run: what to do with one; a function of a module, or a `functools.partial` of one.

    Raises:
        ValueError: if the environment names no number of processes from 1 up.

    Example:
        >>> import math
        >>> over([1, 4, 9], math.sqrt)
        [1.0, 2.0, 3.0]
    """
    return Parallel(n_jobs=_workers())(delayed(_alone)(run, case) for case in cases)  # type: ignore[no-any-return]


def _workers() -> int | None:
    named = os.environ.get(WORKERS_VARIABLE)
    if named is None:
        return None
    if not named.isdecimal() or int(named) < 1:
        raise ValueError(f"{WORKERS_VARIABLE} must be a number of processes from 1 up, got {named!r}")
    return int(named)


def _alone(run: Callable[[Case], Result], case: Case) -> Result:
    """Run one case with one thread, where torch is loaded or the run loads it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return run(case)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return run(case)
    finally:
        torch.set_num_threads(before)
