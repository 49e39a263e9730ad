"""The machine counts what was done to it, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.kernels.costs.hbm import Machine


def test_load_and_store_count_bytes_of_what_was_moved() -> None:
    machine = Machine()
    q = machine.put("Q", np.arange(12, dtype=np.float32).reshape(3, 4))
    o = machine.empty("O", (3, 2), np.float16)
    with machine.room():
        tile = machine.load(q, slice(1, 3))
        machine.store(o, tile[:, :2], slice(0, 2))
    assert machine.read == {"Q": 2 * 4 * 4}
    assert machine.written == {"O": 2 * 2 * 2}
    assert o.values[:2].tolist() == [[4.0, 5.0], [8.0, 9.0]]
    assert np.isnan(o.values[2]).all()


def test_load_gives_a_copy_that_does_not_write_back() -> None:
    machine = Machine()
    values = np.zeros((2, 2))
    q = machine.put("Q", values)
    machine.load(q)[...] = 7
    assert (q.values == 0).all()
    q.values[...] = 5
    assert (values == 0).all()


def test_fill_counts_as_a_start_of_its_own() -> None:
    machine = Machine()
    o = machine.empty("O", (2, 3), np.float64)
    machine.fill(o, 1.5)
    assert machine.written == {"O start": 48}
    assert (o.values == 1.5).all()


def test_products_and_exponentials_are_counted() -> None:
    machine = Machine()
    a, b = np.ones((2, 3)), np.ones((3, 5))
    total = machine.product(a, b)
    machine.add_product(total, a, b)
    assert (total == 6).all()
    assert machine.macs == 2 * (2 * 3 * 5)
    assert machine.exp(np.zeros((2, 2))).tolist() == [[1, 1], [1, 1]]
    assert machine.exponentials == 4


def test_room_gives_back_what_came_in_and_peak_remembers() -> None:
    machine = Machine(np.float32)
    with machine.room():
        machine.zeros(2, 5)
        with machine.room():
            machine.product(np.ones((3, 1), np.float32), np.ones((1, 4), np.float32))
        assert machine.held == 40
        machine.zeros(1)
    assert (machine.held, machine.peak) == (0, 40 + 48)


def test_capacity_is_a_limit() -> None:
    machine = Machine(capacity=80)
    with machine.room():
        machine.zeros(10)
    machine.zeros(5)
    with pytest.raises(MemoryError, match="the chip holds 80 bytes, 88 are needed at once"):
        machine.zeros(6)

    def overfill() -> None:
        with machine.room():
            machine.zeros(5)
            machine.load(machine.put("Q", [0.0]))

    with pytest.raises(MemoryError, match="88 are needed"):
        overfill()
    assert (machine.held, machine.peak, machine.read) == (40, 80, {})  # what was refused has not happened


def test_machine_refuses() -> None:
    with pytest.raises(ValueError, match="capacity must be at least 1, got 0"):
        Machine(capacity=0)
    with pytest.raises(TypeError, match="capacity must be an integer, got '1e3'"):
        Machine(capacity="1e3")
    with pytest.raises(ValueError, match="wide must be a floating dtype, got int64"):
        Machine(np.int64)
    machine = Machine()
    with pytest.raises(ValueError, match=r"tile must have shape \(2, 3\) for O, got \(3,\)"):
        machine.store(machine.empty("O", (2, 3), np.float64), np.zeros(3))
