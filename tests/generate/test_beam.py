"""Beam search: against all texts, against the plain loop, against greedy decoding; its laws and what breaks them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.generate.beam import beam_search, take_rows
from onesentence.generate.beam_plain import beam_search_plain
from onesentence.generate.exhaustive import score_text
from onesentence.generate.hypotheses import LengthPenalty
from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.generate.tree import Tree

V, EOS, STATES = 4, 1, 97
STARTS, FIRST = np.array([3, 50, 11]), np.array([0, 2, 3])


def model(seed: int, holes: float = 0.2):
    """Return a step whose answer depends on everything read; some tokens may not come, token 2 always may."""
    rng = np.random.default_rng(seed)
    table = rng.normal(scale=2, size=(STATES, V))
    table[rng.random(table.shape) < holes] = -np.inf
    table[:, 2] = np.where(np.isfinite(table[:, 2]), table[:, 2], 0.0)

    def step(ids, state):
        state = (state * 7 + ids * 5 + 1) % STATES
        return table[state], state

    return step


def search(step, state=STARTS, bos=FIRST, **changes):
    return beam_search(step, state, **{"bos": bos, "eos": EOS, "limit": 5, "width": 3, **changes})


def log_softmax(row):
    return row - np.log(np.exp(row - row.max()).sum()) - row.max()


def brute(step, start: int, bos: int, limit: int, penalty: LengthPenalty) -> tuple[tuple[int, ...], float]:
    """Try every sequence of ids; return the best one that ends, by its score."""
    best: tuple[tuple[int, ...], float] = ((), -np.inf)
    for length in range(1, limit + 1):
        for words in product([i for i in range(V) if i != EOS], repeat=length - 1):
            ids, read, state, total = (*words, EOS), bos, np.array([start]), 0.0
            for token in ids:
                logits, state = step(np.array([read]), state)
                total, read = total + log_softmax(logits[0])[token], token
            n = max(1, len(ids) - (not penalty.count_eos))
            divisor = ((5 + n) / 6) ** penalty.alpha if penalty.kind == "gnmt" else n**penalty.alpha
            if total / divisor > best[1]:
                best = ids, total / divisor
    return best


@pytest.mark.parametrize("finished", ["in_beam", "apart"])
@pytest.mark.parametrize(
    "penalty",
    [LengthPenalty(), LengthPenalty(1.5), LengthPenalty(0.7, "power"), LengthPenalty(1.0, "power", True)],
)
def test_beam_wider_than_all_prefixes_is_brute_force(finished, penalty):
    for seed in range(3):
        step = model(seed)
        everything = search(step, width=V**5, penalty=penalty, finished=finished)
        for found, start, bos in zip(everything, STARTS, FIRST, strict=True):
            ids, score = brute(step, start, bos, 5, penalty)
            assert found.best.ids == ids
            assert found.best.ended
            assert found.best.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("finished", ["in_beam", "apart"])
def test_beam_of_width_one_is_greedy(finished):
    kinds = set()
    for seed in range(40):
        step = model(seed)
        rows = generate(step, STARTS, bos=FIRST, eos=EOS, limit=5, choose=greedy)
        kinds |= {row.ended for row in rows}
        found = search(step, width=1, finished=finished)
        assert [(f.best.ids, f.best.ended) for f in found] == [(r.ids, r.ended) for r in rows]
    assert kinds == {True, False}


@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 5),
    limit=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 0.5, 2.0]),
    kind=st.sampled_from(["gnmt", "power"]),
    count_eos=st.booleans(),
    how=st.sampled_from(
        [("in_beam", "bound"), ("in_beam", "all"), ("apart", "bound"), ("apart", "all"), ("apart", "full")]
    ),
)
@settings(max_examples=120, deadline=None)
def test_batched_search_equals_the_plain_loop_records_and_all(
    seed, width, limit, alpha, kind, count_eos, how
):
    step, penalty = model(seed), LengthPenalty(alpha, kind, count_eos)
    same = {"limit": limit, "width": width, "penalty": penalty, "finished": how[0], "stop": how[1]}
    together = search(step, record=True, **same)
    for i, found in enumerate(together):
        assert found == beam_search_plain(step, STARTS[[i]], bos=int(FIRST[i]), eos=EOS, record=True, **same)


@given(seed=st.integers(0, 10**6), width=st.integers(1, 4), alpha=st.sampled_from([0.0, 1.0]))
@settings(max_examples=60, deadline=None)
def test_stopping_at_the_bound_loses_nothing(seed, width, alpha):
    for finished in ("in_beam", "apart"):
        settings_ = {"width": width, "penalty": LengthPenalty(alpha), "finished": finished}
        early, late = (search(model(seed), stop=stop, **settings_) for stop in ("bound", "all"))
        assert [f.best for f in early] == [f.best for f in late]


@given(seed=st.integers(0, 10**6), width=st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_putting_aside_never_returns_a_less_probable_text(seed, width):
    held, aside = (search(model(seed), width=width, finished=how) for how in ("in_beam", "apart"))
    for one, other in zip(held, aside, strict=True):
        assert (other.best.ended, other.best.log_prob) >= (one.best.ended, one.best.log_prob)


LOSES = Tree.closed(
    {"": {"K": 0.6, "L": 0.25, "N": 0.15}, "K": {"k": 1}, "K k": {"x": 0.52, "y": 0.48}}
    | {f"K k {token}": {"EOS": 0.4, "r": 0.6} for token in "xy"}
)


def test_in_the_beam_the_best_text_can_be_lost_and_apart_it_is_not():
    best = {how: beam_search(**LOSES.model(), width=2, finished=how)[0].best for how in ("in_beam", "apart")}
    assert {how: LOSES.text(text.ids) for how, text in best.items()} == {
        "in_beam": "K k x r EOS",
        "apart": "L EOS",
    }
    assert np.exp(best["apart"].log_prob) == pytest.approx(0.25)
    assert np.exp(best["in_beam"].log_prob) == pytest.approx(0.6 * 0.52 * 0.6)


def test_a_wider_beam_can_return_a_less_probable_text():
    tree = Tree.closed(
        {"": {"U": 0.5, "V": 0.4, "W": 0.1}, "U": {"u": 0.34, "v": 0.33, "w": 0.33}}
        | {"V": {"p": 0.55, "q": 0.45}, **{f"V {a}": {"x": 0.4, "y": 0.3, "z": 0.3} for a in "pq"}}
    )
    found = [beam_search(**tree.model(), width=width)[0].best for width in (1, 2, 3)]
    np.testing.assert_allclose(np.exp([h.log_prob for h in found]), [0.17, 0.088, 0.17], rtol=1e-12)
    assert tree.text(found[1].ids) == "V p x EOS"


def test_full_may_lose_the_best_text_and_bound_does_not():
    tree = Tree.closed({"": {"M": 0.7, "EOS": 0.2, "N": 0.1}, "M": {"m": 0.75, "EOS": 0.2, "n": 0.05}})
    best = {}
    for stop in ("full", "bound"):
        (found,) = beam_search(**tree.model(), width=2, finished="apart", stop=stop)
        best[stop] = tree.text(found.best.ids), found.stopped
    assert best == {"full": ("EOS", "full"), "bound": ("M m EOS", "ended")}


def test_limit_is_reported_as_no_end_and_an_end_at_the_limit_as_one():
    count_up = lambda ids, state: (np.log(np.eye(5)[(ids + 1) % 5] + 1e-9), state)  # noqa: E731
    cut, whole = (beam_search(count_up, None, bos=0, eos=4, limit=limit, width=1)[0] for limit in (3, 4))
    assert (cut.best.ids, cut.best.ended, cut.stopped) == ((1, 2, 3), False, "limit")
    assert (whole.best.ids, whole.best.ended, whole.stopped) == ((1, 2, 3, 4), True, "ended")


def test_tokens_without_probability_are_never_chosen():
    for seed in range(20):
        step = model(seed, holes=0.6)
        for found, start, bos in zip(search(step, width=8), STARTS, FIRST, strict=True):
            for text in found.texts:
                assert text.log_prob > -np.inf
                again = score_text(step, np.array([start]), text.ids, bos=int(bos), eos=EOS)
                assert again.log_prob == pytest.approx(text.log_prob, abs=1e-12)


def test_equal_scores_go_by_place_then_by_id():
    flat = lambda ids, state: (np.zeros((len(ids), 4)), state)  # noqa: E731
    (found,) = beam_search(flat, None, bos=0, eos=3, limit=2, width=3, record=True)
    assert [c.ids for c in found.rounds[0]] == [(0,), (1,), (2,), (3,)]
    assert [c.ids for c in found.rounds[1]][:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
    assert [c.fate for c in found.rounds[1]][:4] == ["open", "open", "open", "pruned"]


def test_a_source_is_not_touched_by_the_others_of_its_batch():
    step = model(5)
    together = search(step)
    for i in range(3):
        assert search(step, STARTS[[i]], FIRST[[i]]) == (together[i],)


def test_the_model_reads_one_row_for_each_open_hypothesis():
    rows = []

    def spy(ids, state):
        rows.append(len(ids))
        return model(5)(ids, state)

    found = search(spy, width=2, record=True)
    assert rows[0] == 3
    for number, asked in enumerate(rows[1:], start=1):
        going = [f.rounds[number - 1] for f in found if len(f.rounds) > number]
        assert asked == sum(c.fate == "open" for candidates in going for c in candidates)


def test_take_rows_goes_through_what_states_are_made_of():
    from dataclasses import dataclass
    from typing import NamedTuple

    @dataclass(frozen=True)
    class Holder:
        parts: tuple
        nothing: None = None

    class Pair(NamedTuple):
        h: np.ndarray
        c: np.ndarray

    a, rows = np.arange(6).reshape(3, 2), np.array([2, 0, 2])
    taken = take_rows(Holder((a, [a], {"x": Pair(a, a + 1)})), rows)
    assert taken.nothing is None
    assert isinstance(taken.parts[2]["x"], Pair)
    for part in (taken.parts[0], taken.parts[1][0], taken.parts[2]["x"].h, taken.parts[2]["x"].c - 1):
        assert part.tolist() == [[4, 5], [0, 1], [4, 5]]
    with pytest.raises(TypeError, match="state: no rows to take of a str; give take="):
        take_rows((a, "text"), rows)


def test_take_is_used_where_rows_are_not_the_first_axis():
    columns, differ = np.stack([STARTS, STARTS]), []
    for seed in range(8):
        step = model(seed)

        def sideways(ids, state, step=step):
            logits, new = step(ids, state[0])
            return logits, np.stack([new, new])

        right = search(sideways, columns, take=lambda s, rows: s[:, rows])
        assert right == search(step)
        first = search(sideways, columns, take=lambda s, rows: s[:, np.minimum(np.arange(len(rows)), 2)])
        differ.append([f.best for f in first] != [f.best for f in right])
    assert any(differ)  # a state whose rows stay where they are belongs to other hypotheses


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("finished", ["in_beam", "apart"])
def test_torch_translator_gives_each_source_what_it_gives_alone(side, finished):
    from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig

    translator = FixedSummary.initial(FixedSummaryConfig(7, 9, 5, 6, barred=(0, 2)), seed=1).double()
    sources = [[3, 4, 5, 1], [6], [2, 2, 1]]
    source, real = np.zeros((3, 4), dtype=np.int64), np.zeros((3, 4), dtype=bool)
    for row, units in enumerate(sources):
        where = slice(4 - len(units), 4) if side == "left" else slice(0, len(units))
        source[row, where], real[row, where] = units, True
    same = {"eos": EOS, "limit": 6, "width": 3, "finished": finished, "penalty": LengthPenalty(1.0)}
    together = beam_search(translator.step, translator.start(source, real), bos=[2] * 3, **same)
    for found, units in zip(together, sources, strict=True):
        start = translator.start(np.array([units]))
        for alone in (
            beam_search(translator.step, start, bos=2, **same)[0],
            beam_search_plain(translator.step, start, bos=2, **same),
        ):
            assert [t.ids for t in found.texts] == [t.ids for t in alone.texts]
            np.testing.assert_allclose(
                [t.score for t in found.texts], [t.score for t in alone.texts], rtol=0, atol=1e-10
            )
        assert not {0, 2} & {i for text in found.texts for i in text.ids}


def nan_at_second(ids, state):
    return np.full((len(ids), V), np.nan) if state.max() > 0 else np.eye(V)[ids], state + 1


def test_a_width_and_a_limit_that_are_never_reached_cost_nothing():
    step = model(0)
    huge = search(step, width=10**12, limit=3)
    assert huge == search(step, width=V**3, limit=3)
    even = lambda ids, state: (np.zeros((len(ids), V)), state)  # noqa: E731, the bound stops it in the first round
    assert search(even, limit=10**12) == search(even, limit=3)


@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 12),
    alpha=st.sampled_from([0.0, 1.0, 2.0]),
    finished=st.sampled_from(["in_beam", "apart"]),
)
@settings(max_examples=60, deadline=None)
def test_no_width_finds_more_than_all_prefixes_do(seed, width, alpha, finished):
    same = {"limit": 4, "penalty": LengthPenalty(alpha), "finished": finished}
    some, everything = (search(model(seed), width=w, **same) for w in (width, V**4))
    for one, best in zip(some, everything, strict=True):
        assert (best.best.ended, best.best.score) >= (one.best.ended, one.best.score)


@pytest.mark.parametrize("finished", ["in_beam", "apart"])
def test_a_sum_below_every_float_is_no_candidate(finished):
    deep = lambda ids, state: (np.array([[1e308, -1e308, 0.0, -1e308]] * len(ids)), state)  # noqa: E731
    same = {"bos": 0, "eos": 3, "limit": 2, "width": 9, "finished": finished, "stop": "all"}
    (found,) = beam_search(deep, None, **same)
    assert found == beam_search_plain(deep, None, **same)
    assert [text.ids for text in found.texts] == [(0, 0), (0, 2), (2, 0)]  # (2, 2) would be at -2e308


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"width": 0}, ValueError, "width must be at least 1, got 0"),
        ({"width": 2.0}, TypeError, "width must be an integer, got 2.0"),
        ({"limit": 0}, ValueError, "limit must be at least 1, got 0"),
        ({"eos": 4}, ValueError, r"eos must lie in \[0, 4\), got 4"),
        ({"eos": -1}, ValueError, "eos must be at least 0, got -1"),
        ({"finished": "both"}, ValueError, "finished: expected one of in_beam, apart, got 'both'"),
        ({"stop": "now"}, ValueError, "stop: expected one of bound, all, full, got 'now'"),
        ({"stop": "full"}, ValueError, "stop: 'full' counts texts put aside and needs finished='apart'"),
        ({"penalty": 0.5}, TypeError, "penalty must be a LengthPenalty, got 0.5"),
        ({"penalty": 0}, TypeError, "penalty must be a LengthPenalty, got 0"),
        ({"penalty": LengthPenalty(1e4)}, ValueError, r"alpha: lp\(4\) is beyond a float, got 10000"),
        ({"limit": 4.0}, TypeError, "limit must be an integer, got 4.0"),
        ({"step": nan_at_second}, ValueError, "logits must be free of NaN"),
        (
            {"step": lambda ids, s: (np.full((len(ids), V), -np.inf), s)},
            ValueError,
            "logits must leave a finite value in each row",
        ),
        ({"step": lambda ids, s: (np.zeros((9, V)), s)}, ValueError, r"step must return logits of shape \(1"),
        ({"step": lambda ids, s: (np.zeros(V), s)}, ValueError, r"step must return logits of shape \(1"),
        ({"bos": -1}, ValueError, "bos must be"),
    ],
)
def test_both_searches_refuse(plain, changes, error, message):
    call = beam_search_plain if plain else beam_search
    arguments = {"step": model(0), "state": np.array([0]), "bos": 0, "eos": EOS, "limit": 4, "width": 2}
    with pytest.raises(error, match=message):
        call(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("bos", "error", "message"),
    [
        ([], ValueError, r"bos must be an id or ids \(B,\), none negative, got \[\]"),
        ([[0]], ValueError, "bos must be an id or ids"),
        ([0.0], TypeError, "bos must hold integer"),
    ],
)
def test_beam_search_refuses_what_are_no_ids(bos, error, message):
    with pytest.raises(error, match=message):
        search(model(0), bos=bos)
