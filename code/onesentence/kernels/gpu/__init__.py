"""Attention in Triton, for CUDA; elsewhere its kernels run under Triton's interpreter (TRITON_INTERPRET=1), for tests.

    attention                    queries against keys, differentiable; `packed`: sequences that lie end to end
    decode, paged                one new query a row, over contiguous keys or pages; no gradients
    forward, backward, split     the kernels; `tiles` what they share, `launch`, `gradients` what starts them
    blocks, decode_plan          choices that are pinned; `tune` times others by hand
    compiled                     what the compiler for Hopper makes of them, without a device

Importing this package needs neither Triton nor CUDA; its modules need Triton. They are imported by name. The interpreter
is chosen when the first of them is imported, so the variable is set before Python starts:

    TRITON_INTERPRET=1 python -c "
    import torch
    from onesentence.kernels.gpu.attention import attention
    q = torch.randn(1, 2, 5, 16)
    print(attention(q, q, q, causal=True))"
"""
