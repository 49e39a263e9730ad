"""Choice rules: values by hand, torch as a second implementation, laws, frequencies against exact probabilities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from onesentence.generate.sampling import Sampler, greedy, inverse_cdf, top_k, top_p, with_temperature

GIVEN = np.array([0.6, 0.3, 0.1])
LOGITS = np.random.default_rng(0).normal(size=(4, 3, 9))

finite_logits = arrays(np.float64, st.integers(1, 8), elements=st.floats(-50, 50))
coarse_logits = arrays(np.float64, st.integers(1, 8), elements=st.integers(-2, 2).map(float))  # many ties


def entropy(p: np.ndarray) -> float:
    kept = p[p > 0]
    return float(-(kept * np.log(kept)).sum())


def torch_reference(logits: np.ndarray, tau: float, k: int, threshold: float) -> np.ndarray:
    """Mask logits as processors of Hugging Face do: temperature, then top-k, then top-p from the small end."""
    scores = torch.from_numpy(logits) / tau
    scores = scores.masked_fill(scores < torch.topk(scores, k).values[..., -1:], -torch.inf)
    ordered, index = torch.sort(scores, descending=False)
    removed = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - threshold
    removed[..., -1:] = False
    scores = scores.masked_fill(removed.scatter(-1, index, removed), -torch.inf)
    return scores.softmax(dim=-1).numpy()


def test_with_temperature_squares_the_odds_at_one_half():
    np.testing.assert_allclose(
        with_temperature(np.log(GIVEN), 0.5), np.array([36, 9, 1]) / 46, rtol=0, atol=1e-15
    )


def test_with_temperature_one_is_softmax():
    expected = torch.from_numpy(LOGITS).softmax(dim=-1).numpy()
    np.testing.assert_allclose(with_temperature(LOGITS, 1), expected, rtol=0, atol=1e-15)


def test_with_temperature_zero_is_the_limit_and_finite():
    limit = with_temperature(LOGITS, 1e-9)
    np.testing.assert_allclose(with_temperature(LOGITS, 0), limit, rtol=0, atol=1e-12)


@pytest.mark.parametrize("tau", [5e-324, 1e-300, 1e300, 1.7e308])
def test_with_temperature_at_the_ends_of_the_range(tau):
    p = with_temperature([1e308, -1e308, -np.inf, 0.0], tau)
    assert np.isfinite(p).all()
    assert p[2] == 0
    assert p.sum() == pytest.approx(1, abs=1e-12)


def test_with_temperature_of_float32_divides_in_float64():
    np.testing.assert_array_equal(with_temperature(np.float32([0, 1]), 1e-60), [0, 1])


def test_top_k_by_hand():
    np.testing.assert_allclose(top_k(GIVEN, 2), [2 / 3, 1 / 3, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(top_k([0.1, 0.6, 0.3], 2), [0, 2 / 3, 1 / 3], rtol=0, atol=1e-15)


@pytest.mark.parametrize("k", [3, 4, 10**9])
def test_top_k_of_the_whole_vocabulary_changes_nothing(k):
    np.testing.assert_allclose(top_k(GIVEN, k), GIVEN, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("threshold", "kept"), [(0.05, 1), (0.6, 1), (0.61, 2), (0.9, 2), (0.91, 3), (1.0, 3), (1e-300, 1)]
)
def test_top_p_keeps_the_candidate_that_crosses(threshold, kept):
    expected = np.where(np.arange(3) < kept, GIVEN, 0)
    np.testing.assert_allclose(top_p(GIVEN, threshold), expected / expected.sum(), rtol=0, atol=1e-15)


def test_ties_keep_the_lowest_ids():
    even = np.full(4, 0.25)
    assert greedy(even) == 0
    assert np.flatnonzero(top_k(even, 2)).tolist() == [0, 1]
    assert np.flatnonzero(top_p(even, 0.6)).tolist() == [0, 1, 2]
    assert np.flatnonzero(with_temperature(even, 0)).tolist() == [0]


@pytest.mark.parametrize("tau", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("k", [1, 4, 9])
@pytest.mark.parametrize("threshold", [0.2, 0.7, 0.95])
def test_rules_equal_torch(tau, k, threshold):
    sampler = Sampler(np.random.default_rng(0), temperature=tau, top_k=k, top_p=threshold)
    expected = torch_reference(LOGITS, tau, k, threshold)
    np.testing.assert_allclose(sampler.distribution(LOGITS), expected, rtol=0, atol=1e-12)


@given(coarse_logits, st.floats(0.05, 20))
def test_top_1_is_greedy(logits, tau):
    p = top_k(with_temperature(logits, tau), 1)
    np.testing.assert_array_equal(p, with_temperature(logits, 0))
    assert p[greedy(logits)] == 1


@given(finite_logits)
def test_top_p_of_one_is_the_identity(logits):
    p = with_temperature(logits, 1)
    np.testing.assert_array_equal(top_p(p, 1), p)


@given(coarse_logits, st.floats(0, 20), st.integers(1, 10), st.floats(1e-6, 1))
def test_rules_keep_a_distribution_and_its_order(logits, tau, k, threshold):
    full = with_temperature(logits, tau)
    for cut in (full, top_k(full, k), top_p(full, threshold), top_p(top_k(full, k), threshold)):
        assert (cut > 0).any()
        assert cut.sum() == pytest.approx(1, abs=1e-12)
        assert not (cut[full == 0] > 0).any()
        kept = cut > 0
        assert full[kept].min() >= full[~kept].max(initial=0)  # nothing larger was cut
        ratio = cut[kept] / full[kept]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)  # what stays keeps its proportions


@given(finite_logits, st.floats(1e-6, 1 - 1e-6))
def test_top_p_keeps_the_smallest_set(logits, threshold):
    p = with_temperature(logits, 1)
    kept = p[top_p(p, threshold) > 0]
    assert kept.sum() >= threshold - 1e-9
    assert kept.sum() - kept.min() < threshold


@given(finite_logits, st.floats(0.05, 20), st.floats(1.01, 3))
def test_entropy_grows_with_temperature(logits, tau, factor):
    cold, warm = with_temperature(logits, tau), with_temperature(logits, tau * factor)
    assert entropy(warm) >= entropy(cold) - 1e-9


@given(arrays(np.float64, (3, 5), elements=st.floats(-9, 9)), st.integers(1, 5), st.floats(0.1, 1))
def test_rows_of_a_batch_are_cut_as_alone(logits, k, threshold):
    whole = top_p(top_k(with_temperature(logits, 0.7), k), threshold)
    for row, alone in zip(whole, logits, strict=True):
        np.testing.assert_array_equal(row, top_p(top_k(with_temperature(alone, 0.7), k), threshold))


def test_inverse_cdf_stays_inside_and_avoids_zeros():
    p = [0.0, 0.3, 0.0, 0.7 - 1e-17, 0.0]
    ids = [int(inverse_cdf(p, u)) for u in (0.0, 0.3 - 1e-12, 0.3, 1 - 2**-53)]
    assert ids == [1, 1, 3, 3]


def p_value(sampler: Sampler, logits: np.ndarray, exact: np.ndarray, draws: int = 6_000) -> float:
    """Chi-square test of the drawn frequencies against exact probabilities, candidates of probability 0 unseen."""
    counts = np.bincount(sampler(np.broadcast_to(logits, (draws, logits.size))), minlength=logits.size)
    assert not counts[exact == 0].any()
    possible = exact > 0
    return float(stats.chisquare(counts[possible], draws * exact[possible]).pvalue)


@pytest.mark.parametrize(
    ("settings", "exact"),
    [
        ({}, [0.0, 0.6, 0.1, 0.3, 0.0]),
        ({"temperature": 0.5}, [0.0, 36 / 46, 1 / 46, 9 / 46, 0.0]),
        ({"top_k": 2}, [0.0, 2 / 3, 0.0, 1 / 3, 0.0]),
        ({"top_p": 0.95}, [0.0, 0.6, 0.1, 0.3, 0.0]),
        ({"temperature": 0.5, "top_p": 0.9}, [0.0, 0.8, 0.0, 0.2, 0.0]),
    ],
)
def test_sampler_draws_with_the_exact_frequencies(settings, exact):
    logits = np.array([-np.inf, np.log(0.6), np.log(0.1), np.log(0.3), -np.inf])
    assert p_value(Sampler(np.random.default_rng(1), **settings), logits, np.array(exact)) > 0.01


def test_the_chi_square_test_sees_a_wrong_temperature():
    logits = np.log(GIVEN)
    assert p_value(Sampler(np.random.default_rng(1), temperature=0.8), logits, GIVEN) < 1e-6


def test_consecutive_draws_of_one_row_have_the_exact_frequencies():
    sampler = Sampler(np.random.default_rng(2))
    counts = np.bincount([int(sampler(np.log(GIVEN))) for _ in range(3000)], minlength=3)
    assert stats.chisquare(counts, 3000 * GIVEN).pvalue > 0.01


def test_rows_draw_independently():
    sampler = Sampler(np.random.default_rng(3))
    draws = np.array([sampler(np.log([GIVEN, GIVEN])) for _ in range(3000)])
    table = np.zeros((3, 3))
    np.add.at(table, tuple(draws.T), 1)
    assert stats.chi2_contingency(table).pvalue > 0.01


def test_sampler_of_the_same_seed_repeats_and_another_does_not():
    def draw(seed: int) -> list[int]:
        return Sampler(np.random.default_rng(seed))(np.zeros((50, 20))).tolist()

    assert draw(0) == draw(0)
    assert draw(0) != draw(1)


def test_sampler_rows_do_not_see_each_other():
    def runs(batch: np.ndarray, first: int = 0) -> np.ndarray:
        sampler = Sampler(np.random.default_rng(5), first=first)
        return np.array([sampler(batch) for _ in range(6)])

    batch = LOGITS.reshape(-1, 9)
    whole = runs(batch)
    for row in range(len(batch)):
        np.testing.assert_array_equal(whole[:, [row]], runs(batch[[row]], first=row))
    changed = batch.copy()
    changed[3] = 0
    others = np.arange(len(batch)) != 3
    np.testing.assert_array_equal(runs(changed)[:, others], whole[:, others])


def test_sampler_keeps_leading_axes():
    flat = Sampler(np.random.default_rng(6))(LOGITS.reshape(-1, 9))
    np.testing.assert_array_equal(Sampler(np.random.default_rng(6))(LOGITS), flat.reshape(4, 3))
    assert Sampler(np.random.default_rng(6))(LOGITS[0, 0]).shape == ()
    assert greedy(LOGITS).shape == (4, 3)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_minus_infinity_is_never_chosen(seed, tau):
    logits = [[-np.inf, 0.0, -np.inf, -1.0, -np.inf]] * 5
    sampler = Sampler(np.random.default_rng(seed), temperature=tau)
    assert set(sampler(logits).tolist()) <= {1, 3}


@pytest.mark.parametrize(
    "rule", [greedy, lambda a: with_temperature(a, 1), Sampler(np.random.default_rng(0))]
)
@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([0.0, np.nan], r"logits must be free of NaN and \+inf"),
        ([0.0, np.inf], r"logits must be free of NaN and \+inf"),
        ([[0.0, 0.0], [-np.inf, -np.inf]], "logits must leave a finite value in each row"),
        (np.zeros((2, 0)), r"logits must have shape \(..., V\) with V >= 1, got \(2, 0\)"),
        (1.0, r"logits must have shape \(..., V\) with V >= 1, got \(\)"),
    ],
)
def test_rules_refuse_logits_without_a_choice(rule, logits, message):
    with pytest.raises(ValueError, match=message):
        rule(logits)


@pytest.mark.parametrize(
    "rule", [lambda p: top_k(p, 1), lambda p: top_p(p, 0.5), lambda p: inverse_cdf(p, 0.5)]
)
@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, np.nan], "p must be finite and not negative"),
        ([1.5, -0.5], "p must be finite and not negative"),
        ([np.inf, 0.0], "p must be finite and not negative"),
        ([0.0, 0.0], "p must sum to 1 in each row, got a row that sums to 0"),
        ([2.0, 1.0], "p must sum to 1 in each row, got a row that sums to 3"),
        ([], r"p must have shape \(..., V\) with V >= 1, got \(0,\)"),
    ],
)
def test_cuts_refuse_what_is_no_distribution(rule, p, message):
    with pytest.raises(ValueError, match=message):
        rule(p)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: with_temperature([0.0], -0.1), ValueError, "tau must be finite and at least 0, got -0.1"),
        (lambda: with_temperature([0.0], np.inf), ValueError, "tau must be finite and at least 0, got inf"),
        (lambda: with_temperature([0.0], np.nan), ValueError, "tau must be finite and at least 0, got nan"),
        (lambda: with_temperature([0.0], "1"), TypeError, "tau must be a number, got '1'"),
        (lambda: with_temperature([0.0], True), TypeError, "tau must be a number, got True"),
        (lambda: with_temperature([1j], 1), TypeError, "logits must hold real numbers"),
        (lambda: top_k([1.0], 0), ValueError, "k must be at least 1, got 0"),
        (lambda: top_k([1.0], 2.0), TypeError, "k must be an integer, got 2.0"),
        (lambda: top_k([1.0], True), TypeError, "k must be an integer, got True"),
        (lambda: top_p([1.0], 0), ValueError, r"threshold must lie in \(0, 1\], got 0"),
        (lambda: top_p([1.0], 1.5), ValueError, r"threshold must lie in \(0, 1\], got 1.5"),
        (lambda: top_p([1.0], np.nan), ValueError, r"threshold must lie in \(0, 1\], got nan"),
        (lambda: inverse_cdf([1.0], 1.0), ValueError, r"u must lie in \[0, 1\)"),
        (lambda: inverse_cdf([1.0], [0.5]), ValueError, r"u must have shape \(\), got \(1,\)"),
        (lambda: Sampler(0), TypeError, "rng must be a numpy Generator, got int"),
    ],
)
def test_settings_out_of_range_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1}, "temperature must be finite"),
        ({"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"top_p": 0.0}, r"top_p must lie in \(0, 1\], got 0.0"),
        ({"first": -1}, "first must be at least 0, got -1"),
    ],
)
def test_sampler_refuses_at_construction(settings, message):
    with pytest.raises(ValueError, match=message):
        Sampler(np.random.default_rng(0), **settings)


def test_rules_leave_their_input_alone():
    p = GIVEN.copy()
    for result in (top_k(p, 1), top_p(p, 0.5), top_p(p, 1)):
        result[:] = 0
    np.testing.assert_array_equal(p, GIVEN)


def test_inverse_cdf_measures_u_against_the_sum_of_the_row():
    assert inverse_cdf([0.5, 0.500005], 0.499999).tolist() == 1  # 0.499999 of 1.000005 lies beyond 0.5
    assert inverse_cdf([0.5, 0.499995], 0.499999).tolist() == 0
    with pytest.raises(ValueError, match=r"p must sum to 1 in each row, got a row that sums to 1\.00002"):
        inverse_cdf([0.5, 0.50002], 0.5)
