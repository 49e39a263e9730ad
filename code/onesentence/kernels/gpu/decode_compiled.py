"""Compile decoding for Hopper ahead of time, without a device, and say what each configuration takes.

    python -m onesentence.kernels.gpu.decode_compiled [--size 64 …] [--page 0 16 …]

prints a table as `compiled` does, with the copies to shared memory that run ahead of their use (`cp.async`) by their bytes:
all of them should be 16 bytes wide. `programs` are those of `DecodeBlocks.resident`, which shared memory and registers
have to allow. The process must not run under the interpreter.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product

import torch

from onesentence.kernels.gpu.blocks import Blocks
from onesentence.kernels.gpu.compiled import DTYPES, HOPPER, report_of, source_of
from onesentence.kernels.gpu.decode import arguments_of
from onesentence.kernels.gpu.decode_plan import blocks_of
from onesentence.kernels.gpu.launch import Launch
from onesentence.kernels.gpu.runtime import triton
from onesentence.kernels.gpu.split import MERGED_AT_ONCE, merge_splits, read_split

PAGES = (0, 8, 16, 64, 256)
"""Page sizes that are compiled, 0 without pages: larger and smaller than a step, and the same."""


def split_launch(D: int, dtype: torch.dtype, page: int) -> Launch:
    """Return what `read_split` is compiled from; it is never run.

    Args:
        D: head size.
        dtype: of keys and values.
        page: keys of a page, 0 without pages.
    """
    q, k = torch.zeros(2, 8, D, dtype=dtype), torch.zeros(2, 2, page or 256, D, dtype=dtype)
    table = torch.zeros(2, 4, dtype=torch.int32) if page else None
    lengths, parts = torch.zeros(2, dtype=torch.int32), (torch.zeros(2, 8, 4, D), torch.zeros(2, 8, 4))
    arguments = arguments_of(q, k, k.clone(), lengths, table, *parts, scale=0.1, window=None)
    blocks = blocks_of(D, dtype)
    return Launch(read_split, 0, arguments, Blocks(16, blocks.keys, blocks.warps, blocks.stages), q.device)


def merge_launch(D: int, dtype: torch.dtype) -> Launch:
    """Return what `merge_splits` is compiled from; it is never run."""
    part_o, part_lse, o = torch.zeros(2, 8, 4, D), torch.zeros(2, 8, 4), torch.zeros(2, 8, D, dtype=dtype)
    tensors = {"part_o": part_o, "part_lse": part_lse, "o": o, "lse": torch.zeros(2, 8)}
    constants = {"D": D, "WIDTH": blocks_of(D, dtype).width, "SPLITS": MERGED_AT_ONCE}
    return Launch(merge_splits, 0, {**tensors, "splits": 4, **constants}, Blocks(16, 16, 4, 3), o.device)


def copies_of(launch: Launch) -> dict[int, int]:
    """Return how many copies to shared memory run ahead of their use, by their bytes."""
    options = {"num_warps": launch.blocks.num_warps, "num_stages": launch.blocks.num_stages}
    ptx = triton.compile(source_of(launch), target=HOPPER, options=options).asm["ptx"]
    widths = re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^\]]*\], \[[^\]]*\], 0x([0-9a-f]+)", ptx)
    return dict(Counter(int(width, 16) for width in widths))


def rows(dtypes: list[str], sizes: list[int], pages: list[int]) -> Iterator[str]:
    """Yield the lines of the table, one a configuration and page size, and one for the merge."""
    yield f"{'dtype':5} {'D':>3} {'page':>5} {'keys':>4} warps stages programs reg spill shared mma copies"
    for dtype, D in product(dtypes, sizes):
        b = blocks_of(D, DTYPES[dtype])
        for page in pages:
            launch = split_launch(D, DTYPES[dtype], page)
            r = report_of(launch)
            yield (
                f"{dtype:5} {D:3} {page:5} {b.keys:4} {b.warps:5} {b.stages:6} {b.resident:8} "
                f"{r.registers:3} {r.spilled:5} {r.shared:6} {r.mma:3} {copies_of(launch)}"
            )
        r = report_of(merge_launch(D, DTYPES[dtype]))
        yield f"{dtype:5} {D:3} merge {'':27} {r.registers:3} {r.spilled:5} {r.shared:6}"


def main(arguments: list[str] | None = None) -> None:
    """Print the table for what the command line names, every head size by default."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--dtype", nargs="*", choices=tuple(DTYPES), default=list(DTYPES), help="all by default"
    )
    parser.add_argument(
        "--size", nargs="*", type=int, default=list(range(16, 257, 16)), help="head sizes D; all by default"
    )
    parser.add_argument(
        "--page", nargs="*", type=int, default=list(PAGES), help="keys of a page, 0 without pages"
    )
    chosen = parser.parse_args(arguments)
    for line in rows(chosen.dtype, chosen.size, chosen.page):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
