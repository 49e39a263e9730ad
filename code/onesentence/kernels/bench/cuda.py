"""The backends that need CUDA: PyTorch's cuDNN and FlexAttention, and this project's Triton kernels.

FlexAttention is compiled anew for each case and as one graph. Compiling costs seconds, so that it is measured at
FLEX_LENGTHS only. Pages of the paged decode lie in a random order, as they do in a cache that sequences share.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from onesentence.kernels.bench.backends import COMMON, SQUARE, Backend, Forward, corner, sdpa
from onesentence.kernels.bench.cases import Case
from onesentence.kernels.bench.inputs import Inputs

FLEX_LENGTHS = (4096, 16384)
PAGE = 64
"""Keys of a page."""


def no_triton() -> str:
    """Say why no kernel of Triton's can be timed here, empty where one can."""
    try:
        import triton
    except ImportError as error:
        return f"needs Triton: {error}"
    if triton.knobs.runtime.interpret:
        return "runs under Triton's interpreter here, since TRITON_INTERPRET is set"
    return ""


def no_attention(device: torch.device) -> str:
    """Say why this project's attention cannot run, empty where it can."""
    if reason := no_triton():
        return reason
    try:
        from onesentence.kernels.gpu import attention  # noqa: F401
    except ImportError as error:
        return f"cannot be imported: {error}"
    return ""


def no_decode(device: torch.device) -> str:
    """Say why this project's decode cannot run, empty where it can."""
    if reason := no_triton():
        return reason
    try:
        from onesentence.kernels.gpu import decode, paged  # noqa: F401
    except ImportError as error:
        return f"cannot be imported: {error}"
    return ""


def ours(case: Case, inputs: Inputs) -> Forward:
    """Make this project's attention ready."""
    from onesentence.kernels.gpu.attention import attention

    return lambda: attention(*inputs.leaves, causal=case.causal)[0]


def ours_decoding(splits: int | None) -> Callable[[Case, Inputs], Forward]:
    """Return what makes this project's decode over contiguous keys ready.

    Args:
        splits: parts that the keys of a sequence are read in; None leaves it to the kernel.
    """

    def prepare(case: Case, inputs: Inputs) -> Forward:
        from onesentence.kernels.gpu.decode import decode

        q, k, v = inputs.leaves
        lengths = torch.full((case.B,), case.S, dtype=torch.int32, device=q.device)
        return lambda: decode(q[:, :, 0], k, v, lengths, splits=splits)[0][:, :, None]

    return prepare


def pages_of(k: Tensor, v: Tensor, size: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Cut keys and values into pages that lie in a random order.

    Args:
        k: (B, G, S, D).
        v: as k.
        size: P, keys of a page; the last one is filled up with zeros.
        seed: of the order.

    Returns:
        Pages of keys and of values (N, G, P, D), and the table (B, M), int32: where a sequence's m-th page lies.
    """
    B, G, S, D = k.shape
    M = -(-S // size)
    order = torch.randperm(B * M, generator=torch.Generator().manual_seed(seed)).to(k.device)

    def cut(part: Tensor) -> Tensor:
        pages = torch.zeros(B * M, G, size, D, dtype=part.dtype, device=part.device)
        padded = torch.nn.functional.pad(part, (0, 0, 0, M * size - S))
        pages[order] = padded.view(B, G, M, size, D).transpose(1, 2).reshape(B * M, G, size, D)
        return pages

    return cut(k), cut(v), order.view(B, M).to(torch.int32)


def ours_paged(case: Case, inputs: Inputs) -> Forward:
    """Make this project's decode over pages ready: keys and values copied into pages."""
    from onesentence.kernels.gpu.paged import decode_paged

    q, k, v = inputs.leaves
    k_pages, v_pages, table = pages_of(k, v, PAGE)
    lengths = torch.full((case.B,), case.S, dtype=torch.int32, device=q.device)
    return lambda: decode_paged(q[:, :, 0], k_pages, v_pages, table, lengths)[0][:, :, None]


def flex(case: Case, inputs: Inputs) -> Forward:
    """Make FlexAttention ready: a block mask where it is causal, compiled for these sizes."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = inputs.leaves
    shift = case.sizes.shift
    mask = None
    if case.causal:
        mask = create_block_mask(
            lambda b, h, i, j: i + shift >= j, None, None, case.T, case.S, device=str(q.device)
        )
    torch.compiler.reset()  # else the compiler stops compiling after a few shapes
    compiled = torch.compile(flex_attention, dynamic=False, fullgraph=True)

    def forward() -> Tensor:
        return compiled(q, k, v, block_mask=mask, enable_gqa=case.H != case.G)

    return forward


def _long_compile(case: Case, device: torch.device) -> str:
    named = " and ".join(map(str, FLEX_LENGTHS))
    return "" if case.T in FLEX_LENGTHS else f"is compiled for each length; measured at {named} only"


CUDA = (
    Backend(
        "sdpa cudnn",
        "torch.nn.functional.scaled_dot_product_attention, CUDNN_ATTENTION",
        sdpa(SDPBackend.CUDNN_ATTENTION),
        devices=("cuda",),
        kinds=SQUARE,
        passes=corner,
    ),
    Backend(
        "flex",
        "torch.nn.attention.flex_attention, compiled, with a block mask where it is causal",
        flex,
        devices=("cuda",),
        kinds=SQUARE,
        passes=_long_compile,
    ),
    Backend(
        "triton",
        "kernels.gpu.attention, FlashAttention in Triton",
        ours,
        devices=("cuda",),
        kinds=SQUARE,
        absent=no_attention,
    ),
    Backend(
        "triton split",
        "kernels.gpu.decode, keys of a sequence in as many parts as it chooses",
        ours_decoding(None),
        devices=("cuda",),
        kinds=("decode",),
        absent=no_decode,
    ),
    Backend(
        "triton one part",
        "kernels.gpu.decode, keys of a sequence in one part",
        ours_decoding(1),
        devices=("cuda",),
        kinds=("decode",),
        absent=no_decode,
    ),
    Backend(
        "triton paged",
        f"kernels.gpu.paged, pages of {PAGE} keys in a random order",
        ours_paged,
        devices=("cuda",),
        kinds=("decode",),
        absent=no_decode,
    ),
)
BACKENDS = (*COMMON, *CUDA)
"""Every backend there is, whether or not it can run here."""
