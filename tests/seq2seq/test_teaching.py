"""The NumPy translator equals the PyTorch one, and its steps are what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.numerics import softmax
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig
from onesentence.seq2seq.teaching import TeachingTranslator

BOS, EOS = 1, 2
CONFIG = FixedSummaryConfig(7, 9, embedding=5, hidden=6, barred=(0, BOS))
DESIGNS = [(cell, interface) for cell in ("rnn", "gru", "lstm") for interface in ("initial", "inject")]
SOURCE, INPUTS = np.array([3, 4, 5, 6]), np.array([BOS, 5, 6, 8])


def pair(cell: str, interface: str) -> tuple[TeachingTranslator, FixedSummary]:
    model = FixedSummary.initial(replace(CONFIG, cell=cell, interface=interface), seed=0).double()
    return TeachingTranslator.from_torch(model), model


def small(**changes) -> TeachingTranslator:
    sizes = {
        "source_size": 7,
        "target_size": 9,
        "width": 4,
        "rng": np.random.default_rng(0),
        "barred": (0, 1),
    }
    return TeachingTranslator.initial(**{**sizes, **changes})


@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_from_torch_equals_torch(cell, interface):
    ours, model = pair(cell, interface)
    source, real = torch.from_numpy(SOURCE)[None], torch.ones(1, 4, dtype=torch.bool)
    encoded = model.encoder(source, real)
    np.testing.assert_allclose(ours.summary(SOURCE), encoded.summary[0].detach(), rtol=0, atol=1e-10)
    state, theirs = ours.start(SOURCE), model.state_of(encoded.summary)
    for one, other in zip(state.parts, theirs.parts, strict=True):
        np.testing.assert_allclose(one, other[0].detach(), rtol=0, atol=1e-10)
    whole = model(source, real, torch.from_numpy(INPUTS)[None])[0].detach().numpy()
    np.testing.assert_allclose(ours.logits(SOURCE, INPUTS), whole, rtol=0, atol=1e-10)
    assert np.isneginf(whole[:, [0, 1]]).all()


@pytest.mark.parametrize(("cell", "interface"), DESIGNS)
def test_walk_equals_the_generation_of_torch(cell, interface):
    ours, model = pair(cell, interface)
    steps = ours.walk(SOURCE, lambda logits: int(logits.argmax()), bos=BOS, eos=EOS, limit=9)
    state = model.start(SOURCE[None])
    (theirs,) = generate(model.step, state, bos=BOS, eos=EOS, limit=9, choose=greedy)
    assert tuple(step.chosen for step in steps) == tuple(theirs.ids)


def test_walk_feeds_what_was_chosen_and_stops_at_eos():
    script = iter([5, 6, EOS, 7])
    steps = small().walk(SOURCE, lambda logits: next(script), bos=BOS, eos=EOS, limit=9)
    assert [(step.fed, step.chosen) for step in steps] == [(BOS, 5), (5, 6), (6, EOS)]
    model = small()
    np.testing.assert_allclose(
        [step.distribution for step in steps],
        softmax(model.logits(SOURCE, [BOS, 5, 6])),
        rtol=0,
        atol=1e-14,
    )
    assert len(small().walk(SOURCE, lambda logits: 5, bos=BOS, eos=EOS, limit=4)) == 4


@pytest.mark.parametrize("inject", [False, True])
def test_step_of_many_equals_steps_of_one(inject):
    model = small(inject=inject)
    sources, tokens = np.array([[3, 4, 5], [6, 2, 2]]), np.array([5, 8])
    logits, state = model.step(tokens, model.start(sources))
    for at in range(2):
        one, alone = model.step(tokens[at], model.start(sources[at]))
        np.testing.assert_allclose(logits[at], one, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state.parts[0][at], alone.parts[0], rtol=0, atol=1e-14)


def test_output_bias_is_a_copy():
    given = np.zeros(9)
    model = replace(small(), b_y=given)
    given[:] = np.nan
    assert np.isfinite(model.b_y).all()
    assert replace(small(), b_y=[0] * 9).b_y.dtype == np.float64


def test_summary_is_not_moved_by_padding():
    model = small()
    padded = model.summary(
        [[3, 4, 5, 0, 0], [0, 0, 3, 4, 5]], np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]) == 1
    )
    np.testing.assert_allclose(padded, [model.summary([3, 4, 5])] * 2, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: small().summary([3, 7]), ValueError, r"source must lie in \[0, 7\), got 7"),
        (lambda: small().step(0.5, small().start(SOURCE)), TypeError, "ids must hold integers"),
        (lambda: small(barred=(-1,)), ValueError, r"barred must lie in \[0, 9\), got -1"),
        (lambda: small().summary([[3], [4]], [[True], [False]]), ValueError, "at least one real unit"),
        (lambda: small().summary([]), ValueError, "at least one real unit"),
        (lambda: small().logits(SOURCE, []), ValueError, r"inputs must have shape \(T,\) with T >= 1"),
        (lambda: small().logits(SOURCE, [[BOS, 5]]), ValueError, r"inputs must have shape \(T,\)"),
        (
            lambda: small().walk(SOURCE, lambda logits: 3, bos=BOS, eos=9, limit=2),
            ValueError,
            r"eos must lie in \[0, 9\), got 9",
        ),
        (lambda: small(width=0), ValueError, "width must be at least 1, got 0"),
        (lambda: replace(small(), b_y=np.full(9, -np.inf)), ValueError, r"b_y must have shape \(9,\)"),
        (lambda: replace(small(), W_y=np.zeros((9, 5))), ValueError, r"W_y must have shape \(9, 4\)"),
        (
            lambda: replace(small(), encoder=small(width=5).encoder),
            ValueError,
            "state width 5 like encoder, got 4",
        ),
        (
            lambda: small().walk(SOURCE, lambda logits: 3, bos=BOS, eos=EOS, limit=0),
            ValueError,
            "limit must be at least 1, got 0",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
