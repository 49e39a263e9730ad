"""The experiments on pairs of key stories, in their smallest form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from onesentence.experiments import key_clipping, key_pairs
from onesentence.experiments.key_clipping import Clipping, Reader
from onesentence.experiments.key_pairs import VARIANTS, Keys, Variant
from onesentence.numerics import numerical_gradient
from onesentence.text import key_pairs as stories_of


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONESENTENCE_RECORDS", str(tmp_path))


def stories(pairs: int, events: int, seed: int = 0) -> np.ndarray:
    return stories_of.key_pairs(pairs, events, np.random.default_rng(seed))


def test_run_records_every_seed_variant_and_distance() -> None:
    config = Keys(variants=VARIANTS[:2], events=(0, 1), updates=2, pairs=2, asked=4, hidden=4, seeds=(0, 1))
    record = key_pairs.run(config)
    asked = {f"{name}_{when}" for name in ("kept", "used", "reach", "slope") for when in ("before", "after")}
    for name in asked | {"updates", "clipped"}:
        assert np.shape(record.metrics[name]) == (2, 2, 2)
    profile = record.metrics["profile_after"][0][0]
    assert [len(p) for p in profile] == [8, 13]
    assert profile[1][stories_of.FACT_AT] == record.metrics["reach_after"][0][0][1]
    assert key_pairs.run(config).metrics == record.metrics
    assert config.distances == (0, 5)


def test_build_repeats_with_its_seed_and_leaves_the_generator() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, again = (key_pairs.build(VARIANTS[5], Keys(), 3) for _ in range(2))
    assert torch.equal(torch.rand(1), expected)
    for a, b in zip(one.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


def test_variants_start_as_they_say() -> None:
    config = Keys(hidden=8)
    plain, orthogonal, small, lstm, forgetting, _ = (key_pairs.build(v, config, 0) for v in VARIANTS)
    W = orthogonal.layer.weight_hh_l0.detach()
    torch.testing.assert_close(W @ W.T, torch.eye(8), rtol=0, atol=1e-5)
    assert not orthogonal.layer.bias_ih_l0.any()
    assert torch.equal(small.embedding.weight, 0.1 * plain.embedding.weight)
    gap = forgetting.layer.bias_ih_l0 - lstm.layer.bias_ih_l0
    torch.testing.assert_close(gap, torch.tensor([0.0, 4.0, 0.0, 0.0]).repeat_interleave(8))


def test_profile_equals_finite_differences() -> None:
    model = key_pairs.build(VARIANTS[3], Keys(hidden=4, embedding=3), 0).double()
    pair = stories(2, 0)
    profile = key_pairs.ask(model, pair)["profile"]
    x = model.embedding(torch.from_numpy(pair.reshape(4, -1))).detach().numpy()

    def log_odds(values: np.ndarray) -> float:
        scores, _ = model.states(torch.from_numpy(values))
        return float((scores[:, 0] - scores[:, 1]).sum().detach())

    numeric = np.linalg.norm(numerical_gradient(log_odds, x), axis=-1).mean(axis=0)
    np.testing.assert_allclose(profile, numeric, rtol=1e-5, atol=1e-9)


def test_loss_gradient_is_the_log_odds_gradient_times_what_is_missing() -> None:
    model = key_pairs.build(VARIANTS[0], Keys(), 0)
    x = model.embedding(torch.from_numpy(stories(1, 0)[:, 0])).detach().requires_grad_()
    scores, _ = model.states(x)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor([0]))
    (of_loss,) = torch.autograd.grad(loss, x, retain_graph=True)
    (of_odds,) = torch.autograd.grad(scores[0, 0] - scores[0, 1], x)
    torch.testing.assert_close(of_loss, (scores.softmax(1)[0, 0] - 1) * of_odds)


def test_linear_reader_finds_what_is_there_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    noise = np.repeat(rng.normal(size=(80, 1, 4)), 2, axis=1)
    kept = noise.copy()
    kept[..., 3] = 0.001 * np.array([-1.0, 1.0])
    assert key_pairs.linear_reader(kept) == 1
    assert key_pairs.linear_reader(noise) == 0  # the two states of a pair are the same


def test_linear_reader_takes_states_that_are_not_centred() -> None:
    states = np.full((40, 2, 1), 5.0)
    states[:, 1] += 0.1  # 5.0 and 5.1: no threshold at 0 tells them apart
    assert key_pairs.linear_reader(states) == 1


def test_slope_is_the_mean_derivative_of_tanh_at_the_last_hidden_states() -> None:
    model = key_pairs.build(VARIANTS[3], Keys(hidden=4), 0)
    asked = stories(4, 1)
    h, _ = model.layer(model.embedding(torch.from_numpy(asked.reshape(8, -1))))
    expected = 1 - h[:, -1].detach().numpy() ** 2
    assert key_pairs.ask(model, asked)["slope"] == pytest.approx(expected.mean(), abs=1e-6)


def test_training_stops_where_it_is_solved() -> None:
    config = Keys(updates=100, hidden=16, pairs=8, rate=0.02)
    model = key_pairs.build(Variant("", "LSTM", keep=4.0), config, 0)
    norms = key_pairs.train(model, config, 0, np.random.default_rng(0))
    assert len(norms) < 100
    assert key_pairs.ask(model, stories(20, 0, seed=1))["used"] == 1


def test_reader_gradients_equal_finite_differences() -> None:
    reader = Reader.initial(gain=1.2, inputs=0.5, embedding=3, hidden=4, rng=np.random.default_rng(0))
    asked = stories(2, 1)
    _, gradients = reader.gradients(asked)
    for name, value in reader.parameters().items():

        def loss(values: np.ndarray, value: np.ndarray = value) -> float:
            before = value.copy()
            value[...] = values
            result = reader.gradients(asked)[0]
            value[...] = before
            return result

        np.testing.assert_allclose(gradients[name], numerical_gradient(loss, value), rtol=0, atol=1e-8)


def test_clipping_records_both_ways() -> None:
    config = Clipping(gains=(0.5, 3.0), updates=3, asked=4, seeds=(0, 1))
    record = key_clipping.run(config)
    for name in ("right", "largest", "median", "over", "loss"):
        assert np.shape(record.metrics[name]) == (2, 2, 2)
    norms = np.array(record.metrics["norms"])
    assert norms.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(norms[:, 0, 0], norms[:, 0, 1])  # nothing was clipped: the same run twice
    np.testing.assert_array_equal(norms[..., 0, 0], norms[..., 1, 0])


def test_clipping_shortens_the_steps_where_it_is_asked_for() -> None:
    config = Clipping(updates=20, asked=4, threshold=1e-9)
    free, held = (key_clipping.one((3.0, clip, 0), config)["norms"] for clip in (False, True))
    seen = np.random.default_rng([0, 1])
    reader = key_clipping.start(config, 3.0, 0)  # steps of at most 1e-10 leave it where it began
    still = [reader.gradients(stories_of.key_pairs(8, 3, seen))[1] for _ in range(20)]
    norms = [np.sqrt(sum((g**2).sum() for g in gradients.values())) for gradients in still]
    np.testing.assert_allclose(held, norms, rtol=1e-3)
    assert np.abs(np.array(free) - norms).max() > 0.01


def test_reader_start_has_the_gain_as_singular_values() -> None:
    config = Clipping()
    one, other = (key_clipping.start(config, gain, 0).cell.W_h for gain in (0.5, 3.0))
    np.testing.assert_allclose(np.linalg.svd(one, compute_uv=False), 0.5, rtol=1e-12)
    np.testing.assert_allclose(other, 6 * one, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Variant("", "Elman"), "cell must be one of"),  # type: ignore[arg-type]
        (lambda: Variant("", "RNN", keep=1.0), "keep must be 0 for an RNN"),
        (lambda: Variant("", "GRU", inputs=0.0), "inputs must be positive"),
        (lambda: Keys(variants=()), "variants: expected at least one"),
        (lambda: Keys(events=(-1,)), "events must be at least 0"),
        (lambda: Keys(asked=3), "asked must be even"),
        (lambda: Keys(seeds=()), "seeds: expected at least one"),
        (lambda: Clipping(gains=(0.0,)), "gains must be positive"),
        (lambda: Clipping(seeds=()), "seeds: expected at least one"),
    ],
)
def test_configurations_refuse(make, message) -> None:
    with pytest.raises(ValueError, match=message):
        make()
