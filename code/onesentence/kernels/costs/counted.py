"""Attention run on a machine that counts: the naive version and the loops of FlashAttention of 2022 and of 2023.

What each reads and writes, and when, is said in `costs.traffic`; here it is done, on small sizes, and `costs.hbm` counts
it. Which tiles may be skipped is seen from the mask itself. Every version gives the attention of `kernels.reference`:

    machine = Machine()
    run = flash2_forward(machine, q, k, v, Tiles(4, 4), causal=True)
    run["O"], run["L"], machine.read, machine.written, machine.macs, machine.peak

Inputs are NumPy arrays as `kernels.sizes` says: float64 gives exact checks, float16 with `Machine(np.float32)` the widths of
practice. Teaching code, slow. Dao et al. 2022 (arXiv:2205.14135), algorithms 0 and 1; Dao 2023 (arXiv:2307.08691), algorithm
1; section 7.5 of the course. Gradients: `kernels.costs.counted_backward`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onesentence.kernels.costs.hbm import Floats, Machine, Stored
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.sizes import Sizes, scale_of, sizes_of, spans


@dataclass(frozen=True, eq=False)
class Run:
    """One read and what it has left in HBM.

    Attributes:
        sizes: of the read.
        scale: of scores.
        causal: whether a query reads keys up to its own place only.
        arrays: by name; `run["O"]` are the numbers of one.
    """

    sizes: Sizes
    scale: float
    causal: bool
    arrays: dict[str, Stored] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name].values

    def heads(self, g: int) -> range:
        """Return the query heads that read key head g."""
        return range(g * self.sizes.group, (g + 1) * self.sizes.group)

    def may_read(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        """Return which queries of a tile may read which of its keys."""
        queries, keys = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        if not self.causal:
            return np.ones((len(queries), len(keys)), dtype=np.bool_)
        return keys <= queries[:, None] + self.sizes.shift


def subtrahend(values: Floats) -> Floats:
    """Return what may be subtracted from scores: 0 in place of -inf, where there is nothing to read."""
    return np.where(np.isneginf(values), 0.0, values)


def divisor(values: Floats) -> Floats:
    """Return what sums may be divided by: 1 in place of 0, where there is nothing to read."""
    return np.where(values == 0, 1.0, values)


def begin(machine: Machine, q: Floats, k: Floats, v: Floats, causal: bool, scale: float | None) -> Run:
    """Return a read whose inputs stand in HBM, and room for its output.

    Raises:
        TypeError, ValueError: as `sizes_of` and `scale_of`.
    """
    sizes = sizes_of(q, k, v)
    run = Run(sizes, scale_of(scale, sizes.D), causal)
    run.arrays.update({name: machine.put(name, part) for name, part in (("Q", q), ("K", k), ("V", v))})
    run.arrays["O"] = machine.empty("O", q.shape, q.dtype)
    return run


def naive_forward(
    machine: Machine, q: Floats, k: Floats, v: Floats, *, causal: bool = False, scale: float | None = None
) -> Run:
    """Write the table of scores out, then its softmax, then read that; row by row, K and V resting on the chip.

    Args:
        machine: that counts.
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        causal: a query reads keys up to its own place; the whole table is computed all the same.
        scale: of scores; None means 1 / sqrt(D).

    Returns:
        The run, with `scores` (before the mask), `P` (B, H, T, S) and `O`.

    Raises:
        TypeError, ValueError: as `sizes_of` and `scale_of`.
    """
    run = begin(machine, q, k, v, causal, scale)
    B, H, T, S = run.sizes.B, run.sizes.H, run.sizes.T, run.sizes.S
    for name in ("scores", "P"):
        run.arrays[name] = machine.empty(name, (B, H, T, S), q.dtype)
    _rows_times(machine, run, "Q", "K", "scores")
    for b, h, t in np.ndindex(B, H, T):
        with machine.room():
            row = machine.load(run.arrays["scores"], b, h, slice(t, t + 1)).astype(machine.wide)
            row[~run.may_read(slice(t, t + 1), slice(0, S))] = -np.inf
            mass = machine.exp(row - subtrahend(row.max(axis=1, keepdims=True)))
            machine.store(
                run.arrays["P"], mass / divisor(mass.sum(axis=1, keepdims=True)), b, h, slice(t, t + 1)
            )
    _rows_times(machine, run, "P", "V", "O")
    return run


def _rows_times(machine: Machine, run: Run, left: str, right: str, out: str) -> None:
    """Multiply each row of one array with a matrix of another that rests on the chip: Q K^T or P V."""
    for b, g in np.ndindex(run.sizes.B, run.sizes.G):
        with machine.room():
            matrix = machine.load(run.arrays[right], b, g)
            for h in run.heads(g):
                for t in range(run.sizes.T):
                    with machine.room():
                        row = machine.load(run.arrays[left], b, h, slice(t, t + 1))
                        product = machine.product(row, matrix.T if right == "K" else matrix)
                        if right == "K":
                            product *= run.scale
                        machine.store(run.arrays[out], product, b, h, slice(t, t + 1))


def flash1_forward(
    machine: Machine,
    q: Floats,
    k: Floats,
    v: Floats,
    tiles: Tiles,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Run:
    """Let blocks of keys pass outside and blocks of queries inside; O, m and l go to HBM and back at each tile.

    Args:
        machine: that counts.
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        tiles: sizes of a tile.
        causal: a query reads keys up to its own place; tiles that nobody may read are skipped.
        scale: of scores; None means 1 / sqrt(D).

    Returns:
        The run, with `O`, `m` and `l`; L = m + log l.

    Raises:
        TypeError, ValueError: as `sizes_of` and `scale_of`.
    """
    run = begin(machine, q, k, v, causal, scale)
    for name, value in (("O", 0.0), ("l", 0.0), ("m", -np.inf)):
        if name != "O":
            run.arrays[name] = machine.empty(name, q.shape[:3], machine.wide)
        machine.fill(run.arrays[name], value)
    for b, g in np.ndindex(run.sizes.B, run.sizes.G):
        for columns in spans(run.sizes.S, tiles.key):
            with machine.room():
                K, V = (machine.load(run.arrays[name], b, g, columns) for name in "KV")
                for h in run.heads(g):
                    for rows in spans(run.sizes.T, tiles.query):
                        mask = run.may_read(rows, columns)
                        if mask.any():
                            with machine.room():
                                _flash1_tile(machine, run, K, V, mask, (b, h, rows))
    return run


def _flash1_tile(
    machine: Machine, run: Run, K: Floats, V: Floats, mask: NDArray[np.bool_], place: tuple[int, int, slice]
) -> None:
    """Bring the state of some queries up to date with one block of keys."""
    Q, before, mass, top = (machine.load(run.arrays[name], *place) for name in "QOlm")
    P = machine.product(Q, K.T)
    P *= run.scale
    P[~mask] = -np.inf
    own = P.max(axis=1)
    P[...] = machine.exp(P - subtrahend(own)[:, None])
    new = np.maximum(top, own)
    old_part = machine.exp(top - subtrahend(new)) * mass
    new_part = machine.exp(own - subtrahend(new))
    total = old_part + new_part * P.sum(axis=1)
    sums = machine.product(P, V)
    sums *= new_part[:, None]
    sums += old_part[:, None] * before
    machine.store(run.arrays["O"], sums / divisor(total)[:, None], *place)
    machine.store(run.arrays["l"], total, *place)
    machine.store(run.arrays["m"], new, *place)


def flash2_forward(
    machine: Machine,
    q: Floats,
    k: Floats,
    v: Floats,
    tiles: Tiles,
    *,
    causal: bool = False,
    scale: float | None = None,
    packed: bool = False,
) -> Run:
    """Let blocks of queries pass outside and blocks of keys inside; sums stay on the chip until they are whole.

    Args:
        machine: that counts.
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        tiles: sizes of a tile.
        causal: a query reads keys up to its own place; tiles that nobody may read are skipped.
        scale: of scores; None means 1 / sqrt(D).
        packed: a tile holds `tiles.query` places of every head of a group.

    Returns:
        The run, with `O` and the log-sum-exp `L`.

    Raises:
        TypeError, ValueError: as `sizes_of` and `scale_of`.
    """
    run = begin(machine, q, k, v, causal, scale)
    run.arrays["L"] = machine.empty("L", q.shape[:3], machine.wide)
    together = run.sizes.group if packed else 1
    for b, first in np.ndindex(run.sizes.B, run.sizes.H // together):
        heads = slice(first * together, (first + 1) * together)
        for rows in spans(run.sizes.T, tiles.query):
            with machine.room():
                _flash2_rows(machine, run, tiles, (b, heads, rows))
    return run


def _flash2_rows(machine: Machine, run: Run, tiles: Tiles, place: tuple[int, slice, slice]) -> None:
    """Read all keys with some queries, of one head or of several that share their keys."""
    b, heads, rows = place
    Q = machine.load(run.arrays["Q"], *place)
    shape, g = Q.shape, heads.start // run.sizes.group
    Q = Q.reshape(-1, shape[2])
    sums, mass, top = machine.zeros(*Q.shape), machine.zeros(len(Q)), machine.zeros(len(Q))
    top[:] = -np.inf
    for columns in spans(run.sizes.S, tiles.key):
        mask = run.may_read(rows, columns)
        if not mask.any():
            continue
        with machine.room():
            K, V = (machine.load(run.arrays[name], b, g, columns) for name in "KV")
            P = machine.product(Q, K.T)
            P *= run.scale
            P[~np.tile(mask, (shape[0], 1))] = -np.inf
            new = np.maximum(top, P.max(axis=1))
            P[...] = machine.exp(P - subtrahend(new)[:, None])
            kept = machine.exp(top - subtrahend(new))
            mass[:], top[:] = kept * mass + P.sum(axis=1), new
            sums *= kept[:, None]
            machine.add_product(sums, P, V)
    sums /= divisor(mass)[:, None]
    machine.store(run.arrays["O"], sums.reshape(shape), *place)
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant: a query without keys
        machine.store(run.arrays["L"], (top + np.log(mass)).reshape(shape[:2]), *place)
