"""Compile the kernels for Hopper ahead of time, without a device, and say what each pinned choice takes.

    python -m onesentence.kernels.gpu.compiled [forward|keys|queries …] [--dtype fp16 …] [--size 64 …]

prints a table: registers of a thread, bytes that spill from them, shared memory of a block, and the matrix instructions
that were found. `wgmma` is Hopper's; a matrix kernel of fp16 or bf16 without it is on a slow path. float32 has none: its
products are exact. The process must not run under the interpreter.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch

from onesentence.kernels.gpu.blocks import PASSES
from onesentence.kernels.gpu.launch import Launch
from onesentence.kernels.gpu.passes import launch_of, random_read
from onesentence.kernels.gpu.runtime import TensorDescriptor, interpreted, triton

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)
NAMES = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.int32: "i32"}
DTYPES = {name: dtype for dtype, name in NAMES.items() if dtype.is_floating_point}
SIZES = (16, 32, 48, 64, 80, 96, 128, 256)


@dataclass(frozen=True)
class Report:
    """What one compiled kernel takes.

    Attributes:
        registers: of a thread.
        spilled: bytes a thread keeps in local memory for want of registers.
        shared: bytes of shared memory of a block.
        wgmma: Hopper's matrix instructions in the code.
        mma: older ones.
        copies: bulk copies of the tensor memory accelerator.
    """

    registers: int
    spilled: int
    shared: int
    wgmma: int
    mma: int
    copies: int


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
    blocks = launch.blocks
    options = {"num_warps": blocks.num_warps, "num_stages": blocks.num_stages}
    kernel = triton.compile(source_of(launch), target=HOPPER, options=options)
    ptx, usage = kernel.asm["ptx"], resource_usage(kernel.asm["cubin"])
    return Report(
        registers=int(re.search(r"REG:(\d+)", usage)[1]),  # type: ignore[index]
        spilled=int(re.search(r"STACK:(\d+)", usage)[1]),  # type: ignore[index]
        shared=kernel.metadata.shared,
        wgmma=len(re.findall(r"wgmma\.mma_async", ptx)),
        mma=len(re.findall(r"\bmma\.sync", ptx)),
        copies=len(re.findall(r"cp\.async\.bulk\.tensor", ptx)),
    )


def resource_usage(cubin: bytes) -> str:
    """Return what `cuobjdump`, which comes with Triton, says about a kernel's registers and stack."""
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(tool), "--dump-resource-usage", file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def rows(passes: list[str], dtypes: list[str], sizes: list[int]) -> Iterator[str]:
    """Yield the lines of the table, one a choice; packed sequences are read with pointers, others with descriptors."""
    yield f"{'pass':8} {'dtype':5} {'D':>3} causal packed {'blocks':>14} reg spill shared wgmma mma copies"
    for name, dtype, D, causal, packed in product(passes, dtypes, sizes, (False, True), (False, True)):
        launch = launch_of(name, random_read(2, 4, 2, 256, D, DTYPES[dtype], causal=causal, packed=packed))
        b, r = launch.blocks, report_of(launch)
        shape = f"{b.block_q}x{b.block_k} w{b.num_warps} s{b.num_stages}"
        yield (
            f"{name:8} {dtype:5} {D:3} {causal!s:6} {packed!s:6} {shape:>14} {r.registers:3} "
            f"{r.spilled:5} {r.shared:6} {r.wgmma:5} {r.mma:3} {r.copies:6}"
        )


def main(arguments: list[str] | None = None) -> None:
    """Print the table for what the command line names, everything by default."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("passes", nargs="*", help=f"of {', '.join(PASSES)}; all by default")
    parser.add_argument(
        "--dtype", nargs="*", choices=tuple(DTYPES), default=list(DTYPES), help="all by default"
    )
    parser.add_argument(
        "--size",
        nargs="*",
        type=int,
        default=list(SIZES),
        help="head sizes D; some of each kind by default",
    )
    chosen = parser.parse_args(arguments)
    for line in rows(chosen.passes or list(PASSES), chosen.dtype, chosen.size):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
