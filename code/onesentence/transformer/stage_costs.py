"""What prefill and decode of a decoder-only model multiply and move: by formula, and counted while a model runs.

Multiply-adds of one layer and one row (a FLOP count is two for each):

                  prefill of n tokens       the token that reads t keys, itself among them
    projections   2 n d (d + G D)           2 d (d + G D)           W^Q, W^O; W^K, W^V.   G = H: 4 n d^2, 4 d^2
    ffn           2 n d f                   2 d f                   3 matrices if it is gated
    attention     2 n^2 d                   2 t d                   scores and sum, the whole table

and d V for each token whose logits are computed: prefill needs those of the last one only. With tokens in a cache already,
n new ones read p + n: decode is n = 1. Half of the table of a prefill lies behind the mask: `causal` counts pairs that may be
read, 2 d (n p + n (n + 1) / 2). A cache saves the projections, FFN and reads of old tokens; those of the new one remain.

Bytes of one decode step of B rows: every weight once, whatever B is, and the keys and values of each row; so arithmetic
per byte grows with B until keys and values outweigh the weights. Left out, on both sides: norms, biases, softmax, RoPE,
activations (a few rows of width d), the row of the embedding table, and, of the traffic, what attention writes down for
itself (`kernels.costs.traffic`).

Symbols: `d` width, `H` query heads, `G` key heads, `D` = d / H, `f` inside the FFN, `L` layers, `V` vocabulary, `B` rows.
Pope et al. 2022 (arXiv:2211.05102), section 2; section 7.3 of the course. `layer_costs` and `step_cost` are their
like for chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from onesentence.cache.growing import GrowingCache
from onesentence.checks import checked_integer
from onesentence.kernels.costs.kv_bytes import kv_bytes
from onesentence.kernels.costs.products import flops
from onesentence.kernels.costs.roofline import Work
from onesentence.kernels.costs.tiles import pairs
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.layer_costs import attention_cost


@dataclass(frozen=True)
class DecoderSizes:
    """Sizes of a decoder-only model.

    Attributes:
        d: width.
        f: width inside the FFN.
        H: query heads, a divisor of d.
        G: key heads, a divisor of H.
        L: layers.
        V: vocabulary.
        ffn_matrices: 2, or 3 if the FFN is gated.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1, or does not divide.
    """

    d: int
    f: int
    H: int
    G: int
    L: int
    V: int
    ffn_matrices: int = 2

    def __post_init__(self) -> None:
        for name in ("d", "f", "H", "G", "L", "V", "ffn_matrices"):
            checked_integer(name, getattr(self, name), 1)
        for name, other in (("d", "H"), ("H", "G")):
            if getattr(self, name) % getattr(self, other):
                raise ValueError(
                    f"{name} must be a multiple of {other} = {getattr(self, other)}, got {getattr(self, name)}"
                )

    @classmethod
    def of(cls, config: CausalConfig) -> DecoderSizes:
        """Return the sizes of a `CausalLM`.

        Example:
            >>> DecoderSizes.of(CausalConfig(5, d_model=8, n_head=2, n_kv_head=1, d_ff=16))
            DecoderSizes(d=8, f=16, H=2, G=1, L=2, V=5, ffn_matrices=2)
        """
        return cls(
            config.d_model, config.d_ff, config.n_head, config.key_heads, config.layers, config.vocabulary
        )

    @property
    def D(self) -> int:
        """Head size."""
        return self.d // self.H

    @property
    def weights(self) -> dict[str, int]:
        """Numbers in the matrices that each step reads, by part, all layers together; no embedding, bias or norm."""
        return {
            "projections": self.L * 2 * self.d * (self.d + self.G * self.D),
            "ffn": self.L * self.ffn_matrices * self.d * self.f,
            "head": self.d * self.V,
        }


def layer_macs(sizes: DecoderSizes, n: int, *, past: int = 0, causal: bool = False) -> dict[str, int]:
    """Return the multiply-adds of one layer for one row, by part.

    Args:
        sizes: of the model.
        n: new tokens.
        past: tokens that a cache holds already.
        causal: count only pairs that may be read, not the whole table.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if n is less than 1 or `past` negative.

    Example:
        >>> sizes = DecoderSizes(d=8, f=16, H=2, G=2, L=2, V=71)
        >>> layer_macs(sizes, 7)
        {'projections': 1792, 'ffn': 1792, 'attention': 784}
        >>> layer_macs(sizes, 7, causal=True)["attention"]
        448
    """
    n, past = checked_integer("n", n, 1), checked_integer("past", past, 0)
    cost = attention_cost(n, sizes.d, keys=past + n, kv_width=sizes.G * sizes.D)
    return {
        "projections": cost.own,
        "ffn": sizes.ffn_matrices * n * sizes.d * sizes.f,
        "attention": 2 * sizes.d * pairs(n, past + n, causal=True) if causal else cost.between,
    }


def decode_macs(sizes: DecoderSizes, t: int) -> dict[str, int]:
    """Return the multiply-adds of one layer for one new token of one row.

    Args:
        sizes: of the model.
        t: keys that it reads, its own among them; with a window of W tokens, the smaller of t and W.

    Raises:
        TypeError: if t is not an integer.
        ValueError: if it is less than 1.

    Example:
        >>> decode_macs(DecoderSizes(d=8, f=16, H=2, G=2, L=2, V=71), 9)
        {'projections': 256, 'ffn': 256, 'attention': 144}
    """
    return layer_macs(sizes, 1, past=checked_integer("t", t, 1) - 1)


def head_macs(sizes: DecoderSizes, tokens: int = 1) -> int:
    """Return the multiply-adds of the logits.

    Args:
        sizes: of the model.
        tokens: whose logits are computed.

    Raises:
        TypeError: if the number is not an integer.
        ValueError: if it is less than 1.

    Example:
        >>> head_macs(DecoderSizes(d=8, f=16, H=2, G=2, L=2, V=71))
        568
    """
    return checked_integer("tokens", tokens, 1) * sizes.d * sizes.V


def model_macs(sizes: DecoderSizes, n: int, *, past: int = 0, logits: int | None = None) -> int:
    """Return the multiply-adds of a pass over n new tokens of one row, all layers and the head, whole tables.

    Args:
        sizes: of the model.
        n: new tokens.
        past: tokens that a cache holds already.
        logits: tokens whose logits are computed; None means all new ones, as `CausalLM` does.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if it is out of range.

    Example:
        >>> model_macs(DecoderSizes(d=8, f=16, H=2, G=2, L=2, V=71), 1, past=8)
        1880
    """
    layer = sum(layer_macs(sizes, n, past=past).values())
    return sizes.L * layer + head_macs(sizes, n if logits is None else logits)


@torch.no_grad()
def counted_macs(model: CausalLM, n: int, *, past: int = 0) -> int:
    """Run a pass over n new tokens on top of a cache and count its multiply-adds.

    Args:
        model: without a window and without dropout; it is left as it is.
        n: new tokens.
        past: tokens that are put into the cache before counting.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if n is less than 1 or `past` negative, or the model cannot use such a cache.
    """
    n, past = checked_integer("n", n, 1), checked_integer("past", past, 0)
    cache, device = GrowingCache(model.cache_sizes(1)), model.tokens.weight.device
    if past:
        model.extend(torch.zeros(1, past, dtype=torch.int64, device=device), cache)
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter:
        model.extend(torch.zeros(1, n, dtype=torch.int64, device=device), cache)
    return counter.get_total_flops() // 2


def step_bytes(sizes: DecoderSizes, *, t: int, B: int, s: int) -> dict[str, int]:
    """Return the bytes that one decode step of B rows moves: read, but for the last.

    Args:
        sizes: of the model.
        t: keys that each row reads, its new one among them.
        B: rows.
        s: bytes of one number, weights and cache alike.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> step_bytes(DecoderSizes(d=8, f=16, H=2, G=1, L=2, V=71), t=9, B=3, s=2)
        {'weights': 2928, 'keys and values': 864, 'new keys and values': 96}
    """
    own = {"L": sizes.L, "G": sizes.G, "D": sizes.D, "s": s, "B": B}
    return {
        "weights": sum(sizes.weights.values()) * checked_integer("s", s, 1),
        "keys and values": kv_bytes(n=checked_integer("t", t, 1), **own),
        "new keys and values": kv_bytes(n=1, **own),
    }


def step_work(sizes: DecoderSizes, *, t: int, B: int, s: int) -> Work:
    """Return what one decode step of B rows takes; `.intensity` is its arithmetic per byte.

    Args:
        sizes: of the model.
        t: keys that each row reads, its new one among them.
        B: rows.
        s: bytes of one number.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> step_work(DecoderSizes(d=8, f=16, H=2, G=1, L=2, V=71), t=9, B=3, s=2)
        Work(flops=10512, bytes=3888)
    """
    macs = checked_integer("B", B, 1) * model_macs(sizes, 1, past=checked_integer("t", t, 1) - 1)
    return Work(flops(macs), sum(step_bytes(sizes, t=t, B=B, s=s).values()))


def prefill_work(sizes: DecoderSizes, *, n: int, B: int, s: int) -> Work:
    """Return what a prefill of B rows takes at least: pairs that may be read, weights once, keys and values written.

    Args:
        sizes: of the model.
        n: tokens of each row.
        B: rows.
        s: bytes of one number.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> prefill_work(DecoderSizes(d=8, f=16, H=2, G=1, L=2, V=71), n=9, B=1, s=2).bytes
        3216
    """
    layer = sum(layer_macs(sizes, n, causal=True).values())
    macs = checked_integer("B", B, 1) * (sizes.L * layer + head_macs(sizes))
    weights = sum(sizes.weights.values()) * checked_integer("s", s, 1)
    return Work(flops(macs), weights + kv_bytes(L=sizes.L, n=n, G=sizes.G, D=sizes.D, s=s, B=B))
