"""The loop: a toy model whose state matters, ends and limits, rows that must not meet, models that misbehave."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.generate.loop import Generated, generate
from onesentence.generate.sampling import Sampler, greedy

V, EOS, STATES = 6, 5, 97
TABLE = np.random.default_rng(0).normal(size=(STATES, V))


def remembering(ids, state):
    """Answer from a number that depends on everything read so far, each row for itself."""
    state = (state * 7 + ids * 5 + 1) % STATES
    return TABLE[state], state


def counting(ids, state):
    """Choose the id after the one that was read."""
    return np.eye(V)[(ids + 1) % V], state


def run(step=counting, state=None, **changes):
    settings = {"bos": [0, 2, 4], "eos": EOS, "limit": 4, "choose": greedy}
    return generate(step, state, **{**settings, **changes})


def test_generate_tells_an_end_from_the_limit():
    assert run() == (
        Generated((1, 2, 3, 4), ended=False),
        Generated((3, 4, 5), ended=True),
        Generated((5,), ended=True),
    )


def test_eos_at_the_limit_is_an_end():
    assert run(bos=[2], limit=3) == (Generated((3, 4, 5), ended=True),)
    assert run(bos=[2], limit=2) == (Generated((3, 4), ended=False),)


def test_one_id_is_a_single_row():
    assert run(bos=np.int64(3)) == (Generated((4, 5), ended=True),)


@pytest.mark.parametrize("choice", ["greedy", "sampled"])
def test_a_batch_gives_what_its_rows_give_alone(choice):
    starts = np.arange(24) * 4
    bos = np.arange(24) % V

    def chooser(first):
        return greedy if choice == "greedy" else Sampler(np.random.default_rng(1), first=first)

    batch = run(remembering, starts, bos=bos, limit=4, choose=chooser(0))
    assert {row.ended for row in batch} == {True, False}
    assert len({len(row.ids) for row in batch}) > 2
    for i, row in enumerate(batch):
        assert run(remembering, starts[[i]], bos=bos[[i]], limit=4, choose=chooser(i)) == (row,)


def test_generate_hands_on_the_choice_and_the_state():
    read = []

    def spy(ids, state):
        read.append((ids.tolist(), state))
        return counting(ids, state + 1)

    run(spy, 0, bos=[0, 3])
    assert read == [
        ([0, 3], 0),
        ([1, 4], 1),
        ([2, EOS], 2),
        ([3, EOS], 3),
    ]  # the second row ended and reads EOS


def test_generate_stops_when_all_rows_ended():
    calls = []
    run(lambda ids, state: (calls.append(1), counting(ids, state))[1], bos=[3, 4], limit=100)
    assert len(calls) == 2


def test_what_a_model_says_behind_an_end_is_not_looked_at():
    def broken(ids, state):
        logits, state = counting(ids, state)
        logits[ids == EOS] = np.nan
        return logits, state

    for choose in (greedy, Sampler(np.random.default_rng(0), temperature=0.01)):
        assert run(broken, choose=choose) == run()
    with pytest.raises(ValueError, match="NaN"):
        run(broken, bos=[EOS])  # this row has not ended, it begins there


def test_a_model_may_change_the_ids_that_it_was_given():
    def overwriting(ids, state):
        answer = counting(ids, state)
        ids[:] = 0
        return answer

    assert run(overwriting) == run()


def test_sampled_generation_repeats_with_its_seed():
    def texts(seed):
        choose = Sampler(np.random.default_rng(seed), temperature=1.5)
        return run(remembering, np.arange(30), bos=np.zeros(30, dtype=int), limit=9, choose=choose)

    assert texts(3) == texts(3)
    assert texts(3) != texts(4)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"limit": 0}, ValueError, "limit must be at least 1, got 0"),
        ({"limit": 2.0}, TypeError, "limit must be an integer, got 2.0"),
        ({"eos": 6}, ValueError, r"eos must lie in \[0, 6\), got 6"),
        ({"eos": -1}, ValueError, "eos must be at least 0, got -1"),
        ({"bos": []}, ValueError, r"bos must be an id or ids \(B,\), none negative, got \[\]"),
        ({"bos": [0.5]}, TypeError, "bos must hold integers, got dtype float64"),
        ({"bos": np.zeros(0, dtype=int)}, ValueError, "bos must be an id or ids"),
        ({"bos": [-1]}, ValueError, r"bos must be an id or ids \(B,\), none negative, got \[-1\]"),
        ({"bos": [[0]]}, ValueError, "bos must be an id or ids"),
        ({"bos": [[0], [0, 1]]}, ValueError, "bos must be a regular array"),
        (
            {"step": lambda ids, s: (np.zeros((3, V), dtype=complex), s)},
            TypeError,
            "step: the logits that it returns must hold real numbers, got dtype complex128",
        ),
        (
            {"step": lambda ids, s: (np.zeros((2, V)), s)},
            ValueError,
            r"logits of shape \(3, V\).*got \(2, 6\)",
        ),
        ({"step": lambda ids, s: (np.zeros(V), s)}, ValueError, r"logits of shape \(3, V\).*got \(6,\)"),
        (
            {"choose": lambda a: a.argmax(-1)[:2]},
            ValueError,
            r"choose must return ids of shape \(3,\), got \(2,\)",
        ),
        ({"choose": lambda a: a.argmax(-1) + V}, ValueError, r"choose: what it returns must lie in \[0, 6\)"),
        (
            {"choose": lambda a: a.max(-1)},
            TypeError,
            "choose: what it returns must hold integers, got dtype float64",
        ),
    ],
)
def test_generate_refuses(changes, error, message):
    with pytest.raises(error, match=message):
        run(**changes)
