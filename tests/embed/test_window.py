"""The window language model: what is read, what is predicted, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.embed.optim import Adam
from onesentence.embed.window import WindowLM

VOCABULARY = ["PAD", "BOS", "EOS", "I", "gave", "her", "him", "a", "book"]
PAD, BOS, EOS, I, GAVE, HER, HIM, A, BOOK = range(9)  # noqa: E741


def model(window: int = 2, seed: int = 0) -> WindowLM:
    rng = np.random.default_rng(seed)
    return WindowLM.initial(VOCABULARY, window=window, embedding=3, hidden=4, rng=rng, pad="PAD")


WORDS = st.lists(st.integers(I, BOOK), max_size=8)


def test_widths_of_the_course() -> None:
    table = ["her", "him", "you", "a", "EOS", "I", "gave", "BOS"]
    rng = np.random.default_rng(0)
    lm = WindowLM.initial(table, window=2, embedding=2, hidden=3, rng=rng, candidates=table[:5])
    done = lm.network.forward([[5, 6]])
    assert (done.z.size, done.h.size, done.a.size) == (4, 3, 5)
    p = lm.distribution([5, 6])
    assert p.shape == (8,)
    assert (p[5:] == 0).all()


@given(context=WORDS)
def test_distribution_sums_to_one_and_skips_bos_and_pad(context: list[int]) -> None:
    p = model().distribution(context)
    assert p.sum() == pytest.approx(1)
    assert (p[[PAD, BOS]] == 0).all()
    assert (p[EOS:] > 0).all()


@given(far=WORDS, near=st.lists(st.integers(I, BOOK), min_size=2, max_size=2))
def test_distribution_never_sees_beyond_the_window(far: list[int], near: list[int]) -> None:
    lm = model()
    np.testing.assert_array_equal(lm.distribution(far + near), lm.distribution(near))


def test_distribution_sees_every_token_of_the_window() -> None:
    lm = model(window=3)
    here = lm.distribution([I, GAVE, HER])
    for place in range(3):
        other = [I, GAVE, HER]
        other[place] = BOOK
        assert np.abs(lm.distribution(other) - here).max() > 1e-4


def test_distribution_pads_with_bos_on_the_left() -> None:
    lm = model(window=3)
    assert lm.window_of([]).tolist() == [BOS] * 3
    assert lm.window_of([I]).tolist() == [BOS, BOS, I]
    assert lm.window_of([I, GAVE, HER, A]).tolist() == [GAVE, HER, A]
    np.testing.assert_array_equal(lm.distribution([I]), lm.distribution([BOS, BOS, I]))


def test_examples_by_hand() -> None:
    windows, targets = model().examples([[I, GAVE], []])
    assert windows.tolist() == [[BOS, BOS], [BOS, I], [I, GAVE], [BOS, BOS]]
    assert [model().candidates[row] for row in targets] == [I, GAVE, EOS, EOS]


def test_examples_never_score_pad() -> None:
    lm = model()
    for ours, theirs in zip(lm.examples([[I, GAVE, PAD, PAD]]), lm.examples([[I, GAVE]]), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert lm.perplexity([[I, PAD, PAD], [I, GAVE, A]]) == lm.perplexity([[I], [I, GAVE, A]])


@given(sentence=WORDS)
def test_log_prob_sentence_is_the_chain_of_prob(sentence: list[int]) -> None:
    lm = model()
    steps = [lm.prob(token, sentence[:t]) for t, token in enumerate([*sentence, EOS])]
    assert lm.log_prob_sentence(sentence) == pytest.approx(np.log(steps).sum())


def test_probabilities_of_short_sentences_sum_below_one() -> None:
    lm = model()
    words = range(I, BOOK + 1)
    total = sum(np.exp(lm.log_prob_sentence(s)) for s in [[], *([a] for a in words)])
    total += sum(np.exp(lm.log_prob_sentence([a, b])) for a in words for b in words)
    assert 0 < total < 1


def test_perplexity_is_exp_of_nats_per_token() -> None:
    lm, sentences = model(), [[I, GAVE, HER], [A]]
    total = sum(lm.log_prob_sentence(s) for s in sentences)
    assert lm.perplexity(sentences) == pytest.approx(np.exp(-total / 6))


def test_perplexity_of_equal_logits_is_the_number_of_candidates() -> None:
    lm = model()
    flat = {**lm.network.parameters(), "U": np.zeros_like(lm.network.U)}
    uniform = replace(lm, network=type(lm.network)(**flat))
    assert uniform.perplexity([[I, GAVE]]) == pytest.approx(7)


def test_trained_lowers_perplexity_and_learns_the_order() -> None:
    sentences = [[I, GAVE, HER, A, BOOK], [I, GAVE, HIM, A, BOOK]]
    rng = np.random.default_rng(0)
    start = model()
    lm, losses = start.trained(sentences, optimiser=Adam(rate=0.05), epochs=60, batch=4, rng=rng)
    assert lm.perplexity(sentences) < 1.3 < start.perplexity(sentences)
    assert losses[-1] < losses[0]
    assert lm.distribution([I, GAVE, HIM, A]).argmax() == BOOK
    assert abs(lm.prob(HER, [I, GAVE]) - 0.5) < 0.1


def test_initial_refuses_a_bad_vocabulary() -> None:
    rng, sizes = np.random.default_rng(0), {"window": 2, "embedding": 2, "hidden": 2}
    with pytest.raises(ValueError, match="a token stands twice"):
        WindowLM.initial(["BOS", "EOS", "a", "a"], rng=rng, **sizes)
    with pytest.raises(ValueError, match="expected 'EOS' among the tokens"):
        WindowLM.initial(["BOS", "a"], rng=rng, **sizes)
    with pytest.raises(ValueError, match="expected 'PAD' among the tokens"):
        WindowLM.initial(["BOS", "EOS"], rng=rng, pad="PAD", **sizes)
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        WindowLM.initial(["BOS", "EOS"], rng=rng, **{**sizes, "window": 0})
    with pytest.raises(ValueError, match="candidates must hold eos"):
        WindowLM.initial(["BOS", "EOS", "a"], rng=rng, candidates=["a"], **sizes)
    with pytest.raises(ValueError, match="candidates must hold eos and neither bos"):
        WindowLM.initial(["BOS", "EOS", "a"], rng=rng, candidates=["EOS", "BOS"], **sizes)


def test_model_refuses_ids_that_do_not_fit() -> None:
    lm = model()
    with pytest.raises(ValueError, match=r"bos must lie in \[0, 9\)"):
        replace(lm, bos=9)
    with pytest.raises(ValueError, match="bos, eos and pad must differ"):
        replace(lm, pad=lm.bos)
    with pytest.raises(ValueError, match="candidates must be 7 different ids"):
        replace(lm, candidates=lm.candidates[:-1])
    with pytest.raises(ValueError, match=r"candidates must lie in \[0, 9\)"):
        replace(lm, candidates=(*lm.candidates[:-1], 99))


@pytest.mark.parametrize(
    ("context", "error", "message"),
    [
        ([9], ValueError, r"context must lie in \[0, 9\)"),
        ([9, I, GAVE, A], ValueError, r"context must lie in \[0, 9\)"),
        ([-1], ValueError, r"context must lie in \[0, 9\)"),
        ([I, EOS], ValueError, "context: EOS ends a sentence"),
        ([PAD], ValueError, "context: PAD ends a sentence"),
        ([1.5], TypeError, "context must hold integers"),
        ([[I]], ValueError, "context must be a sequence of ids"),
    ],
)
def test_distribution_refuses_contexts(context: list, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model().distribution(context)


def test_prob_refuses_ids_outside_the_table() -> None:
    with pytest.raises(ValueError, match=r"token must lie in \[0, 9\), got 9"):
        model().prob(9, [])
    assert model().prob(BOS, [I]) == 0


def test_examples_refuse_bad_sentences() -> None:
    lm = model()
    with pytest.raises(ValueError, match="expected at least one, got none"):
        lm.examples([])
    with pytest.raises(ValueError, match="BOS is added by the model"):
        lm.examples([[BOS, I]])
    with pytest.raises(ValueError, match="EOS ends a sentence"):
        lm.examples([[I, EOS]])
    with pytest.raises(ValueError, match="PAD ends a sentence"):
        lm.examples([[I, PAD, GAVE]])
    with pytest.raises(ValueError, match="expected at least one, got none"):
        lm.perplexity([])
    rng = np.random.default_rng(0)
    few = WindowLM.initial(
        VOCABULARY, window=1, embedding=1, hidden=1, rng=rng, candidates=["EOS", "I"], pad="PAD"
    )
    with pytest.raises(ValueError, match="token 4 is no candidate"):
        few.examples([[GAVE]])
