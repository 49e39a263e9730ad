"""What one decoding step multiplies: by formula, and counted while a model runs.

    attention    M (4 C^2 + 2 t C + 2 C^2 + 2 S C + 2 C F) + C V
                    self: W^Q W^K W^V W^O, scores and sum over t positions; source: W^Q W^O, scores and sum; FFN; output
    recurrent    4 H (d + H) + S H + S E + (H + E) H + H V
                    LSTM; scores; sum; W_c; output

One multiply-add is one multiplication in a matrix product. Left out, on both sides: additions of biases, norms, gates,
softmax, and what is computed once a sentence (the encoder, keys and values of the source). The t-th step of the attention
decoder reads t target positions, itself among them; the formula of the recurrent one has no t. This counts work and not
time. Symbols: `C`, `H` widths, `F` inside the FFN, `d` target embedding, `E` source states, `M` blocks, `S` source
length, `V` target vocabulary. Section 4.16 of the course.
"""

from __future__ import annotations

from copy import deepcopy
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray
from onesentence.seq2seq.reading import ReadingConfig
from onesentence.seq2seq.translator import Translator
from onesentence.transformer.config import TransformerConfig


def attention_step(config: TransformerConfig, *, t: int, S: int) -> dict[str, int]:
    """Return the multiply-adds of the t-th step, by part.

    Args:
        config: sizes; the decoder's are used.
        t: from 1; so many target positions are read by self-attention.
        S: source length.

    Raises:
        TypeError: if t or S is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> attention_step(TransformerConfig(5, 6, d_model=4, n_head=2, d_ff=8, decoder_layers=1), t=3, S=2)
        {'self_project': 64, 'self_read': 24, 'source_project': 32, 'source_read': 16, 'ffn': 64, 'output': 24}
    """
    t, S = checked_integer("t", t, 1), checked_integer("S", S, 1)
    C, M = config.d_model, config.decoder_layers
    cross = 1 if config.cross else 0
    return {
        "self_project": M * 4 * C * C,
        "self_read": M * 2 * t * C,
        "source_project": M * 2 * C * C * cross,
        "source_read": M * 2 * S * C * cross,
        "ffn": M * 2 * C * config.d_ff,
        "output": C * config.target_size,
    }


def recurrent_step(config: ReadingConfig, *, S: int) -> dict[str, int]:
    """Return the multiply-adds of any step of a reading LSTM decoder, by part.

    Args:
        config: sizes; an LSTM with the general scorer.
        S: source length.

    Raises:
        TypeError: if S is not an integer.
        ValueError: if it is less than 1, or the design another one.

    Example:
        >>> recurrent_step(ReadingConfig(5, 6, embedding=3, hidden=4), S=2)
        {'lstm': 112, 'source_read': 16, 'combine': 32, 'output': 24}
    """
    S = checked_integer("S", S, 1)
    if config.cell != "lstm" or config.scorer != "general":
        raise ValueError(
            f"config: expected an lstm with the general scorer, got {config.cell!r} with {config.scorer!r}"
        )
    H = config.hidden
    E = 2 * H if config.two_way else H
    return {
        "lstm": 4 * H * (config.embedding + H),
        "source_read": S * H + S * E,
        "combine": (H + E) * H,
        "output": H * config.target_size,
    }


@torch.no_grad()
def counted_step(model: Translator[Any, Any], *, t: int, S: int) -> int:
    """Run t steps on one sentence and count the multiply-adds of the last.

    Args:
        model: any translator; left as it is.
        t: from 1.
        S: source length.

    Raises:
        TypeError: if t or S is not an integer.
        ValueError: if one is less than 1.
    """
    t, S = checked_integer("t", t, 1), checked_integer("S", S, 1)
    model = deepcopy(model).double()  # an LSTM in float64 runs as matrix products, which the counter sees
    state, ids = model.start(np.zeros((1, S), dtype=np.int64)), np.zeros(1, dtype=np.int64)
    for _ in range(t - 1):
        _, state = model.step(ids, state)
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter:
        model.step(ids, state)
    return counter.get_total_flops() // 2


def step_times(model: Translator[Any, Any], *, S: int, steps: int, rounds: int) -> FloatArray:
    """Return how long each step of one sentence took on this machine, with the threads that PyTorch has now.

    Args:
        model: any translator; what it writes is not looked at.
        S: source length.
        steps: of decoding, each reading the same token.
        rounds: how often all of them are run, after one round that is not kept.

    Returns:
        Seconds, (rounds, steps).

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is less than 1.
    """
    numbers = (("S", S), ("steps", steps), ("rounds", rounds))
    S, steps, rounds = (checked_integer(name, number, 1) for name, number in numbers)
    ids, source = np.zeros(1, dtype=np.int64), np.zeros((1, S), dtype=np.int64)
    seconds = np.empty((rounds + 1, steps))
    for row in seconds:
        state = model.start(source)
        for t in range(steps):
            begin = perf_counter()
            _, state = model.step(ids, state)
            row[t] = perf_counter() - begin
    return seconds[1:]
