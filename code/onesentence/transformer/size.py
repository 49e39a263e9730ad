"""How many numbers a Transformer learns, counted by formula and by part.

    one attention      4 C^2 + 4 C            W^Q, W^K, W^V, W^O and their biases, whatever H is
    one FFN            2 C F + F + C
    one LayerNorm      2 C
    encoder block      attention + FFN + 2 norms
    decoder block      2 attentions + FFN + 3 norms
    embeddings         source C * V_s, target C * V_t; the output matrix is the target's again

Symbols: `C` width, `F` width inside the FFN, `V_s`, `V_t` vocabularies. Sections 4.11 and 4.14 of the course.
"""

from __future__ import annotations

from onesentence.checks import checked_integer
from onesentence.transformer.config import TransformerConfig


def parameters_by_part(config: TransformerConfig) -> dict[str, int]:
    """Return how many numbers each kind of part holds, all blocks together.

    Args:
        config: sizes and design.

    Returns:
        Counts by name: embeddings, positions, encoder_attention, encoder_ffn, decoder_attention, cross_attention,
        decoder_ffn, norms.

    Example:
        >>> parts = parameters_by_part(TransformerConfig(10, 12, d_model=8, n_head=2, d_ff=16))
        >>> parts["embeddings"], parts["encoder_attention"]
        (176, 576)
    """
    C, F = config.d_model, config.d_ff
    N, M = config.encoder_layers, config.decoder_layers
    attention, ffn = 4 * C * C + 4 * C, 2 * C * F + F + C
    norms = 2 * N + (3 if config.cross else 2) * M + (2 if config.order == "pre" else 0)
    return {
        "embeddings": C * (config.source_size + config.target_size),
        "positions": 2 * C * config.longest if config.positions == "learned" else 0,
        "encoder_attention": N * attention,
        "encoder_ffn": N * ffn,
        "decoder_attention": M * attention,
        "cross_attention": M * attention if config.cross else 0,
        "decoder_ffn": M * ffn,
        "norms": norms * 2 * C,
    }


def parameter_count(config: TransformerConfig, *, shared: bool = False) -> int:
    """Return how many numbers a translator learns.

    Args:
        config: sizes and design.
        shared: whether source and target have one vocabulary and one table, as in 2017.

    Raises:
        ValueError: if a table is to be shared by vocabularies of different sizes.
    """
    if shared and config.source_size != config.target_size:
        raise ValueError(
            f"shared: one table needs one vocabulary, got sizes {config.source_size} and {config.target_size}"
        )
    total = sum(parameters_by_part(config).values())
    return total - config.d_model * config.source_size if shared else total


def dimension_ledger(config: TransformerConfig, *, n: int, m: int) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return the shapes that one pass goes through, one sentence, batch left out.

    Args:
        config: sizes and design.
        n: source length, tokens.
        m: target input length, tokens.

    Returns:
        Rows (side, quantity, shape), in the order of the computation.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if one is less than 1.
    """
    n, m = checked_integer("n", n, 1), checked_integer("m", m, 1)
    C, H, F, V = config.d_model, config.n_head, config.d_ff, config.target_size
    D = C // H
    rows: list[tuple[str, str, tuple[int, ...]]] = [
        ("encoder", "X", (n, C)),
        ("encoder", "Q, K, V", (H, n, D)),
        ("encoder", "scores", (H, n, n)),
        ("encoder", "heads", (H, n, D)),
        ("encoder", "W_O", (C, C)),
        ("encoder", "FFN hidden", (n, F)),
        ("encoder", "memory", (n, C)),
        ("decoder", "X", (m, C)),
        ("decoder", "self scores", (H, m, m)),
    ]
    if config.cross:
        rows += [
            ("decoder", "cross Q", (H, m, D)),
            ("decoder", "cross K, V", (H, n, D)),
            ("decoder", "cross scores", (H, m, n)),
        ]
    return [*rows, ("decoder", "FFN hidden", (m, F)), ("decoder", "logits", (m, V))]
