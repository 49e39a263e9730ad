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

from onesentence.kernels.gpu.blocks import SHARED_BYTES
from onesentence.kernels.gpu.compiled import described_type, report_of
from onesentence.kernels.gpu.passes import launch_of, random_read

SCRIPT = """
import dataclasses, json, sys, torch
from onesentence.kernels.gpu.compiled import report_of
from onesentence.kernels.gpu.passes import launch_of, random_read
for name, dtype, D, packed in json.loads(sys.argv[1]):
    read = random_read(1, 2, 1, 256, D, getattr(torch, dtype), causal=False, packed=packed)
    print(json.dumps(dataclasses.asdict(report_of(launch_of(name, read)))))
"""
CHOICES = [
    ("forward", "bfloat16", 64, False),
    ("keys", "float16", 64, False),
    ("queries", "float32", 16, True),
]


def test_report_of_finds_hoppers_instructions_and_no_spills(tmp_path: Path) -> None:
    env = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, json.dumps(CHOICES)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    *halves, full = (json.loads(line) for line in run.stdout.splitlines())
    for report in halves:
        assert report["wgmma"] > 0
        assert report["copies"] > 0
    assert full["wgmma"] == full["mma"] == 0
    for report in (*halves, full):
        assert report["spilled"] == 0
        assert report["registers"] <= 255
        assert report["shared"] <= SHARED_BYTES


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
