"""The recurrent language model: torch with autograd, padding, chunks, refusals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from onesentence.generate.shift import shifted_batch
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.language_model import RecurrentLM
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN

V, D, H = 6, 3, 4
CELLS = {"rnn": (RNN, torch.nn.RNN), "lstm": (LSTM, torch.nn.LSTM), "gru": (GRU, torch.nn.GRU)}
IDS = np.array([[0, 2, 4, 2, 5], [0, 1, 1, 3, 2]])  # repeats within and across rows
TARGETS = np.array([[2, 4, 2, 5, 1], [1, 1, 3, 2, 1]])


@dataclass
class Theirs:
    """The same model out of torch's modules."""

    table: torch.nn.Embedding
    layer: torch.nn.RNNBase
    head: torch.nn.Linear

    def loss(self, ids, targets, state=None):
        h, last = self.layer(self.table(torch.from_numpy(ids)), state)
        logits = self.head(h)
        flat = logits.reshape(-1, V), torch.from_numpy(targets).reshape(-1)
        return torch.nn.functional.cross_entropy(*flat, reduction="sum"), logits, last


def pair(name: str) -> tuple[RecurrentLM, Theirs]:
    torch.manual_seed(0)
    ours, module = CELLS[name]
    theirs = Theirs(
        torch.nn.Embedding(V, D, dtype=torch.float64),
        module(D, H, batch_first=True, dtype=torch.float64),
        torch.nn.Linear(H, V, dtype=torch.float64),
    )
    lm = RecurrentLM(
        E=theirs.table.weight.detach().numpy(),
        cell=ours.from_torch(theirs.layer),
        W_y=theirs.head.weight.detach().numpy(),
        b_y=theirs.head.bias.detach().numpy(),
    )
    return lm, theirs


