"""Arithmetic against traffic: which of the two ceilings of a machine a computation meets first.

    intensity I = FLOP / byte       attainable = min(peak, bandwidth I)       ridge = peak / bandwidth
    time >= max(FLOP / peak, bytes / bandwidth)

Below the ridge traffic is the limit, above it arithmetic. These are bounds, not predictions: nothing here says that a
program reaches them, and there is no third ceiling (launching, waiting, exponentials, a cache in between). Ceilings are
arguments: measure them, or cite them. No number of a device stands here.

One query that reads a cache of t keys with the group's heads together takes 4 H t D FLOP and moves about 2 G t D s bytes, so

    I of decode  ->  2 (H / G) / s      for long t: the size of the group with numbers of two bytes, whatever t and B are
    I of prefill ->  2 T_q / s          for long S, tiles of T_q queries: the tile, not the length, decides

Symbols as in `kernels.sizes`; s bytes of one number. Williams, Waterman and Patterson 2009 (doi:10.1145/1498765.1498785);
sections 7.3, 7.5 and 7.10 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesentence.checks import checked_integer, checked_number
from onesentence.kernels.costs.products import flops, forward_macs
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.costs.traffic import Widths, flash2_forward
from onesentence.kernels.sizes import Sizes


@dataclass(frozen=True)
class Ceilings:
    """What a machine does at most.

    Attributes:
        peak: FLOP a second.
        bandwidth: bytes a second.

    Raises:
        TypeError: if one is no number.
        ValueError: if one is not positive and finite.
    """

    peak: float
    bandwidth: float

    def __post_init__(self) -> None:
        for name in ("peak", "bandwidth"):
            if checked_number(name, getattr(self, name)) <= 0:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)}")

    @property
    def ridge(self) -> float:
        """FLOP per byte at which both ceilings are met at once."""
        return self.peak / self.bandwidth


@dataclass(frozen=True)
class Work:
    """What a computation takes.

    Attributes:
        flops: FLOP, two for each multiply-add.
        bytes: moved from and to memory.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if there are no bytes or a negative number of FLOP.
    """

    flops: int
    bytes: int

    def __post_init__(self) -> None:
        checked_integer("flops", self.flops, 0)
        checked_integer("bytes", self.bytes, 1)

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flops / self.bytes

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.bytes + other.bytes)


def attainable(intensity: float, ceilings: Ceilings) -> float:
    """Return the FLOP a second that neither ceiling forbids.

    Args:
        intensity: FLOP per byte.
        ceilings: of a machine.

    Raises:
        TypeError: if the intensity is no number.
        ValueError: if it is negative or not finite.

    Example:
        >>> [attainable(intensity, Ceilings(peak=100.0, bandwidth=10.0)) for intensity in (1, 10, 50)]
        [10.0, 100.0, 100.0]
    """
    if checked_number("intensity", intensity) < 0:
        raise ValueError(f"intensity must not be negative, got {intensity}")
    return min(float(ceilings.peak), ceilings.bandwidth * float(intensity))


def limit(work: Work, ceilings: Ceilings) -> str:
    """Return what limits a computation: `traffic` below the ridge, else `arithmetic`.

    Args:
        work: of the computation.
        ceilings: of a machine.

    Example:
        >>> limit(Work(flops=10, bytes=10), Ceilings(peak=100.0, bandwidth=10.0))
        'traffic'
    """
    return "traffic" if work.intensity < ceilings.ridge else "arithmetic"


def least_seconds(work: Work, ceilings: Ceilings) -> float:
    """Return the time below which no program can do it.

    Args:
        work: of the computation.
        ceilings: of a machine.

    Example:
        >>> least_seconds(Work(flops=10, bytes=10), Ceilings(peak=100.0, bandwidth=10.0))
        1.0
    """
    return max(work.flops / ceilings.peak, work.bytes / ceilings.bandwidth)


def prefill_read_work(sizes: Sizes, tiles: Tiles, widths: Widths, *, causal: bool = False) -> Work:
    """Return what attention over many queries takes: FLOP of the pairs that are needed, traffic of `flash2_forward`.

    Args:
        sizes: of the read.
        tiles: sizes of a tile.
        widths: of numbers.
        causal: a query reads keys up to its own place.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.

    Example:
        >>> prefill_read_work(Sizes(B=1, H=1, G=1, T=8, S=8, D=2), Tiles(4, 4), Widths())
        Work(flops=512, bytes=224)
    """
    macs = forward_macs(sizes, causal=causal)
    return Work(flops(sum(macs.values())), flash2_forward(sizes, tiles, widths, causal=causal).total)


def decode_read_work(*, B: int, H: int, G: int, t: int, D: int, widths: Widths) -> Work:
    """Return what attention of one new query a row takes: K and V read once, by the heads of a group together.

    Args:
        B: rows.
        H: query heads.
        G: key heads.
        t: keys that each row reads.
        D: head size.
        widths: of numbers.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.

    Example:
        >>> decode_read_work(B=1, H=8, G=2, t=1000, D=64, widths=Widths(element=2)).intensity.__round__(2)
        3.98
    """
    sizes = Sizes(B, H, G, 1, checked_integer("t", t, 1), D)
    macs = forward_macs(sizes)
    moved = flash2_forward(sizes, Tiles(1, t), widths, packed=True)
    return Work(flops(sum(macs.values())), moved.total)
