"""What training a decoder-only model holds in memory besides its texts: weights and their company, and kept activations.

For each number that is learned: the weight and its gradient, and Adam's two means; with weights narrower than 4 bytes a copy
of them in 4, on which updates add up (Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1: 16 bytes in all with weights
of 2). For each token and block, until its gradients are computed:

    around sublayers   4 d         input and output of both norms, whichever order they stand in; or what equals them
    norm statistics    2 x 2       mean and 1 / standard deviation
    attention                      see `kernels.costs.kept_bytes`; O, which W^O keeps, once
    ffn                f           behind the ReLU, which needs no more than its result

Left out: logits and embeddings, dropout's masks, buffers that live for one product, what an allocator adds; for gated FFNs
there is no formula here. With recomputed attention all of it grows with the number of tokens, with P kept one part grows with
the square of the length. Symbols as in `transformer.stage_costs`; sections 7.1, 7.4 and 7.5 of the course.
"""

from __future__ import annotations

from onesentence.checks import checked_integer
from onesentence.kernels.costs.kept_bytes import kept_bytes
from onesentence.kernels.costs.traffic import Widths
from onesentence.kernels.sizes import Sizes
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.stage_costs import DecoderSizes


def parameter_count(config: CausalConfig) -> int:
    """Return how many numbers a `CausalLM` learns.

    Args:
        config: sizes and design.

    Example:
        >>> parameter_count(CausalConfig(5, d_model=8, n_head=2, n_kv_head=1, d_ff=16))
        1064
    """
    weights = DecoderSizes.of(config).weights
    d, f, norm = config.d_model, config.d_ff, 2 * config.d_model
    biases = config.layers * (f + d)
    norms = (2 * config.layers + (1 if config.order == "pre" else 0)) * norm
    return sum(weights.values()) + (0 if config.tied else weights["head"]) + biases + norms


def state_bytes(parameters: int, *, s: int) -> dict[str, int]:
    """Return what weights take in training with Adam.

    Args:
        parameters: numbers that are learned.
        s: bytes of a weight and of its gradient.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> state_bytes(1000, s=2)
        {'weights': 2000, 'gradients': 2000, 'means': 8000, 'wide copy': 4000}
    """
    parameters, s = checked_integer("parameters", parameters, 1), checked_integer("s", s, 1)
    return {
        "weights": s * parameters,
        "gradients": s * parameters,
        "means": 2 * max(4, s) * parameters,
        "wide copy": 4 * parameters if s < 4 else 0,
    }


def block_kept_bytes(sizes: DecoderSizes, *, n: int, B: int, widths: Widths, way: str) -> dict[str, int]:
    """Return what one block keeps from its forward pass, by part.

    Args:
        sizes: of the model.
        n: tokens of each row.
        B: rows.
        widths: of numbers; those of norms are statistics.
        way: of attention, `naive` or `recomputed`.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1, there is no such way, or the FFN is gated.

    Example:
        >>> sizes = DecoderSizes(d=8, f=16, H=2, G=1, L=2, V=71)
        >>> block_kept_bytes(sizes, n=3, B=1, widths=Widths(), way="naive")
        {'around sublayers': 192, 'norm statistics': 48, 'ffn': 96, 'Q': 48, 'K': 24, 'V': 24, 'P': 36, 'O': 48}
    """
    tokens = checked_integer("B", B, 1) * checked_integer("n", n, 1)
    if sizes.ffn_matrices != 2:
        raise ValueError(f"sizes must have an FFN of 2 matrices, got {sizes.ffn_matrices}")
    attention = kept_bytes(Sizes(B, sizes.H, sizes.G, n, n, sizes.D), widths, way=way)
    return {
        "around sublayers": 4 * tokens * sizes.d * widths.element,
        "norm statistics": 4 * tokens * widths.statistic,
        "ffn": tokens * sizes.f * widths.element,
        **attention,
        "O": tokens * sizes.d * widths.element,
    }
