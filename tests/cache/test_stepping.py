"""What every cache refuses, and what a refusal leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.cache.base import CacheSizes, KVCache

SIZES = CacheSizes(layers=2, rows=2, heads=1, head_size=3)


@pytest.fixture
def cache(kind: Any, fill: Any) -> KVCache:
    """A cache with three tokens in row 0 and one in row 1."""
    made: KVCache = kind.make(SIZES)
    fill(made, [[1, 1, 1], [0, 0, 1]])
    return made


def part(T: int = 1) -> Tensor:
    return torch.ones(2, 1, T, 3)


def one() -> Tensor:
    return torch.ones(2, 1, dtype=torch.bool)


@pytest.mark.parametrize(
    ("real", "owner", "error", "message"),
    [
        (torch.ones(2, 1), "model a", TypeError, r"real must be a boolean tensor .* got torch.float32"),
        ([[True], [True]], "model a", TypeError, r"real must be a boolean tensor .* got list"),
        (one()[:1], "model a", ValueError, r"real must have shape \(2, T\), T at least 1, got \(1, 1\)"),
        (one()[:, :0], "model a", ValueError, r"real must have shape \(2, T\), T at least 1, got \(2, 0\)"),
        (one()[:, 0], "model a", ValueError, r"real must have shape \(2, T\), T at least 1, got \(2,\)"),
        (one(), 7, TypeError, r"owner must be a string, got 7"),
        (one(), "", ValueError, r"owner must not be empty"),
        (one(), "model b", ValueError, r"owner must be 'model a', whose .* got 'model b'"),
    ],
)
def test_open_refuses_what_does_not_fit_and_leaves_an_open_step_alone(
    cache: KVCache, real: Any, owner: Any, error: type[Exception], message: str
) -> None:
    step = cache.open(one(), "model a")
    step.put(0, part(), part())
    with pytest.raises(error, match=message):
        cache.open(real, owner)
    step.put(1, part(), part())
    step.commit()
    assert cache.lengths.tolist() == [4, 2]


@pytest.mark.parametrize(
    ("layer", "k", "error", "message"),
    [
        (1.0, part(), TypeError, r"layer must be an integer, got 1.0"),
        (-1, part(), ValueError, r"layer must be at least 0, got -1"),
        (2, part(), ValueError, r"layer must be less than 2, got 2"),
        (0, part(), ValueError, r"layer must not have been put in this step, 0 has"),
        (
            1,
            part().double(),
            TypeError,
            r"k must have the dtype of the cache, torch.float32, got torch.float64",
        ),
        (1, part(2), ValueError, r"k must have shape \(B, G, T, D\) = \(2, 1, 1, 3\), got \(2, 1, 2, 3\)"),
        (1, part()[:1], ValueError, r"k must have shape .* got \(1, 1, 1, 3\)"),
        (1, part().to("meta"), ValueError, r"k must lie on cpu, got meta"),
        (1, part().requires_grad_(), ValueError, r"k must not require gradients, .* use torch.no_grad\(\)"),
    ],
)
def test_put_refuses_what_does_not_fit_and_the_step_goes_on(
    cache: KVCache, layer: Any, k: Tensor, error: type[Exception], message: str
) -> None:
    step = cache.open(one(), "model a")
    step.put(0, part(), part())
    with pytest.raises(error, match=message):
        step.put(layer, k, part())
    if k.shape != part().shape:
        with pytest.raises(error, match=message.replace("k", "v", 1)):
            step.put(layer, part(), k)
    with pytest.raises(ValueError, match=r"commit needs every layer, 1 not put"):
        step.commit()
    step.put(1, part(), part())
    step.commit()
    assert cache.lengths.tolist() == [4, 2]


def test_put_that_failed_on_its_way_may_be_repeated(cache: KVCache, monkeypatch: pytest.MonkeyPatch) -> None:
    step = cache.open(one(), "model a")
    step.put(0, part(), part())
    with monkeypatch.context() as patch:
        patch.setattr(step, "_write", None)
        with pytest.raises(TypeError, match="not callable"):
            step.put(1, part(), part())
    with pytest.raises(ValueError, match=r"commit needs every layer, 1 not put"):
        step.commit()
    step.put(1, part(), part())
    step.commit()


def test_put_takes_what_requires_a_gradient_where_none_is_recorded(cache: KVCache) -> None:
    with torch.no_grad():
        seen = cache.open(one(), "model a").put(0, part().requires_grad_(), part())
    assert not seen.k.requires_grad


def test_step_that_is_over_or_overtaken_takes_nothing(cache: KVCache) -> None:
    step = cache.open(one(), "model a")
    for layer in range(2):
        step.put(layer, part(), part())
    step.commit()
    for use in (step.commit, lambda: step.put(0, part(), part())):
        with pytest.raises(ValueError, match=r"step is over: it has been committed"):
            use()
    for overtake in (
        lambda: cache.open(one(), "model a"),
        lambda: cache.truncate(cache.lengths),
        lambda: cache.reset(1),
    ):
        stale = cache.open(one(), "model a")
        overtake()
        with pytest.raises(
            ValueError, match=r"step has been overtaken: the cache was opened, truncated or reset"
        ):
            stale.put(0, part(), part())


def test_an_aborted_step_that_wrote_nan_leaves_none(kind: Any, fill: Any) -> None:
    cache = kind.make(SIZES)
    fill(cache, [[1, 1, 1], [0, 0, 1]])
    step = cache.open(torch.ones(2, 2, dtype=torch.bool), "model a")
    step.put(0, part(2) * torch.nan, part(2) * torch.nan)
    for seen in fill(cache, [[1], [1]]):
        assert seen.k.isfinite().all()
        assert seen.v.isfinite().all()


def test_tokens_that_were_nan_are_gone_after_truncate(kind: Any, fill: Any) -> None:
    cache = kind.make(SIZES)
    fill(cache, [[1], [1]])
    step = cache.open(torch.tensor([[False], [True]]), "model a")
    for layer in range(2):
        step.put(layer, part() * torch.nan, part() * torch.nan)
    step.commit()
    cache.truncate(torch.tensor([1, 1]))
    for seen in fill(cache, [[1, 1, 1], [0, 0, 0]]):
        assert seen.k.isfinite().all()
        assert seen.v.isfinite().all()


@pytest.mark.parametrize(
    ("lengths", "message"),
    [([3, 2], r"row 1 must lie in \[0, 1\], got 2"), ([-1, 1], r"row 0 must lie in \[0, 3\], got -1")],
)
def test_truncate_refuses_more_than_there_is(cache: KVCache, lengths: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=f"lengths of {message}"):
        cache.truncate(torch.tensor(lengths))
    assert cache.lengths.tolist() == [3, 1]


def test_reset_refuses_a_row_that_is_not_there(cache: KVCache) -> None:
    with pytest.raises(ValueError, match=r"row must be less than 2, got 2"):
        cache.reset(2)
    with pytest.raises(TypeError, match=r"row must be an integer, got True"):
        cache.reset(True)


def test_owner_is_nobody_until_a_step_is_committed_and_after_all_is_gone(kind: Any, fill: Any) -> None:
    cache = kind.make(SIZES)
    cache.open(one(), "model a").put(0, part(), part())
    assert cache.owner is None
    fill(cache, [[0], [0]], owner="model a")
    assert cache.owner is None
    fill(cache, [[1], [0]], owner="model b")
    cache.reset(1)
    assert cache.owner == "model b"
    cache.reset(0)
    fill(cache, [[1], [1]], owner="model c")
    assert cache.owner == "model c"


def test_lengths_handed_out_are_a_copy_and_lengths_handed_in_are_copied(cache: KVCache) -> None:
    cache.lengths[0] = 9
    assert cache.lengths.tolist() == [3, 1]
    asked = cache.lengths
    cache.truncate(asked)
    asked[0] = 9
    assert cache.lengths.tolist() == [3, 1]


def test_cache_made_and_filled_in_inference_mode_serves_outside(kind: Any, fill: Any) -> None:
    with torch.inference_mode():
        cache = kind.make(SIZES)
        fill(cache, [[1, 1], [1, 1]])
    fill(cache, [[1, 1], [0, 1]])
    cache.reset(0)
    with torch.inference_mode():
        fill(cache, [[1, 0], [1, 1]])
    assert cache.lengths.tolist() == [1, 5]


@pytest.mark.parametrize("call", ["truncate", "check_room"])
@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([1, 1], TypeError, r"lengths must be int32 or int64, got \[1, 1\]"),
        (torch.ones(2), TypeError, r"lengths must be int32 or int64, got torch.float32"),
        (torch.ones(2, dtype=torch.bool), TypeError, r"lengths must be int32 or int64, got torch.bool"),
        (torch.tensor([1]), ValueError, r"lengths must have shape \(2,\), got \(1,\)"),
        (torch.tensor([-1, 1]), ValueError, r"lengths .*got -1"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(
    cache: KVCache, call: str, lengths: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        getattr(cache, call)(lengths)
    assert cache.lengths.tolist() == [3, 1]


def test_check_room_asks_for_lengths_in_the_place_of_those_that_are_here(kind: Any, cache: KVCache) -> None:
    step = cache.open(one(), "model a")
    for lengths in ([0, 0], [3, 1], [12, 1], [1, 12], [13, 1], [12, 12], [20, 0], [16, 13]):
        if kind.room(lengths):
            cache.check_room(torch.tensor(lengths))
        else:
            with pytest.raises(ValueError, match=r"(capacity|pool) of .* would"):
                cache.check_room(torch.tensor(lengths))
    for layer in range(2):  # nothing has been changed or overtaken
        step.put(layer, part(), part())
    step.commit()
    assert cache.lengths.tolist() == [4, 2]


def test_changes_count_commits_and_truncations_only(cache: KVCache) -> None:
    counts = [cache.changes]
    for change in (lambda: cache.truncate(cache.lengths), lambda: cache.reset(0)):
        change()
        counts.append(cache.changes)
    assert counts == sorted(set(counts))
    cache.open(one(), "model a").put(0, part(), part())
    cache.check_room(cache.lengths)
    assert cache.changes == counts[-1]


@pytest.mark.parametrize("change", ["commit", "truncate"])
def test_change_that_is_interrupted_leaves_an_empty_cache(
    kind: Any, fill: Any, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = kind.make(SIZES)
    fill(cache, [[1, 1, 1], [0, 0, 1]])
    step, changes, calls = cache.open(one(), "model a"), cache.changes, []
    for layer in range(2):
        step.put(layer, part() * torch.nan, part() * torch.nan)
    real = cache._set

    def interrupted(*arguments: Any) -> None:  # once keys and values have been written and lengths have not
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(cache, "_set", interrupted)
        with pytest.raises(KeyboardInterrupt):
            step.commit() if change == "commit" else cache.truncate(torch.tensor([2, 1]))
    assert (cache.lengths.tolist(), cache.owner, cache.payload_bytes) == ([0, 0], None, 0)
    assert cache.changes > changes
    assert getattr(cache, "free_pages", 0) == getattr(cache, "page_count", 0)
    with pytest.raises(ValueError, match="step has been overtaken"):
        step.commit()
    for seen in fill(cache, [[1, 1, 1, 1], [0, 0, 0, 1]], owner="model b"):
        assert seen.k.isfinite().all()
        assert seen.v.isfinite().all()


def test_commit_that_is_interrupted_once_it_is_done_has_been_done(
    kind: Any, fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = kind.make(SIZES)
    fill(cache, [[1, 1], [1, 1]])
    changing = cache._changing

    @contextmanager
    def interrupted() -> Iterator[None]:
        with changing():
            yield
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "_changing", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(cache, [[1], [1]])
    monkeypatch.undo()
    for layer, seen in enumerate(fill(cache, [[1], [1]], seed=1)):
        assert cache.lengths.tolist() == [4, 4]
        assert (seen.k != 0).all(), layer
