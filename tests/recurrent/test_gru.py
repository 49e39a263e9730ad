"""The GRU: values by hand, torch, all four conventions against autograd, conversion, padding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.recurrent.gru import GRU

CONVENTIONS = list(itertools.product(("writes", "keeps"), ("before", "after")))


def drawn(update: str = "writes", reset: str = "before", d: int = 3, H: int = 4, seed: int = 0) -> GRU:
    return GRU.initial(inputs=d, hidden=H, rng=np.random.default_rng(seed), update=update, reset=reset)


def reference(p: dict[str, torch.Tensor], x: torch.Tensor, h: torch.Tensor, update: str, reset: str):
    """States (..., T, H) of the formulas, gate by gate, written without the module under test."""
    H, states = p["b_n"].numel(), []
    Wr, Wz, Wn = p["W_x"].split(H)
    Ur, Uz, Un = p["W_h"].split(H)
    br, bz, bn = p["b"].split(H)
    for t in range(x.shape[-2]):
        now = x[..., t, :]
        r = torch.sigmoid(now @ Wr.T + h @ Ur.T + br)
        z = torch.sigmoid(now @ Wz.T + h @ Uz.T + bz)
        past = (r * h) @ Un.T + p["b_n"] if reset == "before" else r * (h @ Un.T + p["b_n"])
        n = torch.tanh(now @ Wn.T + bn + past)
        h = (1 - z) * h + z * n if update == "writes" else z * h + (1 - z) * n
        states.append(h)
    return torch.stack(states, dim=-2)


def test_run_one_step_by_hand():
    U = [[1.0, 1.0], [1.0, -1.0]]
    W_h = np.concatenate([np.zeros((4, 2)), U])
    big = 50.0  # sigmoid is 1 or 0 to the last digit
    common = {"W_x": np.zeros((6, 1)), "W_h": W_h, "b": [big, -big, big, big, 0, 0], "b_n": [0, 0]}
    for reset, u in (("before", [1.0, 1.0]), ("after", [3.0, 0.0])):  # U (1, 0) and (1, 0) * U (1, 2)
        for update, h in (("writes", np.tanh(u)), ("keeps", [1.0, 2.0])):  # z = 1
            trace = GRU(**common, update=update, reset=reset).run([[0.0]], (np.array([1.0, 2.0]),))
            np.testing.assert_allclose(trace.saved["n"][0], np.tanh(u), rtol=0, atol=1e-12)
            np.testing.assert_allclose(trace.h[0], h, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
def test_from_torch_equals_torch(bias):
    torch.manual_seed(0)
    module = torch.nn.GRU(3, 4, bias=bias, batch_first=True, dtype=torch.float64)
    cell, rng = GRU.from_torch(module), np.random.default_rng(0)
    assert (cell.update, cell.reset) == ("keeps", "after")
    x, h0 = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 4))
    theirs, last = module(torch.from_numpy(x), torch.from_numpy(h0)[None])
    trace = cell.run(x, (h0,))
    np.testing.assert_allclose(trace.h, theirs.detach().numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.last[0], last[0].detach().numpy(), rtol=0, atol=1e-10)


def test_from_torch_refuses_layers_and_directions():
    for options in ({"num_layers": 2}, {"bidirectional": True}):
        with pytest.raises(ValueError, match="module: expected one layer and one direction"):
            GRU.from_torch(torch.nn.GRU(3, 4, **options))


@pytest.mark.parametrize(("update", "reset"), CONVENTIONS)
def test_backward_equals_autograd(update, reset):
    cell, rng = drawn(update, reset), np.random.default_rng(1)
    x, h0 = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 4))
    dh, last = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 4))
    leaves = {**cell.parameters(), "x": x, "h0": h0}
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in leaves.items()}
    out = reference(tensors, tensors["x"], tensors["h0"], update, reset)
    ((out * torch.from_numpy(dh)).sum() + (out[:, -1] * torch.from_numpy(last)).sum()).backward()
    trace = cell.run(x, (h0,))
    np.testing.assert_allclose(trace.h, out.detach().numpy(), rtol=0, atol=1e-12)
    ours = cell.backward(trace, dh, (last,))
    found = {**ours.parameters, "x": ours.x, "h0": ours.start[0]}
    assert found.keys() == tensors.keys()
    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, tensors[name].grad.numpy(), rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize(("update", "reset"), CONVENTIONS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_state_and_no_gradient(update, reset, side):
    cell, rng = drawn(update, reset), np.random.default_rng(2)
    lengths = [4, 9, 6]
    real = np.arange(9) < np.array(lengths)[:, None]
    real = real[:, ::-1] if side == "left" else real
    x, dh = rng.normal(size=(3, 9, 3)), rng.normal(size=(3, 9, 4)) * real[..., None]
    x[~real] = np.nan  # what stands in a pad is not looked at
    h0, last = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    batch = cell.run(x, (h0,), real)
    together = cell.backward(batch, dh, (last,))
    total = dict.fromkeys(together.parameters, 0.0)
    for i in range(3):
        alone = cell.run(x[i, real[i]], (h0[i],))
        np.testing.assert_allclose(batch.h[i, real[i]], alone.h, rtol=0, atol=1e-13)
        np.testing.assert_allclose(batch.last[0][i], alone.last[0], rtol=0, atol=1e-13)
        one = cell.backward(alone, dh[i, real[i]], (last[i],))
        np.testing.assert_allclose(together.x[i, real[i]], one.x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(together.start[0][i], one.start[0], rtol=0, atol=1e-12)
        total = {name: total[name] + gradient for name, gradient in one.parameters.items()}
    assert not together.x[~real].any()
    for name, gradient in together.parameters.items():
        np.testing.assert_allclose(gradient, total[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("reset", ["before", "after"])
def test_converted_update_gives_the_same_states(reset):
    writes = drawn("writes", reset)
    keeps = writes.converted(update="keeps")
    x = np.random.default_rng(3).normal(size=(6, 3))
    one, other = writes.run(x), keeps.run(x)
    assert keeps.update == "keeps"
    np.testing.assert_allclose(other.h, one.h, rtol=0, atol=1e-14)
    np.testing.assert_allclose(other.saved["z"], 1 - one.saved["z"], rtol=0, atol=1e-14)
    renamed = GRU(**writes.parameters(), update="keeps", reset=reset)
    assert np.abs(renamed.run(x).h - one.h).max() > 0.01  # the name alone is not a conversion


@given(st.integers(0, 2**32 - 1), st.sampled_from(CONVENTIONS))
def test_converted_and_back_is_the_same_cell(seed, convention):
    cell = drawn(*convention, seed=seed)
    other = "keeps" if cell.update == "writes" else "writes"
    back = cell.converted(update=other).converted(update=cell.update)
    for name, value in cell.parameters().items():
        np.testing.assert_array_equal(back.parameters()[name], value)


@given(st.integers(0, 2**32 - 1))
def test_converted_reset_agrees_where_the_candidate_matrix_is_diagonal(seed):
    cell, rng = drawn("writes", "before", seed=seed), np.random.default_rng(seed)
    cell.W_h[8:] = np.diag(rng.normal(size=4))
    other = cell.converted(reset="after", update="keeps")  # b_n is drawn too: it moves to b
    assert (other.update, other.reset) == ("keeps", "after")
    assert cell.b_n.all()
    assert not other.b_n.any()
    x = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(other.run(x).h, cell.run(x).h, rtol=0, atol=1e-13)
    back = other.converted(reset="before")
    np.testing.assert_allclose(back.run(x).h, cell.run(x).h, rtol=0, atol=1e-13)


@pytest.mark.parametrize("reset", ["before", "after"])
def test_converted_refuses_reset_where_the_functions_differ(reset):
    cell = drawn(reset=reset)
    other = "after" if reset == "before" else "before"
    cell.b_n[:] = 0
    with pytest.raises(ValueError, match=f"reset: not converted to '{other}'.* diagonal and b_n is 0"):
        cell.converted(reset=other)
    assert cell.converted(reset=reset).reset == reset


def test_converted_refuses_a_second_bias_that_the_reset_gate_multiplies():
    cell = drawn(reset="after")
    cell.W_h[8:] = np.eye(4)
    with pytest.raises(ValueError, match="diagonal and b_n is 0"):
        cell.converted(reset="before")


def test_step_repeated_equals_run():
    cell, x = drawn("keeps", "after"), np.random.default_rng(4).normal(size=(5, 3))
    state = cell.start()
    for row in x:
        state = cell.step(row, state)
    np.testing.assert_array_equal(state[0], cell.run(x).last[0])


def test_run_takes_huge_arguments_and_keeps_float32():
    cell = drawn()
    assert np.isfinite(cell.run(np.full((3, 3), 1e6)).h).all()
    single = GRU(**{name: value.astype(np.float32) for name, value in cell.parameters().items()})
    trace = single.run(np.ones((2, 3), dtype=np.float32))
    assert trace.h.dtype == np.float32
    assert single.backward(trace, np.ones((2, 4), dtype=np.float32)).x.dtype == np.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W_x": np.zeros((4, 1))}, r"W_x must have shape \(3H, d\) with H, d >= 1, got \(4, 1\)"),
        ({"W_h": np.zeros((6, 3))}, r"W_h must have shape \(6, 2\), got \(6, 3\)"),
        ({"b_n": [0.0]}, r"b_n must have shape \(2,\), got \(1,\)"),
        ({"b": np.full(6, np.inf)}, "b must be finite"),
        ({"update": "forgets"}, "update must be 'writes' or 'keeps', got 'forgets'"),
        ({"reset": "during"}, "reset must be 'before' or 'after', got 'during'"),
    ],
)
def test_constructor_refuses(change, message):
    fitting = {"W_x": np.zeros((6, 1)), "W_h": np.zeros((6, 2)), "b": np.zeros(6), "b_n": np.zeros(2)}
    with pytest.raises(ValueError, match=message):
        GRU(**{**fitting, **change})


def test_converted_refuses_a_convention_that_is_none():
    with pytest.raises(ValueError, match="update must be 'writes' or 'keeps', got 'both'"):
        drawn().converted(update="both")
