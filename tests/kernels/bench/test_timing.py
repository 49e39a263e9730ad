"""Statistics by hand, turns, and what follows from a device's properties; nothing here depends on a clock."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from onesentence.kernels.bench import ceilings, timing
from onesentence.kernels.bench.timing import Times, WallClock, flush_bytes, flushes_ahead, ratios, repeats_for


def test_summary_by_hand() -> None:
    assert Times((4.0, 1.0, 3.0, 2.0)).summary() == {"median": 2.5, "quartiles": [1.75, 3.25], "min": 1.0}
    assert Times((2.0,)).summary() == {"median": 2.0, "quartiles": [2.0, 2.0], "min": 2.0}


def test_times_refuse_none_and_what_is_no_time() -> None:
    with pytest.raises(ValueError, match="seconds: expected at least one repetition, got none"):
        Times(())
    with pytest.raises(ValueError, match=r"seconds must be positive, got 0\.0"):
        Times((1.0, 0.0))


def test_wall_clock_lets_calls_take_turns_and_leaves_the_warmup_out() -> None:
    order: list[str] = []
    found = WallClock(warmup=1).times({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b"] * 3
    assert {name: len(times.seconds) for name, times in found.items()} == {"a": 2, "b": 2}
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        WallClock().times({}, 0)


def test_flush_is_twice_the_second_cache() -> None:
    assert flush_bytes(SimpleNamespace(L2_cache_size=60 * 2**20)) == 120 * 2**20
    assert flush_bytes(SimpleNamespace(L2_cache_size=2**20)) == 64 * 2**20
    assert flush_bytes(SimpleNamespace()) == 64 * 2**20


def test_flushes_keep_the_host_ahead_within_reason() -> None:
    assert flushes_ahead(host=3e-4, flush=1e-4) == 6
    assert flushes_ahead(host=1.0, flush=1e-5) == timing.MOST_FLUSHES
    assert flushes_ahead(host=1e-9, flush=1e-4) == 1


def test_repeats_fall_with_the_time_of_one() -> None:
    assert [repeats_for(seconds) for seconds in (0.0, 1e-3, 0.015, 0.1)] == [50, 50, 20, 5]


def test_ratios_refuse_unequal_counts() -> None:
    assert ratios([6.0, 4.0], [3.0, 4.0]) == [2.0, 1.0]
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        ratios([1.0, 2.0], [1.0])


def test_product_and_copy_count_what_they_say() -> None:
    device = torch.device("cpu")

    class Second:
        def times(self, calls: dict[str, timing.Call], repeats: int | None = None) -> dict[str, Times]:
            for call in calls.values():
                call()
            return dict.fromkeys(calls, Times((2.0,)))

    found = ceilings.product(Second(), device, "float32", side=10)
    assert (found.what, found.size, found.rate) == ("product", 10, 1000.0)
    found = ceilings.copy(Second(), device, size=1000)
    assert (found.what, found.size, found.rate) == ("copy", 1000, 1000.0)
    assert found.as_data()["seconds"] == [2.0]


def test_last_cache_is_read_from_the_system(tmp_path: Path) -> None:
    for index, size in enumerate(("48K", "2048K", "32M", "odd")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(size + "\n")
    assert ceilings.last_cache_bytes(tmp_path) == 32 * 2**20
    assert ceilings.last_cache_bytes(tmp_path / "none") == 0


def test_copied_buffer_is_beyond_the_last_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "last_cache_bytes", lambda: 2**28)
    assert ceilings.copy_bytes(torch.device("cpu")) == 2**28 * 5 // 4
