"""What Hopper's compiler makes of decoding, asked in a process without the interpreter; no device is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
from onesentence.kernels.gpu.decode_plan import blocks_of

SCRIPT = """
import dataclasses, json, sys, torch
from onesentence.kernels.gpu.compiled import report_of
from onesentence.kernels.gpu.decode_compiled import copies_of, merge_launch, split_launch
for dtype, D, page in json.loads(sys.argv[1]):
    launch = split_launch(D, getattr(torch, dtype), page)
    print(json.dumps({**dataclasses.asdict(report_of(launch)), "ahead": copies_of(launch)}))
print(json.dumps({**dataclasses.asdict(report_of(merge_launch(128, torch.bfloat16)))}))
"""
CHOICES = [("bfloat16", 128, 0), ("bfloat16", 80, 16), ("float32", 48, 8)]


def test_decoding_compiles_for_hopper_without_spills_and_copies_16_bytes_ahead(tmp_path: Path) -> None:
    env = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, json.dumps(CHOICES)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    *splits, merge = (json.loads(line) for line in run.stdout.splitlines())
    assert merge["spilled"] == 0
    for report, (dtype, D, _) in zip(splits, CHOICES, strict=True):
        blocks = blocks_of(D, getattr(torch, dtype))
        assert report["spilled"] == 0
        assert set(report["ahead"]) == {"16"}
        assert (report["mma"] > 0) == (dtype == "bfloat16")
        assert blocks.resident * (report["shared"] + 1024) <= 228 * 1024  # 1 KiB of each is the system's
        assert blocks.resident * report["registers"] * 32 * blocks.warps <= 65536
        two_steps = 2 * 2 * blocks.keys * blocks.width * getattr(torch, dtype).itemsize
        assert report["shared"] >= two_steps  # one being read, one on its way
