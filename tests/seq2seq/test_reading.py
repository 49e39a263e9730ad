"""The reading translator: weights, masks, the formulas beside NumPy, gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.reading_teaching import teaching_run

PAD, BOS, EOS = 0, 1, 2
CONFIG = ReadingConfig(7, 9, embedding=5, hidden=6, barred=(PAD, BOS))
DESIGNS = [(scorer, two_way) for scorer in ("general", "additive") for two_way in (False, True)]
SOURCES = ([3, 4, 5, 6], [2], [6, 1, 2])
INPUTS = ([BOS, 5, 6], [BOS, 3, 3, 8, 4], [BOS])


def model_of(scorer: str = "general", two_way: bool = False, seed: int = 0, cell: str = "lstm") -> Reading:
    config = replace(CONFIG, scorer=scorer, two_way=two_way, cell=cell)
    return Reading.initial(config, seed=seed).double()


def padded(rows, side: str, fill: int) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows)) + 2
    ids = torch.full((len(rows), width), fill)
    real = torch.zeros(len(rows), width, dtype=torch.bool)
    for at, row in enumerate(rows):
        where = slice(0, len(row)) if side == "right" else slice(width - len(row), width)
        ids[at, where], real[at, where] = torch.tensor(row), True
    return ids, real


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_run_of_a_padded_batch_equals_single_sentences(scorer, two_way, side):
    model = model_of(scorer, two_way)
    source, real = padded(SOURCES, side, fill=5)
    inputs, counted = padded(INPUTS, "right", fill=7)
    logits, weights = model.run(source, real, inputs)
    assert not weights.masked_select(~real[:, None].expand_as(weights)).any()
    for at, (units, history) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        one = torch.tensor([units])
        theirs, read = model.run(one, torch.ones_like(one, dtype=torch.bool), torch.tensor([history]))
        torch.testing.assert_close(logits[at, counted[at]], theirs[0], rtol=0, atol=1e-12)
        mine = weights[at][counted[at]][:, real[at]]
        torch.testing.assert_close(mine, read[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(mine.sum(dim=1), torch.ones(len(history), dtype=torch.float64))


@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_run_equals_the_steps_in_numpy(scorer, two_way):
    model = model_of(scorer, two_way, seed=2)
    source, inputs = [3, 4, 5, 6], [BOS, 5, 6, 8]
    one = torch.tensor([source])
    logits, weights = model.run(one, torch.ones_like(one, dtype=torch.bool), torch.tensor([inputs]))
    theirs, read = teaching_run(model, source, inputs)
    np.testing.assert_allclose(logits[0].detach(), theirs, rtol=0, atol=1e-10)
    np.testing.assert_allclose(weights[0].detach(), read, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_step_equals_the_whole_teacher_forced_pass(scorer, two_way):
    model = model_of(scorer, two_way)
    source, inputs = np.array([[3, 4, 5], [6, 6, 2]]), np.array([[BOS, 5, 6, 3], [BOS, 8, 8, 4]])
    whole, weights = model.run(
        torch.from_numpy(source), torch.ones(2, 3, dtype=torch.bool), torch.from_numpy(inputs)
    )
    state = model.start(source)
    assert state.weights is None
    for t in range(4):
        logits, state = model.step(inputs[:, t], state)
        np.testing.assert_allclose(logits, whole[:, t].detach(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(state.weights, weights[:, t].detach(), rtol=0, atol=1e-12)


def test_run_a_unit_not_to_be_read_gets_no_weight_and_the_rest_is_renormalised():
    model = model_of(two_way=True)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5]])
    _, free = model.run(source, real, inputs)
    _, barred = model.run(source, real, inputs, torch.tensor([[True, False, True]]))
    assert not barred[..., 1].any()
    expected = free[..., [0, 2]] / free[..., [0, 2]].sum(dim=-1, keepdim=True)
    torch.testing.assert_close(barred[..., [0, 2]], expected, rtol=0, atol=1e-12)


def test_run_padding_stays_unread_whatever_may_read_says():
    model = model_of()
    source, real = padded(SOURCES, "left", fill=5)
    inputs = torch.tensor([[BOS, 5]] * 3)
    free, allowed = (model.run(source, real, inputs, may_read) for may_read in (None, torch.ones_like(real)))
    torch.testing.assert_close(free[1], allowed[1], rtol=0, atol=0)


def test_run_with_one_unit_reads_that_unit():
    weights = model_of().read_weights(torch.tensor([[4]]), torch.tensor([[True]]), torch.tensor([[BOS, 5]]))
    assert (weights == 1).all()


@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_gradients_agree_with_finite_differences(scorer, two_way):
    model = model_of(scorer, two_way)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs, labels = torch.tensor([[BOS, 5]]), torch.tensor([[5, EOS]])

    def loss() -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(source, real, inputs)[0], labels[0])

    loss().backward()
    for parameter in (model.key.weight, model.combine.weight, model.bridge.weight):
        place, step = (1, 2), 1e-6
        with torch.no_grad():
            parameter[place] += step
            above = loss().item()
            parameter[place] -= 2 * step
            below = loss().item()
            parameter[place] += step
        assert parameter.grad[place].item() == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_run_bars_symbols():
    logits = model_of()(torch.tensor([[3]]), torch.tensor([[True]]), torch.tensor([[BOS, 4]]))
    assert torch.isneginf(logits[..., [PAD, BOS]]).all()
    assert torch.isfinite(logits[..., 2:]).all()


@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_weights_do_not_look_at_later_target_tokens(scorer, two_way):
    model = model_of(scorer, two_way)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5, 6, 3, 4]])
    changed = inputs.clone()
    changed[0, 3] = 8
    before, after = (model.read_weights(source, real, x) for x in (inputs, changed))
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] != after[:, 3:]).any()


def test_config_refuses():
    with pytest.raises(ValueError, match="scorer: expected one of general, additive, got 'dot'"):
        replace(CONFIG, scorer="dot")
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        replace(CONFIG, hidden=0)


REAL = torch.ones(1, 2, dtype=torch.bool)


@pytest.mark.parametrize(
    ("may_read", "error", "message"),
    [
        (~REAL, ValueError, "may_read: every sentence needs a position"),
        (REAL.long(), TypeError, "may_read must be boolean"),
        (REAL[:, :1], ValueError, r"may_read must have the shape of source, \(1, 2\)"),
    ],
)
def test_run_refuses(may_read, error, message):
    with pytest.raises(error, match=message):
        model_of().run(torch.tensor([[3, 4]]), REAL, torch.tensor([[BOS]]), may_read)


def test_run_checks_as_forward_does():
    with pytest.raises(ValueError, match=r"inputs must lie in \[0, 9\), got 9"):
        model_of().run(torch.tensor([[3, 4]]), REAL, torch.tensor([[BOS, 9]]))


def test_teaching_run_refuses():
    with pytest.raises(ValueError, match="model must have lstm cells, got gru"):
        teaching_run(model_of(cell="gru"), [3], [BOS])
