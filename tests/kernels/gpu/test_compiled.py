"""What Hopper's compiler makes of the kernels, asked in a process without the interpreter; no device is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")

from onesentence.kernels.gpu.blocks import SHARED_BYTES, width_of
from onesentence.kernels.gpu.compiled import described_type, report_of
from onesentence.kernels.gpu.decode_plan import blocks_of, resident
from onesentence.kernels.gpu.passes import launch_of, random_read

SCRIPT = """
import dataclasses, json, sys, torch
from onesentence.kernels.gpu.compiled import report_of
from onesentence.kernels.gpu.decode_plan import blocks_of, resident
from onesentence.kernels.gpu.passes import launch_of, merge_launch, random_read, split_launch
attention, decoding = json.loads(sys.argv[1])
launches = []
for name, dtype, D, causal, packed in attention:
    read = random_read(1, 2, 1, 256, D, getattr(torch, dtype), causal=causal, packed=packed)
    launches.append(launch_of(name, read))
launches += [split_launch(D, getattr(torch, dtype), page) for dtype, D, page in decoding]
for launch in [*launches, merge_launch(128, torch.bfloat16)]:
    print(json.dumps(dataclasses.asdict(report_of(launch))))
"""
ATTENTION = [
    ("forward", "bfloat16", 64, False, False),
    ("keys", "bfloat16", 128, True, False),
    ("queries", "float16", 64, False, True),
    ("queries", "float32", 16, False, True),
]
DECODING = [("bfloat16", 128, 0), ("bfloat16", 80, 16), ("float32", 48, 8)]


def test_kernels_compile_for_hopper_without_spills_and_with_its_instructions(tmp_path: Path) -> None:
    env = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, json.dumps([ATTENTION, DECODING])]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    for report in reports:
        assert report["spilled"] == 0
        assert report["registers"] <= 255
        assert report["shared"] <= SHARED_BYTES
    for report, (_, dtype, _, _, packed) in zip(reports, ATTENTION, strict=False):
        assert (report["wgmma"] > 0) == (dtype != "float32")
        assert 4 * report["waits"] <= report["wgmma"]  # not one by one
        assert (report["bulk"] > 0) == (not packed)
        assert report["mma"] == 0
    for report, (dtype, D, _) in zip(reports[len(ATTENTION) : -1], DECODING, strict=True):
        blocks = blocks_of(D, getattr(torch, dtype))
        assert set(report["ahead"]) == {"16"}
        assert (report["mma"] > 0) == (dtype == "bfloat16")
        assert resident(blocks) * (report["shared"] + 1024) <= 228 * 1024  # 1 KiB of each is the system's
        assert resident(blocks) * report["registers"] * 32 * blocks.num_warps <= 65536
        two_steps = 2 * 2 * blocks.block_k * width_of(D) * getattr(torch, dtype).itemsize
        assert report["shared"] >= two_steps  # one being read, one on its way


@pytest.mark.parametrize(
    ("value", "name", "aligned"),
    [
        (None, "constexpr", False),
        (1, "constexpr", False),
        (2, "i32", False),
        (32, "i32", True),
        (2**31, "i64", True),
        (0.5, "fp32", False),
        (torch.zeros(8, dtype=torch.float16), "*fp16", True),
        (torch.zeros(8, dtype=torch.float16)[1:], "*fp16", False),
    ],
    ids=str,
)
def test_described_type_is_a_launchs(value: object, name: str, aligned: bool) -> None:
    found, known = described_type(value)
    assert found == name
    assert bool(known) == aligned


@pytest.mark.skipif(torch.cuda.is_available(), reason="the interpreter is off where CUDA is")
def test_report_of_refuses_the_interpreter() -> None:
    launch = launch_of("forward", random_read(1, 1, 1, 16, 16, torch.float32, causal=False))
    with pytest.raises(RuntimeError, match="cannot be compiled where TRITON_INTERPRET=1"):
        report_of(launch)
