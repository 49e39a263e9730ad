"""Observations that a reader makes of itself: by hand, and against a masked read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cityblock

from onesentence.attention.read import read
from onesentence.numerics import log_softmax
from onesentence.seq2seq.planted import PlantedReader
from onesentence.seq2seq.probes import difference, followed, observe, reading, total_variation

SOURCE, TARGET, WANTED = [2, 0, 3, 1], [1, 3, 0, 2, 4], [(3,), (2,), (1,), (0,), ()]
SHIFTED = PlantedReader("reading")


def seen(**change: Any) -> Any:
    given: dict[str, Any] = {"source": SOURCE, "target": TARGET, "output": SHIFTED.write(SOURCE)}
    given |= {"bos": SHIFTED.bos, "wanted": WANTED} | change
    return observe(SHIFTED, given.pop("source"), given.pop("target"), given.pop("output"), **given)


def test_total_variation_is_half_the_city_block_distance() -> None:
    p, q = np.random.default_rng(0).dirichlet(np.ones(6), size=2)
    assert total_variation(np.log(p), np.log(q)) == pytest.approx(cityblock(p, q) / 2)


def test_reading_is_a_mask_before_the_softmax() -> None:
    state = SHIFTED.start(SOURCE)
    keep = np.array([True, False, True, True])
    q = SHIFTED.sharp * np.eye(8)[2]  # one place too early
    masked = read(q, state.states[:, 4:], state.states[:, :4], mask=keep)
    logits, after = SHIFTED.step(SHIFTED.bos, reading(state, np.flatnonzero(keep).tolist()))
    np.testing.assert_allclose(after.weights, masked.weights[keep])
    np.testing.assert_allclose(logits[:4], SHIFTED.sharp * masked.context)


def test_observe_scores_are_sums_over_the_steps() -> None:
    found = seen()
    for text, score in zip((TARGET, found.output), found.log_p, strict=True):
        rows = followed(SHIFTED, SOURCE, text, SHIFTED.bos)
        assert score == pytest.approx(sum(row[y] for row, y in zip(rows, text, strict=True)))


def test_observe_hidden_and_aimed_by_hand() -> None:
    found = seen(twin=[2, 0, 3, 0])
    usual, _ = SHIFTED.step(SHIFTED.bos, SHIFTED.start(SOURCE))
    alone, _ = SHIFTED.step(SHIFTED.bos, reading(SHIFTED.start(SOURCE), [0, 1, 3]))
    assert found.hidden[2] == pytest.approx(total_variation(log_softmax(usual), log_softmax(alone)))
    assert np.argmax(found.hidden) == 2  # it reads one place too early, and nothing else
    assert np.argmax(found.weights) == 2  # of the wrong step itself; before it they are even
    assert found.aimed.likeliest == TARGET[0]
    assert found.twin == 1.0


def test_observe_changes_nothing_but_the_first_wrong_step() -> None:
    found = seen(output=[1, 3, 3, 2, 4])  # a given text that is right in its first two steps
    assert (found.first_error, found.wanted) == (2, (1,))
    rows = followed(SHIFTED, SOURCE, TARGET, SHIFTED.bos)
    assert found.free[2].p_likeliest == pytest.approx(np.exp(rows[2]).max())


def test_observe_without_a_wanted_position_does_not_aim() -> None:
    found = seen(output=[1, 3, 0, 2, 2])
    assert (found.first_error, found.wanted, found.aimed) == (4, (), None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wanted": WANTED[:2]}, "wanted: expected 5 entries, one per token of target, got 2"),
        ({"twin": [0]}, "twin: expected 4 tokens as in source, got 1"),
        ({"output": TARGET}, "no failure to explain"),
        ({"source": [1], "target": [1, 4], "wanted": [(0,), ()]}, "source: expected at least 2 tokens"),
    ],
)
def test_observe_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        seen(**change)


def test_observe_refuses_ids_that_are_none() -> None:
    with pytest.raises(TypeError, match="source must hold integers"):
        seen(source=[0.5, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wanted": [(9,), *WANTED[1:]]}, r"wanted must lie in \[0, 4\), got 9"),
        ({"wanted": [(-1,), *WANTED[1:]]}, r"wanted must lie in \[0, 4\), got -1"),
        ({"output": []}, "text: expected at least one token, got none"),
        ({"output": [-1]}, r"text must lie in \[0, 6\), got -1"),
        ({"target": [1, 3, 0, 2, 77]}, r"text must lie in \[0, 6\), got 77"),
        ({"output": [*TARGET, 0]}, "output: it goes on behind the target"),
    ],
)
def test_observe_refuses_what_would_count_from_the_end_or_fall_out(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        seen(**change)


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ([], ValueError, "positions: expected at least one, got none"),
        ([-1], ValueError, r"positions must lie in \[0, 4\), got -1"),
        ([True, False, True, False], TypeError, "positions must hold integers"),
    ],
)
def test_reading_refuses(positions: list[int], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        reading(SHIFTED.start(SOURCE), positions)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([[0.5, 0.5]], [[0.5], [0.5]], r"one shape \(V,\), got \(1, 2\) and \(2, 1\)"),
        ([0.5, 0.4], [0.5, 0.5], "log_p: expected probabilities that sum to 1, got 0.9"),
        ([0.5, 0.5], [np.nan, 0.5], "log_q: expected probabilities that sum to 1, got nan"),
    ],
)
def test_total_variation_refuses(p: Any, q: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        total_variation(np.log(p), np.log(q))


class Remembering:
    """A reader whose history matters: its logits depend on the token that it reads and on the last one read."""

    def start(self, source: Any) -> Any:
        return Memory(np.eye(4)[source], np.full(len(source), 1 / len(source)), 0)

    def step(self, token: int, state: Any) -> Any:
        weights = np.arange(1.0, len(state.states) + 1) / np.arange(1.0, len(state.states) + 1).sum()
        seen = weights @ state.states
        logits = np.concatenate([seen * (token + 1), [0.3 * state.last, 0.1]])
        return logits, Memory(state.states, weights, token)


@dataclass(frozen=True)
class Memory:
    states: Any
    weights: Any
    last: int


def test_observe_stands_behind_the_right_beginning_and_scores_each_text_behind_its_own() -> None:
    reader, output = Remembering(), [1, 3, 2, 2, 4]
    found = observe(reader, SOURCE, TARGET, output, bos=5, wanted=WANTED, twin=[2, 0, 0, 1])

    def rows(text: list[int]) -> list[Any]:
        state, result = reader.start(np.array(SOURCE)), []
        for token in [5, *text[:-1]]:
            logits, state = reader.step(token, state)
            result.append((log_softmax(logits), state))
        return result

    forced, free = rows(TARGET), rows(output)
    for text, steps, score in ((TARGET, forced, found.log_p[0]), (output, free, found.log_p[1])):
        assert score == pytest.approx(sum(step[0][y] for step, y in zip(steps, text, strict=True)))
    assert found.weights == pytest.approx(forced[2][1].weights)  # of the wrong step, not of the one before
    logits, _ = reader.step(3, reading(forced[1][1], [1]))
    assert found.aimed.p_likeliest == pytest.approx(np.exp(log_softmax(logits)).max())
    for j, hidden in enumerate(found.hidden):
        logits, _ = reader.step(3, reading(forced[1][1], [k for k in range(4) if k != j]))
        assert hidden == pytest.approx(total_variation(forced[2][0], log_softmax(logits)))


@dataclass(frozen=True)
class Told(Memory):
    """A memory that also hands the decoder a number of its own."""

    start: Any


class Whispering(Remembering):
    """A reader whose source states never change; what the source holds goes into the decoder's first state."""

    def start(self, source: Any) -> Any:
        same = np.eye(4)[: len(source)]
        return Told(
            same, np.full(len(source), 1 / len(source)), 0, (np.array(source[-1:], dtype=float), None)
        )


def test_observe_twin_compares_all_that_the_decoder_starts_from() -> None:
    assert observe(Whispering(), SOURCE, TARGET, [1, 4], bos=5, wanted=WANTED, twin=[2, 0, 3, 3]).twin == 2.0
    assert observe(Whispering(), SOURCE, TARGET, [1, 4], bos=5, wanted=WANTED, twin=[3, 0, 3, 1]).twin == 0.0


def test_difference_goes_through_what_states_are_made_of() -> None:
    assert difference(None, None) == difference([], []) == 0.0
    assert difference([1.0, (2, True)], [1.5, (5, True)]) == 3.0
    assert difference(np.zeros(2), np.zeros(3)) == difference((1,), (1, 2)) == np.inf
    with pytest.raises(TypeError, match="one, two: expected states of one kind, got 'a' and 'b'"):
        difference("a", "b")
    with pytest.raises(TypeError, match=r"got None and \(1, None\)"):
        difference(None, (1, None))
