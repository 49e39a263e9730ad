"""The reading translator: padding, masks, generation, causality, the formulas beside NumPy, gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.reading_teaching import teaching_run
from onesentence.seq2seq.two_way import TwoWayEncoder

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


def test_generation_in_a_batch_equals_generation_alone():
    model = model_of(two_way=True, seed=3)
    source, real = padded(SOURCES, "left", fill=0)
    start = model.start(source.numpy(), real.numpy())
    together = generate(model.step, start, bos=[BOS] * 3, eos=EOS, limit=12, choose=greedy)
    for row, units in zip(together, SOURCES, strict=True):
        state = model.start(np.array([units]))
        (alone,) = generate(model.step, state, bos=BOS, eos=EOS, limit=12, choose=greedy)
        assert (tuple(row.ids), row.ended) == (tuple(alone.ids), alone.ended)


@pytest.mark.parametrize(("scorer", "two_way"), DESIGNS)
def test_run_does_not_look_at_later_target_tokens(scorer, two_way):
    model = model_of(scorer, two_way)
    source, real = torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool)
    inputs = torch.tensor([[BOS, 5, 6, 3, 4]])
    changed = inputs.clone()
    changed[0, 3] = 8
    before, after = model.run(source, real, inputs), model.run(source, real, changed)
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one[:, :3], other[:, :3], rtol=0, atol=0)
        assert (one[:, 3:] != other[:, 3:]).any()


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


def test_two_way_encoder_is_one_pass_from_each_end():
    encoder = TwoWayEncoder(vocabulary=7, embedding=5, hidden=4, cell="gru").double()
    ids = torch.tensor([[3, 4, 5]])
    encoded = encoder(ids, torch.ones_like(ids, dtype=torch.bool))
    back, _ = encoder.back.layer(encoder.ahead.embedding(ids.flip(1)))
    torch.testing.assert_close(encoded.states[..., 4:], back.flip(1), rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded.summary[..., 4:], encoded.states[:, 0, 4:], rtol=0, atol=0)
    torch.testing.assert_close(encoded.summary[..., :4], encoded.states[:, -1, :4], rtol=0, atol=0)
    names = [name for name, _ in encoder.named_parameters()]
    assert sum("embedding" in name for name in names) == 1


def test_one_way_states_do_not_know_later_units_and_two_way_states_do():
    changed = {}
    for two_way in (False, True):
        encoder = model_of(two_way=two_way).encoder
        real = torch.ones(1, 3, dtype=torch.bool)
        one, other = (encoder(torch.tensor([ids]), real).states for ids in ([3, 4, 5], [3, 4, 6]))
        changed[two_way] = bool((one[:, 0] != other[:, 0]).any())
    assert changed == {False: False, True: True}


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


def test_initial_repeats_with_its_seed_and_bars_symbols():
    one, same, other = (model_of(seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.key.weight, same.key.weight)
    assert not torch.equal(one.key.weight, other.key.weight)
    logits = one(torch.tensor([[3]]), torch.tensor([[True]]), torch.tensor([[BOS, 4]]))
    assert torch.isneginf(logits[..., [PAD, BOS]]).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"hidden": 0}, ValueError, "hidden must be at least 1, got 0"),
        ({"hidden": 2.0}, TypeError, "hidden must be an integer, got 2.0"),
        ({"scorer": "dot"}, ValueError, "scorer: expected one of general, additive, got 'dot'"),
        ({"barred": (0, 9)}, ValueError, "barred: expected different ids below 9"),
        ({"barred": tuple(range(9))}, ValueError, "barred: at least one symbol must be left"),
    ],
)
def test_config_refuses(change, error, message):
    with pytest.raises(error, match=message):
        replace(CONFIG, **change)


REAL = torch.ones(1, 2, dtype=torch.bool)


@pytest.mark.parametrize(
    ("source", "mask", "inputs", "may_read", "error", "message"),
    [
        ([[3, 7]], REAL, [[BOS]], None, ValueError, r"ids must lie in \[0, 7\), got 7"),
        ([[3, 4]], REAL, [[BOS, 9]], None, ValueError, r"inputs must lie in \[0, 9\), got 9"),
        ([[3, 4]], REAL, [[BOS], [BOS]], None, ValueError, "inputs must have 1 rows like source, got 2"),
        ([[3, 4]], REAL, [[BOS]], ~REAL, ValueError, "may_read: every sentence needs a position"),
        ([[3, 4]], REAL, [[BOS]], REAL.long(), TypeError, "may_read must be boolean"),
        (
            [[3, 4]],
            REAL,
            [[BOS]],
            REAL[:, :1],
            ValueError,
            r"may_read must have the shape of source, \(1, 2\)",
        ),
    ],
)
def test_run_refuses(source, mask, inputs, may_read, error, message):
    with pytest.raises(error, match=message):
        model_of().run(torch.tensor(source), mask, torch.tensor(inputs), may_read)


def test_step_and_teaching_run_refuse():
    model = model_of()
    with pytest.raises(ValueError, match="ids must have 1 rows like the state, got 2"):
        model.step(np.array([1, 1]), model.start(np.array([[3, 4]])))
    with pytest.raises(ValueError, match="model must have lstm cells, got gru"):
        teaching_run(model_of(cell="gru"), [3], [BOS])
