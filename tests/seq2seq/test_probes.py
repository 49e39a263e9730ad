"""Observations that a reader makes of itself: by hand, and against a masked read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cityblock

from onesentence.attention.read import read
from onesentence.numerics import log_softmax
from onesentence.seq2seq.planted import PlantedReader
from onesentence.seq2seq.probes import followed, observe, reading, total_variation

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
