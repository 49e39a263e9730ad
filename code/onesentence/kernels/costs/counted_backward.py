"""Gradients of attention computed on a machine that counts: P kept, recomputed in one pass, recomputed in two.

What each reads and writes, and when, is said in `costs.traffic`. Each takes up a `Run` of `costs.counted` on the machine
of its choice (a new one counts the backward pass alone) and leaves `dQ`, `dK` and `dV` in it. Scores are scale Q K^T, so

    dV = P^T dO    dP = dO V^T    dS = P * (dP - delta)    dQ = scale dS K    dK = scale dS^T Q

with delta = sum of P * dP by row, which is sum of dO * O, too; recomputed, P = exp(scale Q K^T - L). A query that may read
nothing passes no gradient. Dao et al. 2022 (arXiv:2205.14135), algorithm 3 and appendix B.2; Dao 2023 (arXiv:2307.08691),
algorithm 2; section 7.5 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onesentence.kernels.costs.counted import Run, subtrahend
from onesentence.kernels.costs.hbm import Floats, Machine
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.sizes import spans


def _begin(machine: Machine, run: Run, do: Floats, needed: str) -> None:
    """Set room apart for gradients; `do` is (B, H, T, D)."""
    if needed not in run.arrays:
        raise ValueError(
            f"run must have {needed}, which the forward pass of another way leaves, got {sorted(run.arrays)}"
        )
    if do.shape != run["O"].shape:
        raise ValueError(f"do must have the shape of O, {run['O'].shape}, got {do.shape}")
    run.arrays["dO"] = machine.put("dO", do)
    for name in "QKV":
        run.arrays[f"d{name}"] = machine.empty(f"d{name}", run[name].shape, run[name].dtype)


def naive_backward(machine: Machine, run: Run, do: Floats) -> None:
    """Compute gradients from the table P, product by product, each table written out.

    Args:
        machine: that counts.
        run: of `counted.naive_forward`; gets `dQ`, `dK`, `dV`, `dP` and `dS`.
        do: gradient of the output, (B, H, T, D).

    Raises:
        ValueError: if the run has no P, or `do` another shape than O.
    """
    _begin(machine, run, do, "P")
    for name in ("dP", "dS"):
        run.arrays[name] = machine.empty(name, run["P"].shape, run["P"].dtype)
    _columns(machine, run, "P", "dO", "dV", 1.0)
    _rows(machine, run, "dO", "V", "dP", 1.0)
    for b, h, t in np.ndindex(*run["P"].shape[:3]):
        with machine.room():
            P, dP = (machine.load(run.arrays[name], b, h, slice(t, t + 1)) for name in ("P", "dP"))
            machine.store(run.arrays["dS"], P * (dP - (P * dP).sum()), b, h, slice(t, t + 1))
    _rows(machine, run, "dS", "K", "dQ", run.scale)
    _columns(machine, run, "dS", "Q", "dK", run.scale)


def _rows(machine: Machine, run: Run, left: str, right: str, out: str, scale: float) -> None:
    """Multiply rows of one array with a matrix that rests on the chip: dO V^T or dS K."""
    for b, g in np.ndindex(run.sizes.B, run.sizes.G):
        with machine.room():
            matrix = machine.load(run.arrays[right], b, g)
            for h in run.heads(g):
                for t in range(run.sizes.T):
                    with machine.room():
                        row = machine.load(run.arrays[left], b, h, slice(t, t + 1))
                        product = machine.product(row, matrix.T if right == "V" else matrix)
                        product *= scale
                        machine.store(run.arrays[out], product, b, h, slice(t, t + 1))


def _columns(machine: Machine, run: Run, left: str, right: str, out: str, scale: float) -> None:
    """Add up left^T right over the queries of all heads of a group, sums resting on the chip: P^T dO or dS^T Q."""
    for b, g in np.ndindex(run.sizes.B, run.sizes.G):
        with machine.room():
            total = machine.zeros(run.sizes.S, run.sizes.D)
            for h in run.heads(g):
                for t in range(run.sizes.T):
                    with machine.room():
                        a, c = (
                            machine.load(run.arrays[name], b, h, slice(t, t + 1)) for name in (left, right)
                        )
                        machine.add_product(total, a.T, c)
            total *= scale
            machine.store(run.arrays[out], total, b, g)


def flash2_backward(machine: Machine, run: Run, do: Floats, tiles: Tiles) -> None:
    """Compute gradients by recomputation, blocks of keys outside, dQ added up in HBM.

    Args:
        machine: that counts.
        run: of `counted.flash2_forward`; gets `dQ`, `dK`, `dV` and `delta`.
        do: gradient of the output, (B, H, T, D).
        tiles: sizes of a tile.

    Raises:
        ValueError: if the run has no L, or `do` another shape than O.
    """
    _begin(machine, run, do, "L")
    _delta(machine, run, tiles)
    machine.fill(run.arrays["dQ"], 0.0)
    _keys_outside(machine, run, tiles, add_queries=True)


def two_pass_backward(machine: Machine, run: Run, do: Floats, tiles: Tiles) -> None:
    """Compute gradients by recomputation, dK and dV in one pass and dQ in another: nothing is added up in HBM.

    Args:
        machine: that counts.
        run: of `counted.flash2_forward`; gets `dQ`, `dK`, `dV` and `delta`.
        do: gradient of the output, (B, H, T, D).
        tiles: sizes of a tile.

    Raises:
        ValueError: if the run has no L, or `do` another shape than O.
    """
    _begin(machine, run, do, "L")
    _delta(machine, run, tiles)
    _keys_outside(machine, run, tiles, add_queries=False)
    for b, h in np.ndindex(run.sizes.B, run.sizes.H):
        for rows in spans(run.sizes.T, tiles.query):
            with machine.room():
                _queries_outside(machine, run, tiles, (b, h, rows))


def _delta(machine: Machine, run: Run, tiles: Tiles) -> None:
    """Write the sum of dO * O by row."""
    run.arrays["delta"] = machine.empty("delta", run["L"].shape, run["L"].dtype)
    for b, h in np.ndindex(run.sizes.B, run.sizes.H):
        for rows in spans(run.sizes.T, tiles.query):
            with machine.room():
                output, dO = (machine.load(run.arrays[name], b, h, rows) for name in ("O", "dO"))
                total = (output.astype(machine.wide) * dO).sum(axis=1)
                machine.store(run.arrays["delta"], total, b, h, rows)


def _keys_outside(machine: Machine, run: Run, tiles: Tiles, *, add_queries: bool) -> None:
    """Let blocks of keys pass outside, their gradients resting on the chip, and queries of their heads inside."""
    for b, g in np.ndindex(run.sizes.B, run.sizes.G):
        for columns in spans(run.sizes.S, tiles.key):
            with machine.room():
                K, V = (machine.load(run.arrays[name], b, g, columns) for name in "KV")
                dK, dV = machine.zeros(*K.shape), machine.zeros(*V.shape)
                for h in run.heads(g):
                    for rows in spans(run.sizes.T, tiles.query):
                        mask = run.may_read(rows, columns)
                        if not mask.any():
                            continue
                        with machine.room():
                            Q, dO, L, delta = _query_side(machine, run, (b, h, rows))
                            P, dS = _recomputed(machine, run, (Q, K, V, dO, L, delta), mask)
                            machine.add_product(dV, P.T, dO)
                            machine.add_product(dK, dS.T, Q)
                            if add_queries:
                                dQ = machine.load(run.arrays["dQ"], b, h, rows)
                                total = machine.product(dS, K)
                                machine.store(run.arrays["dQ"], dQ + run.scale * total, b, h, rows)
                dK *= run.scale
                machine.store(run.arrays["dK"], dK, b, g, columns)
                machine.store(run.arrays["dV"], dV, b, g, columns)


def _queries_outside(machine: Machine, run: Run, tiles: Tiles, place: tuple[int, int, slice]) -> None:
    """Compute the gradient of some queries of one head, all their keys passing."""
    b, h, rows = place
    Q, dO, L, delta = _query_side(machine, run, place)
    dQ = machine.zeros(*Q.shape)
    for columns in spans(run.sizes.S, tiles.key):
        mask = run.may_read(rows, columns)
        if mask.any():
            with machine.room():
                K, V = (machine.load(run.arrays[name], b, h // run.sizes.group, columns) for name in "KV")
                machine.add_product(dQ, _recomputed(machine, run, (Q, K, V, dO, L, delta), mask)[1], K)
    dQ *= run.scale
    machine.store(run.arrays["dQ"], dQ, *place)


def _query_side(machine: Machine, run: Run, place: tuple[int, int, slice]) -> tuple[Floats, ...]:
    """Load what belongs to some queries: Q, dO, L, delta."""
    return tuple(machine.load(run.arrays[name], *place) for name in ("Q", "dO", "L", "delta"))


def _recomputed(
    machine: Machine, run: Run, loaded: tuple[Floats, ...], mask: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return P and dS of one tile."""
    Q, K, V, dO, L, delta = loaded
    P = machine.product(Q, K.T)
    P *= run.scale
    P[~mask] = -np.inf
    P[...] = machine.exp(P - subtrahend(L)[:, None])
    dS = machine.product(dO, V.T)
    dS -= delta[:, None]
    dS *= P
    return P, dS
