"""Normalisation layers that train, in PyTorch; `layer_norm` holds the formula and its gradient in NumPy."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onesentence.checks import checked_integer, checked_number


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) over the last axis, times gamma, plus beta; equal to `nn.LayerNorm`.

    The arithmetic is PyTorch's fused one. Ba, Kiros and Hinton 2016 (arXiv:1607.06450), equations 3 and 4; section 4.9
    of the course.

    Args:
        C: width.
        eps: added to the variance, positive.

    Raises:
        TypeError: if `C` is not an integer or `eps` no number.
        ValueError: if `C` is less than 1 or `eps` not positive.

    Example:
        >>> LayerNorm(2)(torch.tensor([[1.0, 3.0]])).detach().round(decimals=4).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(self, C: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        C = checked_integer("C", C, 1)
        if checked_number("eps", eps) <= 0:
            raise ValueError(f"eps must be positive, got {eps}")
        self.weight = nn.Parameter(torch.ones(C))  # gamma
        self.bias = nn.Parameter(torch.zeros(C))  # beta
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., C)."""
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)
