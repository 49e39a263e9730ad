"""What attention multiplies, forward and backward, by formula.

A MAC is one multiplication together with its addition inside a matrix product; a FLOP count here is two for each MAC and
nothing else. Each product of attention takes D MACs for each pair of a query and a key, in each of the H query heads:

    forward                     scores = Q K^T,  O = P V                                        2 products
    backward, P kept            dV = P^T dO,  dP = dO V^T,  dQ = dS K,  dK = dS^T Q             4
    backward, recomputed        the same and the scores once more                               5
    backward in two passes      one for dK and dV (scores, dP, dV, dK), one for dQ (scores, dP, dQ)   7

Keys shared by a group of query heads change none of these: every query head multiplies. `softmax` is no matrix product;
its exponentials are counted apart, in `exponentials`, and its additions, maxima, divisions, the scale, and the rescaling
of sums (an elementwise product) are left out.

`causal` counts the pairs that may be read, or, with tiles, the cells of the tiles that a blocked algorithm visits. The
naive version computes the whole table and masks it afterwards: its cost is the one without `causal`. Published TFLOP/s
halve the count for causal attention instead (Dao 2023, section 4.1), which is the limit for long T = S.

Symbols as in `kernels.sizes`. Dao et al. 2022 (arXiv:2205.14135), algorithms 0 to 4; Dao 2023 (arXiv:2307.08691),
algorithms 1 and 2; sections 7.3 and 7.5 of the course. `kernels.costs.counted` counts the same while the algorithms run.
"""

from __future__ import annotations

from onesentence.checks import checked_choice, checked_integer
from onesentence.kernels.costs.tiles import Tiles, pairs, queries_visited, tiled_pairs
from onesentence.kernels.sizes import Sizes

FORWARD = ("scores", "O")
"""Products of the forward pass."""

BACKWARD = {
    "kept": ("dV", "dP", "dQ", "dK"),
    "recomputed": ("scores", "dV", "dP", "dQ", "dK"),
    "two passes": ("scores", "dP", "dV", "dK", "scores again", "dP again", "dQ"),
}
"""Products of the backward pass, by what it does."""

WAYS = ("naive", "flash1", "flash2")
"""Algorithms of the forward pass: the table written out, FlashAttention's loops of 2022 and of 2023."""


def checked_read(sizes: Sizes) -> Sizes:
    """Return sizes after checking that there is such a read.

    Args:
        sizes: of the read; `kernels.sizes.sizes_of` finds them in arrays.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1, or H no multiple of G.

    Example:
        >>> checked_read(Sizes(B=1, H=4, G=3, T=2, S=2, D=8))
        Traceback (most recent call last):
        ValueError: H must be a multiple of G = 3, got 4
    """
    for name in ("B", "H", "G", "T", "S", "D"):
        checked_integer(name, getattr(sizes, name), 1)
    if sizes.H % sizes.G:
        raise ValueError(f"H must be a multiple of G = {sizes.G}, got {sizes.H}")
    return sizes


def flops(macs: int) -> int:
    """Return the FLOPs of so many MACs: two for each.

    Raises:
        TypeError: if it is not an integer.
        ValueError: if it is negative.
    """
    return 2 * checked_integer("macs", macs, 0)


def product_macs(sizes: Sizes, *, causal: bool = False, tiles: Tiles | None = None) -> int:
    """Return the MACs of one product between queries and keys.

    Args:
        sizes: of the read.
        causal: pairs behind the mask do not count.
        tiles: count all cells of visited tiles instead.

    Raises:
        TypeError, ValueError: as `checked_read`.

    Example:
        >>> product_macs(Sizes(B=1, H=2, G=1, T=3, S=3, D=4), causal=True)
        48
    """
    B, H, T, S, D = (getattr(checked_read(sizes), name) for name in "BHTSD")
    cells = pairs(T, S, causal=causal) if tiles is None else tiled_pairs(T, S, tiles, causal=causal)
    return int(B * H * D * cells)


def forward_macs(sizes: Sizes, *, causal: bool = False, tiles: Tiles | None = None) -> dict[str, int]:
    """Return the MACs of the forward pass, by product.

    Args:
        sizes: of the read.
        causal: pairs behind the mask do not count.
        tiles: count all cells of visited tiles instead.

    Raises:
        TypeError, ValueError: as `checked_read`.

    Example:
        >>> forward_macs(Sizes(B=1, H=2, G=2, T=7, S=7, D=4))
        {'scores': 392, 'O': 392}
    """
    return dict.fromkeys(FORWARD, product_macs(sizes, causal=causal, tiles=tiles))


def backward_macs(
    sizes: Sizes, *, way: str = "recomputed", causal: bool = False, tiles: Tiles | None = None
) -> dict[str, int]:
    """Return the MACs of the backward pass, by product.

    Args:
        sizes: of the read.
        way: `kept` (P was kept), `recomputed`, or `two passes`.
        causal: pairs behind the mask do not count.
        tiles: count all cells of visited tiles instead.

    Raises:
        TypeError, ValueError: as `checked_read`.
        ValueError: if there is no such way.

    Example:
        >>> sizes = Sizes(B=1, H=2, G=2, T=7, S=7, D=4)
        >>> [sum(backward_macs(sizes, way=way).values()) // 392 for way in BACKWARD]
        [4, 5, 7]
    """
    checked_choice("way", way, tuple(BACKWARD))
    return dict.fromkeys(BACKWARD[way], product_macs(sizes, causal=causal, tiles=tiles))


def exponentials(
    sizes: Sizes, *, way: str, causal: bool = False, tiles: Tiles | None = None
) -> dict[str, int]:
    """Return how many exponentials the forward pass takes, by use.

    A blocked pass takes one for each computed score and, for each query and visited tile, one that rescales the old sums
    (`flash2`) or two, of old and new part (`flash1`). The naive pass takes one for each cell of the table, the masked too.

    Args:
        sizes: of the read.
        way: `naive`, `flash1` or `flash2`.
        causal: tiles that nobody may read are skipped.
        tiles: sizes of a tile; the naive way has none.

    Raises:
        TypeError, ValueError: as `checked_read`.
        ValueError: if there is no such way, or tiles are missing or not asked for.

    Example:
        >>> sizes = Sizes(B=1, H=1, G=1, T=8, S=8, D=4)
        >>> exponentials(sizes, way="naive"), exponentials(sizes, way="flash2", tiles=Tiles(2, 3), causal=True)
        ({'scores': 64}, {'scores': 46, 'rescaling': 16})
    """
    checked_choice("way", way, WAYS)
    heads = checked_read(sizes).B * sizes.H
    if (tiles is None) != (way == "naive"):
        raise ValueError(f"tiles must be given for flash1 and flash2 only, got {tiles} for {way}")
    if tiles is None:
        return {"scores": heads * sizes.T * sizes.S}
    visits = sum(queries_visited(sizes.T, sizes.S, tiles, causal=causal))
    return {
        "scores": heads * tiled_pairs(sizes.T, sizes.S, tiles, causal=causal),
        "rescaling": heads * visits * (2 if way == "flash1" else 1),
    }
