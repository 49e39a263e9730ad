"""Attention executed well: the same result with less memory traffic. Modules are imported by name; no model is known here.

    sizes             the one layout of inputs, which all others keep
    reference         the score table written out, in PyTorch: what every version is held against
    online_softmax    one pass over blocks of scores; `trace` shows each step (NumPy)
    teaching          attention and its gradients tile by tile, in either loop order (NumPy, slow)
    tiled             the same to be used on the CPU, differentiable (PyTorch)
    gpu               the same for CUDA, and decoding (Triton)
    costs             what attention multiplies, moves and keeps
    bench             what it takes on a machine

Importing this package needs neither Triton nor CUDA nor torch; the modules under `kernels.gpu` need Triton. The versions
in PyTorch are called alike and return the output and the log-sum-exp; `teaching` takes arrays and sizes of blocks:

    >>> import torch
    >>> from onesentence.kernels import reference, tiled
    >>> q, k = torch.randn(1, 4, 3, 8), torch.randn(1, 2, 5, 8)  # two query heads share a key head
    >>> (o, lse), (same, _) = (version.attention(q, k, k, causal=True) for version in (reference, tiled))
    >>> tuple(o.shape), tuple(lse.shape), bool(torch.allclose(o, same, atol=1e-5))
    ((1, 4, 3, 8), (1, 4, 3), True)
"""
