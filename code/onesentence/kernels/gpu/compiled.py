"""Compile the kernels for Hopper ahead of time, without a device, and say what each pinned choice takes.

    python -m onesentence.kernels.gpu.compiled [forward|keys|queries|decode|merge …] [--dtype fp16 …] [--size 64 …]

prints a table: registers of a thread, bytes that spill from them, shared memory of a block, and the instructions that were
found. `wgmma` is Hopper's for matrices; a kernel of fp16 or bf16 with neither it nor `mma` is on a slow path. `waits` should
be far fewer: as many mean that each `wgmma` is waited for before the next starts. float32 has none: its products are exact.
`bulk` copies are those of the tensor memory accelerator, `ahead` of decoding: all of them should be 16 bytes wide. The
process must not run under the interpreter.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch

from onesentence.kernels.gpu.blocks import PASSES
from onesentence.kernels.gpu.launch import Launch
from onesentence.kernels.gpu.passes import launch_of, merge_launch, random_read, split_launch
from onesentence.kernels.gpu.runtime import TensorDescriptor, interpreted, triton

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)
NAMES = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.int32: "i32"}
DTYPES = {name: dtype for dtype, name in NAMES.items() if dtype.is_floating_point}
SIZES = (16, 32, 48, 64, 80, 96, 128, 256)
PAGES = (0, 8, 16, 64, 256)
"""Page sizes that decoding is compiled for, 0 without pages: larger and smaller than a step, and the same."""


@dataclass(frozen=True)
class Report:
    """What one compiled kernel takes.

    Attributes:
        registers: of a thread.
        spilled: bytes a thread keeps in local memory for want of registers.
        shared: bytes of shared memory of a block.
        wgmma: Hopper's matrix instructions in the code.
        waits: for them to end.
        mma: older ones.
        bulk: copies of the tensor memory accelerator.
        ahead: other copies to shared memory that run ahead of their use, by their bytes.
    """

    registers: int
    spilled: int
    shared: int
    wgmma: int
    waits: int
    mma: int
    bulk: int
    ahead: dict[int, int]


def described_type(value: Any) -> tuple[str, Any]:
    """Return Triton's name of an argument's type and what it may assume of it, as a launch would.

    Integers that are 1 become constants; pointers and integers that 16 divides are known to be so.
    """
    if value is None or isinstance(value, bool) or (isinstance(value, int) and value == 1):
        return "constexpr", None
    if isinstance(value, TensorDescriptor):
        block = ", ".join(map(str, value.block_shape))
        return f"tensordesc<{NAMES[value.base.dtype]}[{block}]>", None
    aligned = [["tt.divisibility", 16]]
    if isinstance(value, torch.Tensor):
        return f"*{NAMES[value.dtype]}", aligned if value.data_ptr() % 16 == 0 else None
    if isinstance(value, int):
        return ("i32" if -(2**31) <= value < 2**31 else "i64"), aligned if value % 16 == 0 else None
    return "fp32", None


def source_of(launch: Launch) -> Any:
    """Return a kernel with the types that a launch would give it."""
    signature: dict[str, Any] = {}
    constants: dict[tuple[int, ...], Any] = {}
    attributes: dict[tuple[int, ...], Any] = {}
    for i, parameter in enumerate(launch.kernel.params):
        value = launch.arguments[parameter.name]
        if parameter.is_constexpr:
            signature[parameter.name], constants[i,] = "constexpr", value
            continue
        parts = value if isinstance(value, tuple) else (value,)
        types = []
        for j, part in enumerate(parts):
            path = (i, j) if isinstance(value, tuple) else (i,)
            name, known = described_type(part)
            types.append(name)
            if name == "constexpr":
                constants[path] = part
            if known:
                attributes[path] = known
        signature[parameter.name] = tuple(types) if isinstance(value, tuple) else types[0]
    return triton.compiler.ASTSource(launch.kernel, signature, constants, attributes)


def report_of(launch: Launch) -> Report:
    """Compile one launch for Hopper and look at the result.

    Raises:
        RuntimeError: under the interpreter, which leaves nothing to compile.
    """
    if interpreted():
        raise RuntimeError("kernels cannot be compiled where TRITON_INTERPRET=1 is set")
    kernel = triton.compile(source_of(launch), target=HOPPER, options=launch.blocks.options)
    ptx, usage = kernel.asm["ptx"], dumped(kernel.asm["cubin"])
    ahead = re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^\]]*\], \[[^\]]*\], 0x([0-9a-f]+)", ptx)
    return Report(
        registers=int(re.search(r"REG:(\d+)", usage)[1]),  # type: ignore[index]
        spilled=int(re.search(r"STACK:(\d+)", usage)[1]),  # type: ignore[index]
        shared=kernel.metadata.shared,
        wgmma=len(re.findall(r"wgmma\.mma_async", ptx)),
        waits=usage.count("WARPGROUP.DEPBAR"),
        mma=len(re.findall(r"\bmma\.sync", ptx)),
        bulk=len(re.findall(r"cp\.async\.bulk\.tensor", ptx)),
        ahead=dict(Counter(int(width, 16) for width in ahead)),
    )


def dumped(cubin: bytes) -> str:
    """Return what `cuobjdump`, which comes with Triton, says about a kernel's registers and stack, and its instructions."""
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(tool), "--dump-resource-usage", "--dump-sass", file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def launches(name: str, dtype: torch.dtype, D: int) -> Iterator[tuple[str, Launch]]:
    """Yield each way in which one kernel is compiled for a dtype and head size, and what tells it from the others."""
    if name == "merge":
        yield "", merge_launch(D, dtype)
    elif name == "decode":
        for page in PAGES:
            yield f"pages of {page}" if page else "", split_launch(D, dtype, page)
    else:
        for causal, packed in product((False, True), (False, True)):
            read = random_read(2, 4, 2, 256, D, dtype, causal=causal, packed=packed)
            yield f"{'causal' if causal else ''} {'packed' if packed else ''}".strip(), launch_of(name, read)


def rows(names: list[str], dtypes: list[str], sizes: list[int]) -> Iterator[str]:
    """Yield the lines of the table; packed sequences are read with pointers, others with descriptors."""
    yield f"{'kernel':8}{'dtype':6}  D {'':14} {'blocks':>14} reg spill shared wgmma waits mma bulk ahead"
    for name, dtype, D in product(names, dtypes, sizes):
        for how, launch in launches(name, DTYPES[dtype], D):
            b, r = launch.blocks, report_of(launch)
            shape = f"{b.block_q}x{b.block_k} w{b.num_warps} s{b.num_stages}"
            yield (
                f"{name:8}{dtype:5}{D:4} {how:14} {shape:>14} {r.registers:3} {r.spilled:5} {r.shared:6} "
                f"{r.wgmma:5} {r.waits:5} {r.mma:3} {r.bulk:4} {r.ahead}"
            )


def main(arguments: list[str] | None = None) -> None:
    """Print the table for what the command line names, everything by default."""
    names = [*PASSES, "decode", "merge"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kernels", nargs="*", help=f"of {', '.join(names)}; all by default")
    parser.add_argument(
        "--dtype", nargs="*", choices=tuple(DTYPES), default=list(DTYPES), help="all by default"
    )
    parser.add_argument(
        "--size", nargs="*", type=int, default=list(SIZES), help="head sizes D; some of each kind"
    )
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.kernels if name not in names]:
        parser.error(f"kernels: expected some of {', '.join(names)}, got {', '.join(unknown)}")
    for line in rows(chosen.kernels or names, chosen.dtype, chosen.size):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
