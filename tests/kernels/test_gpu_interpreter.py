"""Where there is no CUDA, tests run Triton's kernels under its interpreter."""

from __future__ import annotations

import pytest
import torch

from onesentence.evidence.closure import cuda_present

triton = pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")


def test_kernels_run_under_the_interpreter_where_there_is_no_cuda() -> None:
    assert cuda_present() == torch.cuda.is_available()
    assert triton.knobs.runtime.interpret == (not torch.cuda.is_available())
