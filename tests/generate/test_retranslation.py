"""Displays, erasure and delay of a translation that is written anew, against values by hand and against plain counting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.generate.retranslation import (
    average_lagging,
    common_prefix,
    displays,
    erased,
    final_at,
)

TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=6).map(tuple), min_size=1, max_size=7)


@given(TEXTS)
def test_erased_equals_a_screen_that_is_edited(shown):
    screen: list[int] = []
    withdrawn = 0
    for text in shown:
        while screen != list(text[: len(screen)]):
            screen.pop()
            withdrawn += 1
        screen += text[len(screen) :]
    assert erased(shown) == withdrawn


@given(TEXTS)
def test_final_at_is_the_first_display_from_which_on_a_prefix_stays(shown):
    for t, i in enumerate(final_at(shown), start=1):
        stays = [all(text[:t] == shown[-1][:t] for text in shown[j:]) for j in range(len(shown))]
        assert i == stays.index(True) + 1


@given(TEXTS, st.integers(0, 8))
def test_displays_hide_the_end_of_all_but_the_last(versions, k):
    shown = displays(versions, k)
    assert shown[-1] == versions[-1]
    for text, version in zip(shown[:-1], versions[:-1], strict=True):
        assert len(text) == max(len(version) - k, 0)
        assert common_prefix(text, version) == len(text)


@given(TEXTS, st.integers(0, 7))
def test_a_longer_mask_never_makes_final_earlier(versions, k):
    one, other = (final_at(displays(versions, n)) for n in (k, k + 1))
    assert all(a <= b for a, b in zip(one, other, strict=True))


def test_a_mask_longer_than_every_version_withdraws_nothing_and_waits_to_the_end():
    shown = displays([(1, 2), (3, 4), (1, 4)], 9)
    assert (erased(shown), final_at(shown)) == (0, (3, 3))


def test_average_lagging_by_hand():
    # wait-k on equal lengths lags k, Ma et al. 2019: g(t) = min(k + t - 1, S)
    for k in (1, 3, 6):
        assert average_lagging([min(k + t, 6) for t in range(6)], S=6) == pytest.approx(k)
    # S = 2, T = 4: (1 - 0) + (1 - 1/2) + (2 - 1) over three tokens
    assert average_lagging([1, 1, 2, 2], S=2) == pytest.approx(2.5 / 3)


def test_average_lagging_that_never_reads_the_end_counts_all_tokens():
    assert average_lagging([1, 1], S=2) == pytest.approx((1 + 0) / 2)


@pytest.mark.parametrize("g", [(), (2, 1), (0, 1), (1, 4)])
def test_average_lagging_refuses(g):
    with pytest.raises(ValueError, match=r"g must hold units in \[1, 3\]"):
        average_lagging(g, S=3)


def test_the_others_refuse():
    with pytest.raises(ValueError, match="k must be at least 0, got -1"):
        displays([(1,)], -1)
    for function in (erased, final_at, lambda texts: displays(texts, 0)):
        with pytest.raises(ValueError, match="expected at least one text, got none"):
            function([])
