"""The feed-forward sublayer: every position by itself, the same two matrices for all of them.

    FFN(x) = relu(x W_1 + b_1) W_2 + b_2

It mixes the features of one position and reads no other. Vaswani et al. 2017 (arXiv:1706.03762), equation 2; section
4.10 of the course.
"""

from __future__ import annotations

from torch import Tensor, nn

from onesentence.checks import checked_integer


class FeedForward(nn.Module):
    """Two affine maps with a ReLU between them.

    Args:
        C: width of a position.
        d_ff: width in between.

    Raises:
        TypeError: if a width is not an integer.
        ValueError: if one is less than 1.
    """

    def __init__(self, C: int, d_ff: int) -> None:
        super().__init__()
        C, d_ff = checked_integer("C", C, 1), checked_integer("d_ff", d_ff, 1)
        self.widen, self.narrow = nn.Linear(C, d_ff), nn.Linear(d_ff, C)

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., C)."""
        out: Tensor = self.narrow(nn.functional.relu(self.widen(x)))
        return out
