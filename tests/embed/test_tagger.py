"""The window tagger and what independent labels may do."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.embed.optim import Adam
from onesentence.embed.tagger import PERSON_LABELS, WindowTagger, bio_spans, illegal_transitions
from onesentence.text.entities import Span

VOCABULARY = ["PAD", "UNK", "李", "华", "书", "看"]
LABELS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), max_size=7)


def tagger(radius: int = 2, seed: int = 0) -> WindowTagger:
    rng = np.random.default_rng(seed)
    return WindowTagger.initial(VOCABULARY, PERSON_LABELS, radius=radius, embedding=3, hidden=6, rng=rng)


def test_windows_pad_at_both_borders() -> None:
    assert tagger().windows([2, 3]).tolist() == [[0, 0, 2, 3, 0], [0, 2, 3, 0, 0]]
    assert tagger(radius=0).windows([2, 3]).tolist() == [[2], [3]]


def test_window_of_five_vectors_is_five_times_the_width() -> None:
    assert tagger().network.W.shape == (6, 5 * 3)


def test_probabilities_sum_to_one_at_each_position() -> None:
    p = tagger().probabilities([2, 3, 5, 4])
    assert p.shape == (4, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_probabilities_see_no_further_than_the_radius() -> None:
    one, other = tagger().probabilities([2, 3, 5, 4, 4]), tagger().probabilities([3, 3, 5, 4, 4])
    assert (np.abs(one - other).max(axis=1) > 1e-6).tolist() == [True, True, True, False, False]
    np.testing.assert_array_equal(one[3:], other[3:])


def test_tag_takes_the_best_label_of_each_row() -> None:
    t, ids = tagger(), [2, 3, 5]
    assert t.tag(ids) == tuple(PERSON_LABELS[i] for i in t.probabilities(ids).argmax(axis=1))


def test_trained_learns_a_name() -> None:
    sentences, labels = [[2, 3, 5, 4], [5, 2, 3]], [["B-PER", "I-PER", "O", "O"], ["O", "B-PER", "I-PER"]]
    rng = np.random.default_rng(0)
    start = tagger()
    trained, losses = start.trained(sentences, labels, optimiser=Adam(rate=0.05), epochs=40, batch=4, rng=rng)
    assert losses[-1] < losses[0]
    assert [list(trained.tag(s)) for s in sentences] == labels


def test_gradient_path_is_that_of_the_network() -> None:
    t = tagger()
    windows, targets = t.examples([[2, 3]], [["B-PER", "I-PER"]])
    assert targets.tolist() == [1, 2]
    expected = -np.log(np.take_along_axis(t.probabilities([2, 3]), targets[:, None], axis=1)).mean()
    assert t.network.loss(windows, targets) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ([], []),
        (["O", "B-PER", "I-PER", "I-PER", "O"], []),
        (["B-PER", "B-PER", "I-PER"], []),
        (["I-PER", "I-PER"], [0]),
        (["O", "I-PER", "O", "I-PER"], [1, 3]),
        (["B-PER", "I-LOC"], [1]),
        (["B-LOC", "I-LOC", "I-PER", "I-PER"], [2]),
    ],
)
def test_illegal_transitions_by_hand(labels: list[str], wrong: list[int]) -> None:
    assert illegal_transitions(labels) == wrong


def test_independent_argmax_can_be_illegal() -> None:
    # any output of the network is reachable through c alone: here I-PER is best at every position
    t = tagger()
    bias = {**t.network.parameters(), "U": np.zeros((3, 6)), "c": np.array([0.0, 0.0, 1.0])}
    always = replace(t, network=type(t.network)(**bias))
    assert illegal_transitions(always.tag([2, 3])) == [0]


def test_illegal_share_of_all_sequences() -> None:
    # legal BIO sequences of one type and length n: 1, 2, 5, 13, ...
    legal = [
        sum(not illegal_transitions(labels) for labels in product(PERSON_LABELS, repeat=n)) for n in range(4)
    ]
    assert legal == [1, 2, 5, 13]


@given(labels=LABELS)
def test_bio_spans_agree_on_legal_labels(labels: list[str]) -> None:
    if not illegal_transitions(labels):
        assert bio_spans(labels, orphan="drop") == bio_spans(labels, orphan="open")


@given(labels=LABELS)
def test_bio_spans_open_loses_no_labelled_position(labels: list[str]) -> None:
    spans = bio_spans(labels, orphan="open")
    covered = [at for span in spans for at in range(span.start, span.end)]
    assert covered == [at for at, label in enumerate(labels) if label != "O"]
    assert set(bio_spans(labels, orphan="drop")) <= set(spans)


def test_bio_spans_by_hand() -> None:
    labels = ["B-PER", "I-PER", "O", "I-PER", "I-PER", "B-PER", "I-LOC"]
    assert bio_spans(labels, orphan="drop") == (Span(0, 2, "PER"), Span(5, 6, "PER"))
    assert bio_spans(labels, orphan="open") == (
        Span(0, 2, "PER"),
        Span(3, 5, "PER"),
        Span(5, 6, "PER"),
        Span(6, 7, "LOC"),
    )


def test_labels_outside_bio_are_refused() -> None:
    for bad in ("PER", "B-", "E-PER", ""):
        with pytest.raises(ValueError, match="labels must be O, B-X or I-X"):
            illegal_transitions([bad])
    with pytest.raises(ValueError, match="orphan must be 'drop' or 'open'"):
        bio_spans(["O"], orphan="mend")  # type: ignore[arg-type]


def test_tagger_refuses_bad_input() -> None:
    rng, sizes = np.random.default_rng(0), {"embedding": 2, "hidden": 2}
    with pytest.raises(ValueError, match="radius must be at least 0, got -1"):
        tagger(radius=-1)
    with pytest.raises(ValueError, match="expected 'PAD' among the tokens"):
        WindowTagger.initial(["a"], PERSON_LABELS, radius=1, rng=rng, **sizes)
    with pytest.raises(ValueError, match="labels must be O, B-X or I-X"):
        WindowTagger.initial(["PAD"], ["O", "NAME"], radius=1, rng=rng, **sizes)
    with pytest.raises(ValueError, match="labels must be 2 different labels"):
        WindowTagger.initial(["PAD"], ["O", "O"], radius=1, rng=rng, **sizes)
    with pytest.raises(ValueError, match=r"pad must lie in \[0, 6\)"):
        replace(tagger(), pad=6)
    with pytest.raises(ValueError, match="at least one id"):
        tagger().tag([])
    with pytest.raises(ValueError, match="PAD stands beyond the borders"):
        tagger().tag([2, 0])
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 6\), got 6"):
        tagger().tag([6])


def test_network_with_an_even_window_is_refused() -> None:
    t = tagger()
    even = type(t.network).initial(
        table=6, window=4, embedding=2, hidden=2, outputs=3, rng=np.random.default_rng(0)
    )
    with pytest.raises(ValueError, match="odd window, got 4"):
        replace(t, network=even)


def test_examples_refuse_labels_that_do_not_fit() -> None:
    t = tagger()
    with pytest.raises(ValueError, match="one label per id, got 1 for 2"):
        t.examples([[2, 3]], [["O"]])
    with pytest.raises(ValueError, match="labels must be among"):
        t.examples([[2]], [["B-LOC"]])
    with pytest.raises(ValueError, match="expected at least one, got none"):
        t.examples([], [])
