"""The whole translator: padding, the future, step by step, and searches over an untrained model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.generate.beam import beam_search, take_rows
from onesentence.generate.exhaustive import exhaustive
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.translator import TransformerTranslator

BOS, EOS = 0, 1
SOURCE = torch.tensor([[2, 4, 3, 1], [1, 2, 0, 0], [4, 0, 0, 0]])
REAL = torch.tensor([[True] * 4, [True, True, False, False], [True, False, False, False]])
TARGET = torch.tensor([[0, 3, 1, 4], [0, 2, 2, 5], [0, 5, 4, 3]])


def drawn(hostile: Any, seed: int = 0, **settings: Any) -> TransformerTranslator:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12, barred=(BOS,), **settings)
    out: TransformerTranslator = hostile(TransformerTranslator(config), seed).eval()
    return out


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=atol)


@settings(max_examples=20)
@given(left=st.integers(0, 3), right=st.integers(0, 3), filling=st.integers(-1, 9))
@pytest.mark.parametrize("order", ["post", "pre"])
def test_translator_does_not_see_padding(
    hostile: Any, order: Any, left: int, right: int, filling: int
) -> None:
    model = drawn(hostile, order=order)
    with torch.no_grad():
        for row in range(3):
            own = SOURCE[row][REAL[row]][None]
            alone = model(own, torch.ones_like(own, dtype=torch.bool), TARGET[row : row + 1])
            padded = torch.nn.functional.pad(own, (left, right), value=filling)
            real = torch.nn.functional.pad(torch.ones_like(own, dtype=torch.bool), (left, right), value=False)
            close(model(padded, real, TARGET[row : row + 1])[..., 1:], alone[..., 1:])


def test_translator_reads_a_batch_as_its_sentences_one_by_one(hostile: Any) -> None:
    model = drawn(hostile)
    with torch.no_grad():
        together = model(SOURCE, REAL, TARGET)
        for row in range(3):
            own = SOURCE[row][REAL[row]][None]
            alone = model(own, torch.ones_like(own, dtype=torch.bool), TARGET[row : row + 1])
            close(together[row, :, 1:], alone[0, :, 1:])


def test_translator_padding_on_the_right_of_a_target_reaches_no_real_position(hostile: Any) -> None:
    model = drawn(hostile)
    longer = torch.nn.functional.pad(TARGET, (0, 3), value=5)
    with torch.no_grad():
        close(model(SOURCE, REAL, longer)[:, :4, 1:], model(SOURCE, REAL, TARGET)[..., 1:])


@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_translator_step_by_step_equals_one_pass(hostile: Any, cross: bool, positions: Any) -> None:
    model = drawn(hostile, cross=cross, positions=positions)
    with torch.no_grad():
        whole = model(SOURCE, REAL, TARGET)
    state = model.start(SOURCE.numpy(), REAL.numpy())
    for t in range(4):
        logits, state = model.step(TARGET[:, t].numpy(), state)
        assert logits.dtype == np.float64
        close(logits[:, 1:], whole[:, t, 1:])
        assert np.isneginf(logits[:, BOS]).all()


def test_translator_without_cross_does_not_depend_on_the_source(hostile: Any) -> None:
    model, blind = drawn(hostile), drawn(hostile, cross=False)
    other = (SOURCE + 1) % 5
    assert torch.equal(blind(SOURCE, REAL, TARGET), blind(other, REAL, TARGET))
    assert not torch.equal(model(SOURCE, REAL, TARGET), model(other, REAL, TARGET))


def test_translator_every_parameter_gets_a_gradient(hostile: Any) -> None:
    model = drawn(hostile, order="pre", positions="learned", longest=5)
    loss = torch.nn.functional.cross_entropy(
        model(SOURCE, REAL, TARGET)[:, :-1].flatten(0, 1), TARGET[:, 1:].flatten()
    )
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_take_rows_of_a_state_goes_on_as_those_rows(hostile: Any, rows: list[int]) -> None:
    model = drawn(hostile)
    state = model.start(SOURCE.numpy(), REAL.numpy())
    state = take_rows(state, np.array(rows))  # before anything is kept
    read = TARGET[rows].numpy()
    _, state = model.step(read[:, 0], state)
    state = take_rows(state, np.arange(len(rows))[::-1].copy())
    logits, _ = model.step(read[::-1, 1].copy(), state)
    with torch.no_grad():
        whole = model(SOURCE, REAL, TARGET)[rows, 1].flip(0)
    close(logits[:, 1:], whole[:, 1:])


@pytest.mark.parametrize("cross", [True, False])
def test_beam_search_equals_brute_force(hostile: Any, cross: bool) -> None:
    model = drawn(hostile, seed=3, cross=cross)
    found = beam_search(
        model.step,
        model.start(SOURCE.numpy(), REAL.numpy()),
        bos=[BOS] * 3,
        eos=EOS,
        limit=3,
        width=1 + 4 + 16 + 64,  # every text of at most three tokens, four of them and EOS
        stop="all",
    )
    for row, result in enumerate(found):
        own = SOURCE[row][REAL[row]][None].numpy()
        every = exhaustive(model.step, model.start(own), bos=BOS, eos=EOS, limit=3)
        assert sum(np.exp(text.log_prob) for text in every) == pytest.approx(1, abs=1e-12)
        assert result.best.ids == every[0].ids
        ours = [text.log_prob for text in result.texts]
        close(ours, [text.log_prob for text in every])
        assert len(ours) == len(every) == 85


def test_initial_draws_by_seed_and_leaves_the_generator(hostile: Any) -> None:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12)
    before = torch.random.get_rng_state()
    one, same, other = (TransformerTranslator.initial(config, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = list(zip(one.parameters(), same.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not all(torch.equal(a, c) for a, _, c in pairs)


def test_translator_drops_in_training_only(hostile: Any) -> None:
    plain, model = drawn(hostile), drawn(hostile, dropout=0.4)
    assert torch.equal(model(SOURCE, REAL, TARGET), plain(SOURCE, REAL, TARGET))
    assert torch.equal(plain.train()(SOURCE, REAL, TARGET), plain.eval()(SOURCE, REAL, TARGET))
    model.train()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first, second = model(SOURCE, REAL, TARGET), model(SOURCE, REAL, TARGET)
        assert not torch.equal(first, second)
        torch.manual_seed(0)
        assert torch.equal(model(SOURCE, REAL, TARGET), first)


def test_translator_refuses_by_name(hostile: Any) -> None:
    model = drawn(hostile)
    with pytest.raises(ValueError, match=r"source must lie in \[0, 5\), got 5"):
        model.start([[5]])
    with pytest.raises(TypeError, match=r"mask must be boolean .* got torch\.int64"):
        model.start([[1]], [[1]])
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 6\), got 6"):
        model.step([6], model.start([[1]]))
    with pytest.raises(ValueError, match=r"ids must have 1 rows like the state, got 2"):
        model.step([2, 2], model.start([[1]]))
