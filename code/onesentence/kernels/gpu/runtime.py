"""Where kernels run: on CUDA, or under Triton's interpreter. The one place that imports Triton, and says so if it is missing.

Triton 3.6 and 3.7 both serve; the interpreter of 3.6 needs NumPy below 2.4, as 2.4 refuses how it reads the ends of a loop.
"""

from __future__ import annotations

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError as error:
    raise ImportError(
        "onesentence.kernels.gpu needs Triton 3.6 or later (pip install triton==3.7.1; Linux x86-64 only); "
        "without it, onesentence.kernels.tiled computes the same on the CPU"
    ) from error

__all__ = ["DTYPES", "LARGEST", "TensorDescriptor", "check_kernel_takes", "interpreted", "tl", "triton"]

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LARGEST = 256  # head size
_INTERPRETED = bool(
    triton.knobs.runtime.interpret
)  # kernels are made one way or the other when they are imported


def interpreted() -> bool:
    """Say whether kernels run under the interpreter: TRITON_INTERPRET=1 before the first of them is imported."""
    return _INTERPRETED


def check_kernel_takes(x: Tensor, name: str = "q") -> None:
    """Refuse what no kernel here can read.

    Args:
        x: (..., D).
        name: what error messages call it.

    Raises:
        TypeError: if its dtype is not float16, bfloat16 or float32; bfloat16 under the interpreter, which gets it wrong.
        ValueError: if D is larger than 256, or it is not on CUDA and the interpreter is off.
    """
    if x.dtype not in DTYPES:
        raise TypeError(f"{name} must be float16, bfloat16 or float32, got {x.dtype}")
    if x.shape[-1] > LARGEST:
        raise ValueError(f"{name} must have a head size of at most {LARGEST}, got {x.shape[-1]}")
    if interpreted():
        if x.dtype == torch.bfloat16:
            raise TypeError(
                f"{name} must be float16 or float32 under Triton's interpreter, whose bfloat16 is wrong"
            )
    elif not x.is_cuda:
        raise ValueError(
            f"{name} must be on CUDA, got {x.device}; Triton's interpreter would take it, but TRITON_INTERPRET=1 was "
            "not set when the kernels were imported"
        )
