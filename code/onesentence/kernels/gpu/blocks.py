"""How large a kernel's blocks are: pinned choices for Hopper, by pass, dtype and head size.

A program holds `block_q` queries against `block_k` keys at a time; the passes are

    forward    one program per block of queries, keys in a loop
    keys       gradients of k and v: one program per block of keys, queries in a loop
    queries    gradient of q: one program per block of queries, keys in a loop

`num_warps` (of 32 threads) share a block, `num_stages` blocks of the loop are on their way to shared memory at a time. An
H200 gives a block 227 KiB of shared memory and a thread 255 registers; `compiled` shows what each choice takes. There is no
autotuner: it fails to import without a device and times every new length. `tune` looks for better choices by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesentence.checks import checked_choice, checked_integer

PASSES = ("forward", "keys", "queries")
SHARED_BYTES = 227 * 1024
"""Shared memory that one block may take on Hopper."""


@dataclass(frozen=True)
class Blocks:
    """Sizes of one kernel's blocks.

    Attributes:
        block_q: queries, a power of two; from 16 up where tensor cores multiply.
        block_k: keys, a power of two from 16 up.
        num_warps: a power of two; 4 make the warpgroup that one `wgmma` needs.
        num_stages: from 1.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is too small or no power of two.

    Example:
        >>> Blocks(128, 48)
        Traceback (most recent call last):
        ValueError: block_k must be a power of two, got 48
    """

    block_q: int
    block_k: int
    num_warps: int = 4
    num_stages: int = 2

    def __post_init__(self) -> None:
        least = {"block_q": 1, "block_k": 16, "num_warps": 1, "num_stages": 1}
        for name, smallest in least.items():
            value = checked_integer(name, getattr(self, name), smallest)
            if name != "num_stages" and value & (value - 1):
                raise ValueError(f"{name} must be a power of two, got {value}")

    @property
    def options(self) -> dict[str, int]:
        """What Triton compiles a kernel with."""
        return {"num_warps": self.num_warps, "num_stages": self.num_stages}


INTERPRETED = Blocks(128, 128)
"""Under the interpreter few large blocks are fastest."""

HALF = {  # float16 and bfloat16: matrix products on tensor cores, fp32 sums in registers
    "forward": {64: Blocks(128, 64, 4, 3), 128: Blocks(128, 128, 8, 2), 256: Blocks(128, 64, 8, 2)},
    "keys": {64: Blocks(64, 128, 8, 3), 128: Blocks(64, 128, 8, 2), 256: Blocks(32, 64, 8, 2)},
    "queries": {64: Blocks(128, 64, 8, 3), 128: Blocks(128, 128, 8, 2), 256: Blocks(64, 32, 8, 2)},
}
FULL = {  # float32: products in fp32 on the ordinary units ("ieee"), operands in registers too, so blocks are small
    "forward": {64: Blocks(64, 32, 8, 1), 128: Blocks(32, 32, 8, 2), 256: Blocks(32, 16, 8, 1)},
    "keys": {64: Blocks(16, 64, 8, 1), 128: Blocks(32, 32, 8, 1), 256: Blocks(16, 32, 8, 1)},
    "queries": {64: Blocks(64, 32, 8, 1), 128: Blocks(32, 32, 8, 1), 256: Blocks(32, 16, 8, 1)},
}
POINTERS = {
    ("forward", 128): Blocks(128, 64, 8, 2),
    ("forward", 256): Blocks(128, 32, 8, 2),
    ("keys", 128): Blocks(32, 128, 8, 2),
    ("keys", 256): Blocks(16, 64, 8, 2),
    ("queries", 128): Blocks(128, 64, 8, 2),
    ("queries", 256): Blocks(64, 16, 8, 2),
}
"""Where float16 and bfloat16 are read with pointers, which take registers: packed, or in strides that no bulk copy takes."""


def width_of(D: int) -> int:
    """Return how wide a head stands in a block: the next power of two, at least 16.

    Example:
        >>> [width_of(D) for D in (3, 16, 48, 80, 256)]
        [16, 16, 64, 128, 256]
    """
    return max(16, 1 << (D - 1).bit_length())


def pinned(name: str, D: int, itemsize: int, *, described: bool = True) -> Blocks:
    """Return the choice for one pass on Hopper.

    Args:
        name: of the pass.
        D: head size, 1 to 256.
        itemsize: bytes of a number, 2 or 4.
        described: whether tensors are read through descriptors.

    Raises:
        ValueError: if there is no such pass, head size or dtype.

    Example:
        >>> pinned("forward", 80, 2) == pinned("forward", 128, 2)
        True
    """
    checked_choice("name", name, PASSES)
    if itemsize not in (2, 4):
        raise ValueError(f"itemsize must be 2 or 4, got {itemsize}")
    if not 1 <= D <= 256:
        raise ValueError(f"D must lie in [1, 256], got {D}")
    key = (name, max(64, width_of(D)))
    if itemsize == 2 and not described and key in POINTERS:
        return POINTERS[key]
    return (HALF if itemsize == 2 else FULL)[name][key[1]]
