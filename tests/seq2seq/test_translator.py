"""What holds for every translator: batches, generation, causality, seeds, refusals; also for one with a cache."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from onesentence.experiments.reading_translator import ReadingTranslator, Sizes
from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader
from onesentence.seq2seq.translator import Translator

PAD, BOS, EOS = 0, 1, 2
SOURCES = ([3, 4, 5, 6], [7], [8, 3, 3])
INPUTS = ([BOS, 5, 6], [BOS, 3, 3, 8, 4], [BOS])


@dataclass(frozen=True)
class CachedConfig:
    source_size: int = 9
    target_size: int = 9
    width: int = 6


@dataclass(frozen=True, eq=False)
class CachedState:
    memory: Tensor
    mask: Tensor
    cache: Tensor

    @property
    def rows(self) -> int:
        return len(self.memory)


class Cached(Translator[CachedConfig, CachedState]):
    """One attention over the source and all that was read: no recurrence, a cache that grows by T with each call."""

    def __init__(self, config: CachedConfig) -> None:
        super().__init__(config)
        self.source = nn.Embedding(config.source_size, config.width)
        self.target = nn.Embedding(config.target_size, config.width)
        self.output = nn.Linear(config.width, config.target_size)

    def first_state(self, source: Tensor, mask: Tensor) -> CachedState:
        memory = self.source(source)
        return CachedState(memory, mask, memory[:, :0])

    def decode(self, inputs: Tensor, state: CachedState) -> tuple[Tensor, CachedState]:
        q = self.target(inputs)
        cache = torch.cat([state.cache, q], dim=1)
        read, T = torch.cat([state.memory, cache], dim=1), q.shape[1]
        seen = torch.ones(T, cache.shape[1], dtype=torch.bool).tril(cache.shape[1] - T)
        may = torch.cat([state.mask[:, None].expand(-1, T, -1), seen[None].expand(len(q), -1, -1)], dim=-1)
        weights = (q @ read.mT).masked_fill(~may, -torch.inf).softmax(dim=-1)
        return self.output(q + weights @ read), replace(state, cache=cache)


FIXED, READING = (kind(9, 9, embedding=5, hidden=6) for kind in (FixedSummaryConfig, ReadingConfig))
READER = ReaderConfig("fixed", vocabulary=9, embedding=5, encoder=3, hidden=6)
DESIGNS = {
    "cached": (Cached, CachedConfig()),
    **{
        f"fixed-{cell}-{way}": (FixedSummary, replace(FIXED, cell=cell, interface=way))
        for cell in ("rnn", "gru", "lstm")
        for way in ("initial", "inject")
    },
    **{
        f"reading-{scorer}-{two_way}": (Reading, replace(READING, scorer=scorer, two_way=two_way))
        for scorer in ("general", "additive")
        for two_way in (False, True)
    },
    "positions": (ReadingTranslator, Sizes(9, 9, 6)),
    "reader-mean": (SourceReader, READER),
    **{
        f"reader-{first}": (SourceReader, replace(READER, source="dynamic", first=first))
        for first in ("zero", "encoder", "bias")
    },
}
every_design = pytest.mark.parametrize("name", DESIGNS)


def model_of(name: str, seed: int = 0) -> Translator:
    kind, config = DESIGNS[name]
    model = kind.initial(config, seed=seed).double()
    with torch.no_grad():  # larger weights, so that what leaks is seen
        for weights in model.parameters():
            weights *= 2
    return model


def padded(rows, side: str, fill: int, extra: int = 2) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows)) + extra
    ids = torch.full((len(rows), width), fill)
    real = torch.zeros(len(rows), width, dtype=torch.bool)
    for at, row in enumerate(rows):
        where = slice(0, len(row)) if side == "right" else slice(width - len(row), width)
        ids[at, where], real[at, where] = torch.tensor(row), True
    return ids, real


@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("side", ["left", "right"])
@every_design
def test_forward_of_a_padded_batch_equals_single_sentences(name, side, extra):
    model = model_of(name)
    source, real = padded(SOURCES, side, fill=50, extra=extra)  # what is padded is not looked at
    inputs, counted = padded(INPUTS, "right", fill=7)
    logits = model(source, real, inputs)
    for at, (units, history) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        one = torch.tensor([units])
        alone = model(one, torch.ones_like(one, dtype=torch.bool), torch.tensor([history]))
        torch.testing.assert_close(logits[at, counted[at]], alone[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
@every_design
def test_generation_in_a_batch_equals_generation_alone(name, side):
    model = model_of(name, seed=3)
    source, real = padded(SOURCES, side, fill=4)
    together = generate(
        model.step, model.start(source.numpy(), real.numpy()), bos=[BOS] * 3, eos=EOS, limit=12, choose=greedy
    )
    for row, units in zip(together, SOURCES, strict=True):
        state = model.start(np.array([units]))
        (alone,) = generate(model.step, state, bos=BOS, eos=EOS, limit=12, choose=greedy)
        assert row == alone


@every_design
def test_step_with_the_state_alone_equals_the_whole_pass_and_leaves_old_states_alone(name):
    model = model_of(name)
    source, inputs = np.array([[3, 4, 5], [6, 6, 8]]), np.array([[BOS, 5, 6, 3], [BOS, 8, 8, 4]])
    whole = model(torch.from_numpy(source), torch.ones(2, 3, dtype=torch.bool), torch.from_numpy(inputs))
    states = [model.start(source)]
    for t in range(4):
        logits, after = model.step(inputs[:, t], states[-1])  # one column, never the prefix
        np.testing.assert_allclose(logits, whole[:, t].detach(), rtol=0, atol=1e-12)
        states.append(after)
    for t in range(4):
        again, _ = model.step(inputs[:, t], states[t])
        np.testing.assert_allclose(again, whole[:, t].detach(), rtol=0, atol=1e-12)


@every_design
def test_forward_does_not_look_at_later_target_tokens(name):
    model = model_of(name)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5, 6, 3, 4]])
    changed = inputs.clone()
    changed[0, 3] = 8
    before, after = model(source, real, inputs), model(source, real, changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] != after[:, 3:]).any(dim=-1).all()


@every_design
def test_initial_repeats_with_its_seed_and_leaves_the_global_generator_alone(name):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, same, other = (nn.utils.parameters_to_vector(model_of(name, s).parameters()) for s in (0, 0, 1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


REAL = torch.ones(1, 2, dtype=torch.bool)


@pytest.mark.parametrize(
    ("source", "mask", "inputs", "error", "message"),
    [
        ([[3, 9]], REAL, [[BOS]], ValueError, r"source must lie in \[0, 9\), got 9"),
        ([[3, -1]], REAL, [[BOS]], ValueError, r"source must lie in \[0, 9\), got -1"),
        ([[3, 4]], REAL, [[BOS, 9]], ValueError, r"inputs must lie in \[0, 9\), got 9"),
        ([[3.0, 4.0]], REAL, [[BOS]], TypeError, "source must hold integers"),
        ([[3, 4]], REAL, [[1.0]], TypeError, "inputs must hold integers"),
        ([[3, 4]], REAL.long(), [[BOS]], TypeError, "mask must be boolean"),
        ([[3, 4]], REAL[:, :1], [[BOS]], ValueError, r"mask must have the shape of source, \(1, 2\)"),
        ([[3, 4]], ~REAL, [[BOS]], ValueError, "every source needs at least one real unit"),
        ([[3, 4]], REAL, [[BOS], [BOS]], ValueError, "inputs must have 1 rows like source, got 2"),
        ([[3, 4]], REAL, [BOS], ValueError, "inputs must have 2 axes"),
    ],
)
@pytest.mark.parametrize("name", ["cached", "fixed-gru-inject", "reading-general-True", "reader-zero"])
def test_forward_refuses(name, source, mask, inputs, error, message):
    with pytest.raises(error, match=message):
        model_of(name)(torch.tensor(source), mask, torch.tensor(inputs))


@pytest.mark.parametrize(
    ("source", "mask", "error", "message"),
    [
        ([[3, 9]], None, ValueError, r"source must lie in \[0, 9\), got 9"),
        ([3, 4], None, ValueError, "source must have 2 axes"),
        ([[3.0, 4.0]], None, TypeError, "source must hold integers"),
        ([[3, 4]], [[1, 1]], TypeError, "mask must be boolean"),
        ([[3, 4]], [[False, False]], ValueError, "every source needs at least one real unit"),
    ],
)
def test_start_refuses(source, mask, error, message):
    with pytest.raises(error, match=message):
        model_of("reader-zero").start(source, mask)


@every_design
def test_step_refuses(name):
    model = model_of(name)
    state = model.start(np.array([[3, 4]]))
    with pytest.raises(ValueError, match="ids must have 1 rows like the state, got 2"):
        model.step(np.array([1, 1]), state)
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 9\), got -1"):
        model.step(np.array([-1]), state)
    with pytest.raises(TypeError, match="ids must hold integers"):
        model.step(np.array([1.0]), state)


@pytest.mark.parametrize("kind", ["read-only", "reversed", "uint16"])
@every_design
def test_start_and_step_take_arrays_that_torch_does_not(name, kind):
    model, source, ids = model_of(name), np.array([[3, 4], [5, 6]]), np.array([1, 2])
    expected, _ = model.step(ids, model.start(source))
    if kind == "read-only":
        source.flags.writeable = ids.flags.writeable = False
    elif kind == "reversed":
        source, ids = source[:, ::-1].copy()[:, ::-1], ids[::-1].copy()[::-1]
    else:
        source, ids = source.astype(np.uint16), ids.astype(np.uint16)
    np.testing.assert_array_equal(model.step(ids, model.start(source))[0], expected)


def test_translator_needs_both_methods():
    with pytest.raises(TypeError, match="abstract method"):
        Translator.initial(CachedConfig(), seed=0)
