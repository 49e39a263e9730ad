"""Which page runs next: the long ones first, and no two at once that would wait for one experiment.

How long a page takes is known from its entries in the execution cache; on a first build it is estimated from the
experiments that it imports. Of two pages that ask for one run of an experiment at a time, one would wait, and its
worker with it (`onesentence.evidence.records.memoised`); so a page whose experiments no running page imports goes
before a longer one. Where every waiting page shares some, the longest runs: a worker that could run one never idles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from jupyter_cache.base import JupyterCacheAbstract

from bookkit.keys import page_imports
from onesentence.evidence import closure

MEMOISED = "onesentence.evidence.records.memoised"
"""What a module imports that holds an experiment."""
PAGE_SECONDS, EXPERIMENT_SECONDS = 5.0, 13.0
"""What a page takes on two cores without experiments, and what each adds: the book's means, good for an order only."""


@dataclass(frozen=True)
class Work:
    """What is known of a page before it runs.

    Attributes:
        seconds: how long it will run, measured or estimated.
        experiments: dotted names of the modules with memoised runs that it imports, directly or not.
    """

    seconds: float
    experiments: frozenset[str] = frozenset()


def work_of(text: str, known: float | None) -> Work:
    """Return what a page will ask for.

    Args:
        text: the page.
        known: seconds that it is known to take, None if it has never run.
    """
    modules = closure.closure(page_imports(text))
    experiments = frozenset(
        name
        for name, file in modules.items()
        if MEMOISED in closure.module_imports(file, name.rpartition(".")[0])
    )
    estimate = PAGE_SECONDS + EXPERIMENT_SECONDS * len(experiments)
    return Work(estimate if known is None else known, experiments)


def known_seconds(cache: JupyterCacheAbstract) -> dict[str, float]:
    """Return how long pages have run, by the path of their file.

    The longest run counts: the last one may have found the records of its experiments.

    Args:
        cache: the execution cache.
    """
    known: dict[str, float] = {}
    for record in cache.list_cache_records():
        data = record.data if isinstance(record.data, dict) else {}
        seconds = data.get("execution_seconds")
        if isinstance(seconds, int | float):
            known[record.uri] = max(known.get(record.uri, 0.0), float(seconds))
    return known


def next_page(waiting: Collection[str], running: Iterable[str], works: Mapping[str, Work]) -> str:
    """Return the page that a free worker should run.

    Args:
        waiting: the pages that have not begun, at least one; of equals the first goes first.
        running: the pages that run now.
        works: what is known of each.

    Example:
        >>> works = {"a": Work(9, frozenset("x")), "b": Work(8, frozenset("x")), "c": Work(1)}
        >>> next_page("abc", "", works), next_page("bc", "a", works), next_page("b", "a", works)
        ('a', 'c', 'b')
    """
    busy = frozenset().union(*(works[page].experiments for page in running))
    free = [page for page in waiting if not works[page].experiments & busy]
    return max(free or waiting, key=lambda page: works[page].seconds)