def start_of(lm: RecurrentLM, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    return tuple(rng.normal(size=(2, H)) for _ in lm.cell.start())


@pytest.mark.parametrize("name", CELLS)
def test_logits_loss_and_gradients_equal_torch(name):
    lm, theirs = pair(name)
    state = start_of(lm, np.random.default_rng(0))
    parts = [torch.from_numpy(part)[None].requires_grad_() for part in state]
    loss, logits, last = theirs.loss(IDS, TARGETS, parts[0] if len(parts) == 1 else tuple(parts))
    loss.backward()
    done = lm.gradients(IDS, TARGETS, state=state)
    np.testing.assert_allclose(lm.logits(IDS, state=state), logits.detach(), rtol=0, atol=1e-10)
    assert done.loss == pytest.approx(loss.item(), abs=1e-10)
    assert lm.loss(IDS, TARGETS, state=state) == done.loss
    expected = {
        "E": theirs.table.weight.grad,
        "cell.W_x": theirs.layer.weight_ih_l0.grad,
        "cell.W_h": theirs.layer.weight_hh_l0.grad,
        "cell.b": theirs.layer.bias_ih_l0.grad,
        "W_y": theirs.head.weight.grad,
        "b_y": theirs.head.bias.grad,
    }
    if name == "gru":  # its second bias stands inside the reset gate
        expected["cell.b_n"] = theirs.layer.bias_hh_l0.grad[-H:]
    assert expected.keys() == done.parameters.keys()
    for key, gradient in expected.items():
        np.testing.assert_allclose(done.parameters[key], gradient, rtol=0, atol=1e-10, err_msg=key)
    lasts = last if isinstance(last, tuple) else (last,)
    for mine, part, value, end in zip(done.start, parts, done.last, lasts, strict=True):
        np.testing.assert_allclose(mine, part.grad[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(value, end[0].detach(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", CELLS)
def test_padded_batch_equals_its_sentences(name):
    lm, _ = pair(name)
    sentences = [[2, 3, 2], [4], [], [5, 5, 2, 3]]
    ids, targets, mask = shifted_batch(
        sentences, pad=99, bos=0, eos=1
    )  # an id outside: padding is never looked at
    together = lm.gradients(ids, targets, mask)
    alone = [
        lm.gradients(*(rows[0] for rows in shifted_batch([s], pad=99, bos=0, eos=1)[:2])) for s in sentences
    ]
    assert together.loss == pytest.approx(sum(one.loss for one in alone), abs=1e-12)
    for key, gradient in together.parameters.items():
        total = sum(one.parameters[key] for one in alone)
        np.testing.assert_allclose(gradient, total, rtol=0, atol=1e-12, err_msg=key)
    for row, one in enumerate(alone):
        for mine, theirs in ((together.last, one.last), (together.start, one.start)):
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_allclose(a[row], b, rtol=0, atol=1e-12)
        sentence = shifted_batch([sentences[row]], pad=99, bos=0, eos=1)[0][0]
        real = lm.logits(ids, mask)[row][mask[row]]
        np.testing.assert_allclose(real, lm.logits(sentence), rtol=0, atol=1e-12)
    assert not together.x[~mask].any()


@pytest.mark.parametrize("name", CELLS)
def test_chunks_with_carried_state_and_carried_gradient_equal_the_whole(name):
    lm, _ = pair(name)
    whole = lm.gradients(IDS, TARGETS)
    first = lm.forward(IDS[:, :2])
    second = lm.gradients(IDS[:, 2:], TARGETS[:, 2:], state=first.last)
    back = lm.backward(first, TARGETS[:, :2], last=second.start)
    assert back.loss + second.loss == pytest.approx(whole.loss, abs=1e-12)
    for key, gradient in whole.parameters.items():
        both = back.parameters[key] + second.parameters[key]
        np.testing.assert_allclose(both, gradient, rtol=0, atol=1e-12, err_msg=key)


def test_gradients_add_the_rows_of_a_repeated_id():
    lm, _ = pair("rnn")
    done = lm.gradients([3, 1, 3], [1, 3, 2])
    np.testing.assert_allclose(done.parameters["E"][3], done.x[0] + done.x[2], rtol=0, atol=1e-15)
    assert not done.parameters["E"][[0, 2, 4, 5]].any()


def test_scored_leaves_the_other_losses_out():
    lm, _ = pair("rnn")
    parts = [lm.gradients(IDS, TARGETS, scored=np.arange(5) == t) for t in range(5)]
    whole = lm.gradients(IDS, TARGETS)
    assert sum(part.loss for part in parts) == pytest.approx(whole.loss, abs=1e-12)
    np.testing.assert_allclose(sum(part.x for part in parts), whole.x, rtol=0, atol=1e-12)
    assert not parts[1].x[:, 2:].any()  # causality, backwards


def test_never_predicted_ids_have_no_probability_and_no_gradient():
    rng = np.random.default_rng(1)
    lm = RecurrentLM.initial(RNN.initial(inputs=D, hidden=H, rng=rng), table=V, rng=rng, never=[0])
    p = np.exp(lm.log_probs([0, 2]))
    assert p[0] == 0
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert lm.prob(2, [0]) == pytest.approx(np.exp(lm.log_probs([0])[2]))
    done = lm.gradients(IDS, TARGETS)
    assert np.isfinite(done.loss)
    assert not done.parameters["W_y"][0].any()


def test_log_probs_sum_to_the_loss_of_a_sentence():
    lm, _ = pair("rnn")
    ids, targets, _ = shifted_batch([[4, 2]], pad=99, bos=0, eos=1)
    total = sum(lm.log_probs(ids[0, : t + 1])[targets[0, t]] for t in range(3))
    assert lm.loss(ids, targets) == pytest.approx(-total, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.5], [1]), TypeError, "ids must hold integers, got dtype float64"),
        (([6], [1]), ValueError, r"ids must lie in \[0, 6\), got 6"),
        ((2, [1]), ValueError, r"ids must have shape \(..., T\), got a scalar"),
        (([1, 2], [1]), ValueError, r"labels must have shape \(2,\), got \(1,\)"),
        (([1], [-1]), ValueError, r"labels must lie in \[0, 6\), got -1"),
        (([1, 2], [1, 2], [1, 0]), TypeError, "mask must be boolean"),
    ],
)
def test_gradients_refuses(arguments, error, message):
    lm, _ = pair("rnn")
    with pytest.raises(error, match=message):
        lm.gradients(*arguments)


def test_constructor_and_context_refuse():
    lm, _ = pair("rnn")
    with pytest.raises(ValueError, match=r"E must have shape \(V, 3\) with V >= 1, got \(6, 2\)"):
        RecurrentLM(E=np.zeros((6, 2)), cell=lm.cell, W_y=lm.W_y, b_y=lm.b_y)
    with pytest.raises(ValueError, match=r"W_y must have shape \(6, 4\), got \(5, 4\)"):
        RecurrentLM(E=lm.E, cell=lm.cell, W_y=np.zeros((5, 4)), b_y=lm.b_y)
    with pytest.raises(ValueError, match=r"never must hold ids in \[0, 6\) and leave one, got \(6,\)"):
        RecurrentLM(E=lm.E, cell=lm.cell, W_y=lm.W_y, b_y=lm.b_y, never=(6,))
    with pytest.raises(ValueError, match=r"context must hold at least one id in a row, got shape \(0,\)"):
        lm.log_probs([])
    with pytest.raises(ValueError, match=r"token must lie in \[0, 6\), got 6"):
        lm.prob(6, [0])


@pytest.mark.parametrize("never", [[1.7], ["1"], [True]])
def test_ids_that_are_no_integers_are_not_rounded(never):
    rng = np.random.default_rng(0)
    cell = RNN.initial(inputs=2, hidden=3, rng=rng)
    with pytest.raises(TypeError, match="never must hold integers"):
        RecurrentLM.initial(cell, table=5, rng=rng, never=never)
    with pytest.raises(TypeError, match="token must be an integer"):
        RecurrentLM.initial(cell, table=5, rng=rng).prob(never[0], [1])


def test_never_may_be_any_collection():
    rng = np.random.default_rng(0)
    cell = RNN.initial(inputs=2, hidden=3, rng=rng)
    for never in (range(2), {0, 1}, np.arange(2), [0, 1]):
        assert RecurrentLM(np.ones((5, 2)), cell, np.ones((5, 3)), np.zeros(5), never).never == (0, 1)


def test_initial_scores_have_variance_1_for_states_of_length_root_h():
    rng = np.random.default_rng(0)
    lm = RecurrentLM.initial(RNN.initial(inputs=2, hidden=64, rng=rng), table=500, rng=rng)
    assert (lm.W_y @ np.ones(64)).std() == pytest.approx(1, abs=0.1)
    assert lm.E.std() == pytest.approx(1, abs=0.1)
    assert not lm.b_y.any()
