"""Subsampling and noise: formulas by hand, samplers against their distributions, refusals."""

import numpy as np
import pytest
import scipy.stats

from onesentence.embed.sampling import NoiseSampler, discard_probability, noise_distribution, subsample


def rng(seed=0):
    return np.random.default_rng(seed)


def test_discard_probability_values_by_hand():
    np.testing.assert_allclose(discard_probability([1.0, 0.04, 0.01, 0.001], 0.01), [0.9, 0.5, 0, 0])


def test_subsample_keeps_the_expected_share():
    sentences = [[0] * 96 + [1] * 4] * 200
    kept = [word for words in subsample(sentences, 2, 0.06, rng()) for word in words]
    share = kept.count(0) / (200 * 96)
    assert abs(share - 0.25) < 0.02  # sqrt(0.06 / 0.96)
    assert kept.count(1) == 200 * 4


def test_noise_distribution_values_by_hand():
    np.testing.assert_allclose(noise_distribution([81, 16, 0, 1]), np.array([27, 8, 0, 1]) / 36)
    np.testing.assert_allclose(noise_distribution([81, 16, 0, 1], power=0), [1 / 3, 1 / 3, 0, 1 / 3])
    np.testing.assert_allclose(noise_distribution([3, 1], power=1), [0.75, 0.25])


def test_noise_distribution_lifts_rare_words():
    counts = np.array([1000, 100, 10, 1])
    ratio = noise_distribution(counts) / noise_distribution(counts, 1)
    assert (np.diff(ratio) > 0).all()


def test_noise_sampler_follows_its_distribution():
    p = noise_distribution([1000, 300, 0, 100, 30, 10])
    drawn = NoiseSampler(p).draw((100, 200), rng(7))
    counts = np.bincount(drawn.ravel(), minlength=6)
    assert counts[2] == 0
    seen = p > 0
    assert scipy.stats.chisquare(counts[seen], p[seen] * drawn.size).pvalue > 1e-3


def test_noise_sampler_never_draws_beyond_the_last_possible_word():
    class Edge(np.random.Generator):
        def random(self, shape):
            return np.full(shape, 1 - 2**-53)

    p = np.array([*[0.1] * 10, 0.0])  # sums to a little less than 1 in float64
    assert NoiseSampler(p).draw(4, Edge(np.random.PCG64(0))).tolist() == [9] * 4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: discard_probability([0.0], 0.1), ValueError, r"frequency must lie in \(0, 1\]"),
        (lambda: discard_probability([0.5], 0.0), ValueError, "threshold must be positive and finite, got 0"),
        (lambda: subsample([[]], 2, 0.1, rng()), ValueError, "sentences must hold at least one word"),
        (lambda: subsample([[2]], 2, 0.1, rng()), ValueError, r"sentences must lie in \[0, 2\)"),
        (lambda: subsample([[0]], 2, 0.1, 0), TypeError, "rng must be a numpy Generator, got int"),
        (lambda: noise_distribution([0, 0]), ValueError, "counts must be a vector with a positive entry"),
        (lambda: noise_distribution([1], -1), ValueError, "power must be finite and at least 0, got -1"),
        (lambda: NoiseSampler([0.5, 0.4]), ValueError, "probabilities must be a vector .* sum to 1"),
        (lambda: NoiseSampler([1.0]).draw(1, None), TypeError, "rng must be a numpy Generator"),
    ],
)
def test_sampling_refuses_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sampler_of_many_single_precision_probabilities_reaches_every_word():
    size = 200_003
    sampler = NoiseSampler(np.full(size, 1 / size, dtype=np.float32))
    drawn = sampler.draw(400_000, np.random.default_rng(0))
    last = (drawn >= size - 1000).mean()
    assert last == pytest.approx(1000 / size, rel=0.2)


@pytest.mark.parametrize("counts", [[1e308, 1.0], [1e-200, 1e-200]])
def test_noise_distribution_survives_the_ends_of_the_range(counts):
    share = noise_distribution(counts, 2)
    assert share.sum() == pytest.approx(1)
    assert share[0] >= share[1]
