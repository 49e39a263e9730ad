"""Bytes that attention keeps from its forward pass until its gradients are computed, by formula.

    naive         Q, K, V and the table P (B, H, T, S)
    recomputed    Q, K, V, O and L (B, H, T)

So the first grows with T S, the second with T + S. O is what the following projection keeps anyway, so that a block pays for
it once (`transformer.training_bytes`). Masks, dropout and what a framework keeps beyond need are left out: the naive version
as it is written in `kernels.reference` also keeps its scores, for the log-sum-exp that it returns.

Symbols as in `kernels.sizes`. Dao et al. 2022 (arXiv:2205.14135), section 3.1 (recomputation) and algorithm 0; sections 7.4
and 7.5 of the course.
"""

from __future__ import annotations

from onesentence.checks import checked_choice
from onesentence.kernels.costs.products import checked_read
from onesentence.kernels.costs.traffic import Widths
from onesentence.kernels.sizes import Sizes

WAYS = ("naive", "recomputed")
"""What the backward pass takes up."""


def kept_bytes(sizes: Sizes, widths: Widths, *, way: str) -> dict[str, int]:
    """Return what one layer's attention keeps, by array.

    Args:
        sizes: of the read.
        widths: of numbers.
        way: `naive` or `recomputed`.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.
        ValueError: if there is no such way.

    Example:
        >>> sizes = Sizes(B=1, H=2, G=1, T=4, S=4, D=3)
        >>> kept_bytes(sizes, Widths(), way="naive"), kept_bytes(sizes, Widths(), way="recomputed")
        ({'Q': 48, 'K': 24, 'V': 24, 'P': 64}, {'Q': 48, 'K': 24, 'V': 24, 'O': 48, 'L': 32})
    """
    checked_choice("way", way, WAYS)
    B, H, G, T, S, D = (getattr(checked_read(sizes), name) for name in "BHGTSD")
    queries, keys = B * H * T * D * widths.element, B * G * S * D * widths.element
    kept = {"Q": queries, "K": keys, "V": keys}
    if way == "naive":
        return kept | {"P": B * H * T * S * widths.element}
    return kept | {"O": queries, "L": B * H * T * widths.statistic}
