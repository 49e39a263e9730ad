"""What one layer costs for n positions of width C, by formula: attention, recurrence, convolution.

                 own products     products between positions    longest chain    layers from first to last
    attention    4 n C^2          2 n^2 C                       4                1
    recurrence   g n C^2          g n C^2                       n                n (steps inside the layer)
    convolution  n C^2            (k - 1) n C^2                 1                not within one layer, where n > k

Own products take a position's own input only (projections; the tap of a kernel on its own position); the others carry
something from one position to another. A product is one multiplication inside a matrix product; softmax, tanh, scale,
biases and elementwise gates are left out. The longest chain counts products that have to wait for each other. Heads do
not appear: H heads of width C / H take as many products as one of width C. g is 1 for a tanh RNN, 3 for a GRU, 4 for an
LSTM. A kernel reads its own position and those before it, and reads zeros before the first, which count.

`transformer.counted_layers` counts the same on numbers that know what was done to them. Vaswani et al. 2017
(arXiv:1706.03762), section 4 and table 1, gives the orders of the products between positions and, for convolution, of
all; it takes layers of equal width, and the number of layers up to constants. Section 4.1 of the course.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onesentence.checks import checked_integer


@dataclass(frozen=True)
class LayerCost:
    """What one layer takes for one sequence.

    Attributes:
        own: products that take a position's own input only.
        between: products that carry something between positions.
        chain: the largest number of products that have to wait for each other.
    """

    own: int
    between: int
    chain: int

    @property
    def products(self) -> int:
        """All products."""
        return self.own + self.between


def attention_cost(n: int, C: int, *, keys: int | None = None, kv_width: int | None = None) -> LayerCost:
    """Return the cost of self-attention with W^Q, W^K, W^V, W^O, every position reading all.

    Args:
        n: positions.
        C: width.
        keys: positions that are read, those of a cache among them; None means n.
        kv_width: width of all key heads together; None means C, as many as query heads.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> attention_cost(9, 8)
        LayerCost(own=2304, between=1296, chain=4)
        >>> attention_cost(1, 8, keys=9)
        LayerCost(own=256, between=144, chain=4)
    """
    n, C = checked_integer("n", n, 1), checked_integer("C", C, 1)
    keys = n if keys is None else checked_integer("keys", keys, 1)
    kv_width = C if kv_width is None else checked_integer("kv_width", kv_width, 1)
    return LayerCost(own=2 * n * C * (C + kv_width), between=2 * n * keys * C, chain=4)


def recurrent_cost(n: int, C: int, *, gates: int = 1) -> LayerCost:
    """Return the cost of a recurrent layer in one direction, input and state both of width C.

    Args:
        n: positions.
        C: width.
        gates: g, pairs of matrices: 1 of a tanh RNN, 3 of a GRU, 4 of an LSTM.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> recurrent_cost(9, 8, gates=4)
        LayerCost(own=2304, between=2304, chain=9)
    """
    n, C, g = checked_integer("n", n, 1), checked_integer("C", C, 1), checked_integer("gates", gates, 1)
    return LayerCost(own=g * n * C * C, between=g * n * C * C, chain=n)


def convolution_cost(n: int, C: int, *, k: int) -> LayerCost:
    """Return the cost of a convolution with k taps, from width C to width C; dilation does not change it.

    Args:
        n: positions.
        C: width.
        k: taps of the kernel.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> convolution_cost(9, 8, k=3)
        LayerCost(own=576, between=1152, chain=1)
    """
    n, C, k = checked_integer("n", n, 1), checked_integer("C", C, 1), checked_integer("k", k, 1)
    return LayerCost(own=n * C * C, between=(k - 1) * n * C * C, chain=1)


def stacked_layers(n: int, k: int) -> int:
    """Return how many convolutions with k adjacent taps carry the first of n positions to the last.

    Args:
        n: positions.
        k: taps, at least 2.

    Returns:
        The smallest L with L (k - 1) + 1 >= n; 1 at least, since one layer is there.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if n is less than 1 or k less than 2.

    Example:
        >>> stacked_layers(9, 3)
        4
    """
    n, k = checked_integer("n", n, 1), checked_integer("k", k, 2)
    return max(1, -(-(n - 1) // (k - 1)))


def dilated_layers(n: int, k: int) -> int:
    """Return how many convolutions with k taps, 1, k, k^2, ... apart, carry the first of n positions to the last.

    Args:
        n: positions.
        k: taps, at least 2.

    Returns:
        The smallest L with k^L >= n; 1 at least.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if n is less than 1 or k less than 2.

    Example:
        >>> dilated_layers(9, 3), dilated_layers(10, 3)
        (2, 3)
    """
    n, k = checked_integer("n", n, 1), checked_integer("k", k, 2)
    layers, reach = 1, k
    while reach < n:
        layers, reach = layers + 1, reach * k
    return layers


def compared(n: int, C: int) -> dict[str, int]:
    """Return the products of the layers side by side, as pages draw them.

    Args:
        n: positions.
        C: width.

    Returns:
        Counts by name: attention, attention between, recurrence, recurrence between, LSTM, and convolution, of 3 taps.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> compared(9, 8)["attention"], compared(9, 8)["LSTM"]
        (3600, 4608)
    """
    attention, recurrence = attention_cost(n, C), recurrent_cost(n, C)
    return {
        "attention": attention.products,
        "attention between": attention.between,
        "recurrence": recurrence.products,
        "recurrence between": recurrence.between,
        "LSTM": recurrent_cost(n, C, gates=4).products,
        "convolution": convolution_cost(n, C, k=3).products,
    }


def first_above(dear: Callable[[int], int], cheap: Callable[[int], int], limit: int) -> int | None:
    """Return the smallest size from 1 to the limit at which one cost exceeds another and none below does.

    Args:
        dear: cost by size; once above, it has to stay above.
        cheap: cost by size.
        limit: the largest size that is tried.

    Returns:
        The size, or None if `dear` is not above at the limit.

    Raises:
        TypeError: if the limit is not an integer.
        ValueError: if it is less than 1.

    Example:
        >>> first_above(lambda n: n * n, lambda n: 10 * n, 100)
        11
    """
    low, high = 1, checked_integer("limit", limit, 1)
    if dear(high) <= cheap(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if dear(middle) > cheap(middle) else (middle + 1, high)
    return low
