"""The reading translator again, in NumPy, one step after another, to be read: same formulas and numbers as `reading`.

One sentence without padding; the cells are those of `onesentence.recurrent`, a general score is a dot product with the
projected states, so that the step is `attention.read.read`. Section 3.3 of the course, with trained parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.read import read
from onesentence.checks import Ids, as_ids
from onesentence.numerics import FloatArray, softmax
from onesentence.recurrent.cell import State
from onesentence.recurrent.lstm import LSTM
from onesentence.seq2seq.encoders import Encoder
from onesentence.seq2seq.reading import Reading


def teaching_run(model: Reading, source: ArrayLike, inputs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return logits and weights of one sentence with the true history given.

    Args:
        model: a translator of LSTMs, whose parameters are read.
        source: ids, (S,).
        inputs: BOS and the target without EOS, (T,).

    Returns:
        Logits (T, V) and weights (T, S).

    Raises:
        TypeError: if ids are no integers, or the source is read by other layers, as in `transformer.hybrid`.
        ValueError: if the translator's cells are not LSTMs, a text is empty, or an id lies outside its vocabulary.

    Example:
        >>> from onesentence.seq2seq.reading import ReadingConfig
        >>> model = Reading.initial(ReadingConfig(5, 6, embedding=4, hidden=4), seed=0)
        >>> logits, weights = teaching_run(model, [1, 2, 3], [0, 4])
        >>> logits.shape, weights.shape
        ((2, 6), (2, 3))
    """
    if model.config.cell != "lstm":
        raise ValueError(f"model must have lstm cells, got {model.config.cell}")
    w = {name: value.detach().numpy() for name, value in model.named_parameters()}
    units = as_ids("source", source, model.config.source_size)
    history = as_ids("inputs", inputs, model.config.target_size)
    for name, ids in (("source", units), ("inputs", history)):
        if ids.ndim != 1 or not ids.size:
            raise ValueError(f"{name} must be one sentence of at least one id, got shape {ids.shape}")
    h, c_src = _encoded(model, units)
    decoder, H = LSTM.from_torch(model.decoder), model.config.hidden  # type: ignore[arg-type]
    s0 = np.tanh(c_src @ w["bridge.weight"].T + w["bridge.bias"])  # g(c_src)
    state: State = (s0[:H], s0[H:])
    keys = h @ w["key.weight"].T
    logits, weights = [], []
    for y in history:
        state = decoder.step(w["embedding.weight"][y], state)
        s = state[0]
        if model.config.scorer == "general":
            r = read(s, keys, h)
            alpha, c = r.weights, r.context
        else:
            alpha = softmax(np.tanh(s @ w["query.weight"].T + keys) @ w["v.weight"][0])
            c = alpha @ h
        told = np.tanh(np.concatenate([s, c]) @ w["combine.weight"].T)
        row = told @ w["output.linear.weight"].T + w["output.linear.bias"]
        logits.append(np.where(model.output.may_come.numpy(), row, -np.inf))
        weights.append(alpha)
    return np.stack(logits), np.stack(weights)


def _encoded(model: Reading, source: Ids) -> tuple[FloatArray, FloatArray]:
    """Return the source states (S, E) and c_src (E,)."""
    if not isinstance(model.encoder, Encoder):
        raise TypeError(
            f"model: expected recurrent layers over the source, got {type(model.encoder).__name__}"
        )
    x = model.encoder.embedding.weight.detach().numpy()[source]
    layers = model.encoder.layers
    forth = LSTM.from_torch(layers.forth).run(x).h  # type: ignore[arg-type]
    if layers.back is None:
        return forth, forth[-1]
    back = LSTM.from_torch(layers.back).run(x[::-1]).h[::-1]  # type: ignore[arg-type]
    return np.concatenate([forth, back], axis=-1), np.concatenate([forth[-1], back[0]])
