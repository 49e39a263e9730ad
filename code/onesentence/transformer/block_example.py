"""The block of sections 4.8 to 4.10 of the course: three positions, width 4, two heads of 2, FFN 4 -> 6 -> 4.

The numbers are set by hand and nothing of them was trained. Head 1 asks and matches with the first two features and
reads the last two; head 2 asks with the last two, matches with the first two exchanged, and reads the first two. W^O
makes (a + c, b + d, a - c, b - d) of the joined heads (a, b, c, d). Biases are 0, norms have scale 1 and shift 0.
"""

from __future__ import annotations

import numpy as np

from onesentence.attention.multi_head import MultiHead
from onesentence.numerics import FloatArray
from onesentence.transformer.teaching import TeachingBlock

POSITIONS = ("我", "给", "书")
"""What the three rows stand for."""


def inputs() -> FloatArray:
    """Return X, (3, 4).

    Example:
        >>> inputs()[0].tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    return np.array([[1.0, 0, 1, 0], [0, 1, 0, 2], [1, 1, 0, 1]])


def block() -> TeachingBlock:
    """Return the block.

    Example:
        >>> block()(inputs()).attention.heads[0, 0].round(6).tolist()
        [0.401112, 0.796664]
    """
    front, back = np.eye(4)[:, :2], np.eye(4)[:, 2:]  # picks features 1, 2 or 3, 4
    heads = MultiHead(
        w_q=np.stack([front, back]),
        w_k=np.stack([front, front[:, ::-1]]),
        w_v=np.stack([back, front]),
        w_o=np.kron(np.array([[1.0, 1], [1, -1]]), np.eye(2)),
    )
    differences = np.array([[1.0, -1], [-1, 1], [0, 0], [0, 0]])  # of the first two features, both signs
    back_again = np.array([[0.0, 0, 0.25, 0], [0, 0, 0, 0.25]])
    return TeachingBlock(
        heads,
        w_1=np.hstack([np.eye(4), differences]),  # (4, 6)
        w_2=np.vstack([np.eye(4) / 2, back_again]),  # (6, 4)
    )
