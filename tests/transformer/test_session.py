"""A session says what the model says of its ids, whatever was read, changed, refused or written before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.cache.base import KVCache
from onesentence.cache.contiguous import ContiguousCache
from onesentence.cache.growing import GrowingCache
from onesentence.cache.paged import PagedCache
from onesentence.cache.window import WindowCache
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.session import Session

V = 7


def drawn(hostile: Any, **settings: Any) -> CausalLM:
    model: CausalLM = hostile(CausalLM(CausalConfig(V, **{"d_model": 8, "n_head": 2, "d_ff": 12} | settings)))
    return model.eval()


def started(model: CausalLM, rows: int = 1, capacity: int = 12) -> Session:
    return Session(model, ContiguousCache(model.cache_sizes(rows), capacity))


@torch.no_grad()
def agrees(session: Session, logits: Any) -> None:
    """Compare with each row read alone from the start."""
    for row, ids in enumerate(session.ids):
        expected = session.model(torch.tensor([ids]))[0, -1]
        np.testing.assert_allclose(logits[row], expected, rtol=0, atol=1e-10)
    assert session.cache.lengths.tolist() == list(map(len, session.ids))


def test_session_reads_edits_and_goes_on(hostile: Any) -> None:
    session = started(drawn(hostile), rows=2)
    agrees(session, session.read([[1, 2, 3], [4]]))
    agrees(session, session.read([[5], [6, 1]]))
    assert session.ids == ((1, 2, 3, 5), (4, 6, 1))
    agrees(session, session.edit([[1, 0, 3, 5], [4, 6, 1, 2]]))
    assert session.ids == ((1, 0, 3, 5), (4, 6, 1, 2))
    agrees(session, session.edit([[1, 0], [5]]))  # shorter, and new from the start
    agrees(session, session.edit([[1, 0], [5]]))  # nothing new


WORDS = st.lists(st.integers(0, 2), min_size=1, max_size=6)


@given(st.lists(st.tuples(st.booleans(), WORDS, WORDS), min_size=1, max_size=4))
def test_session_agrees_after_any_changes(
    hostile: Any, changes: list[tuple[bool, list[int], list[int]]]
) -> None:
    model = drawn(hostile, n_kv_head=1)
    session = Session(model, PagedCache(model.cache_sizes(2), page_count=20, page_size=3))
    for edits, *rows in changes:
        agrees(session, (session.edit if edits else session.read)(rows))


def test_session_keeps_what_old_and_new_share(hostile: Any) -> None:
    session = started(drawn(hostile))
    session.read([[1, 2, 3, 4]])
    seen: list[Any] = []
    session.model.blocks[0].register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].shape[1]))
    session.edit([[1, 2, 5, 4, 4]])
    session.edit([[1, 2, 5, 4, 4]])
    session.edit([[0]])
    assert seen == [3, 1, 1]


def made(kind: str, model: CausalLM) -> KVCache:
    sizes = model.cache_sizes(2)
    if kind == "window":
        return WindowCache(sizes, 3)
    if kind == "paged":
        return PagedCache(sizes, page_count=12, page_size=2)
    return ContiguousCache(sizes, 12) if kind == "contiguous" else GrowingCache(sizes)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["contiguous", "growing", "paged", "window"])
def test_generate_equals_choosing_from_whole_passes(kind: str, hostile: Any) -> None:
    model = drawn(hostile, window=3 if kind == "window" else None)
    session, prompts = Session(model, made(kind, model)), [[1, 2, 3], [4]]
    for row, made_of_it in zip(prompts, session.generate(prompts, eos=0, limit=6), strict=True):
        ids = list(row)
        for chosen in made_of_it.ids:
            assert chosen == int(model(torch.tensor([ids]))[0, -1].argmax())
            ids.append(chosen)
        assert len(made_of_it.ids) == 6 or made_of_it.ended
    assert session.ids[0][:3] == (1, 2, 3)
    agrees(session, session.read([[1], [1]]))


def test_step_takes_the_place_where_the_session_stands(hostile: Any) -> None:
    session = started(drawn(hostile), rows=2)
    session.read([[1], [2, 3]])
    place = session.place
    logits, after = session.step(np.array([4, 5]), place)
    agrees(session, logits)
    with pytest.raises(ValueError, match=f"place must be {after}, where the session stands, got {place}"):
        session.step([1, 1], place)
    with pytest.raises(ValueError, match=r"ids must have shape \(2,\), got \(1,\)"):
        session.step([1], after)
    with pytest.raises(ValueError, match=r"ids must lie in \[0, 7\), got 7"):
        session.step([1, 7], after)
    agrees(session, session.step([1, 1], after)[0])


def test_session_that_refuses_stays_as_it_was(hostile: Any) -> None:
    session = started(drawn(hostile), rows=2, capacity=5)
    session.read([[1, 2, 3], [4]])
    before = session.ids
    refusals: list[tuple[Any, str]] = [
        ([[1]], "rows must hold 2 vectors like the cache, got 1"),
        ([[1], []], r"rows\[1\] must hold at least 1 token, got 0"),
        ([[1], [9]], r"rows\[1\] must lie in \[0, 7\), got 9"),
        ([[1, 2, 3], [1]], "capacity of 5 tokens: row 0 would hold 6"),
    ]
    for rows, message in refusals:
        with pytest.raises(ValueError, match=message):
            session.read(rows)
    with pytest.raises(ValueError, match=r"rows\[0\] must lie in \[0, 7\), got 7"):
        session.edit([[1, 7], [4]])
    assert session.ids == before
    agrees(session, session.read([[0], [0]]))


@pytest.mark.parametrize("kind", ["contiguous", "paged"])
def test_edit_without_room_leaves_the_session(kind: str, hostile: Any) -> None:
    model = drawn(hostile)
    session = Session(model, made(kind, model))
    session.read([[1, 2, 3], [4]])
    with pytest.raises(ValueError, match=r"(capacity|pool) of 12 .* would"):
        session.edit([[1, 2] + [5] * 11, [4] * 12])
    assert session.ids == ((1, 2, 3), (4,))
    agrees(session, session.read([[5], [4]]))
    agrees(session, session.edit([[1, 2] + [5] * 10, [4] * 12]))  # all that there is


def test_edit_by_a_model_that_may_not_read_leaves_the_session(hostile: Any) -> None:
    session = started(drawn(hostile, dropout=0.5))
    session.read([[1, 2, 3]])
    session.model.train()
    with pytest.raises(ValueError, match="model must be in evaluation mode"):
        session.edit([[4]])
    session.model.eval().float()
    with pytest.raises(ValueError, match=r"cache must have dtype = torch\.float32 like the model"):
        session.edit([[4]])
    session.model.double()
    assert session.cache.lengths.tolist() == [3]


def test_edit_whose_pass_fails_holds_what_old_and_new_share(hostile: Any) -> None:
    model = drawn(hostile)
    session = Session(model, GrowingCache(model.cache_sizes(1)), reader="tiled")
    session.read([[1, 2, 3]])
    with pytest.raises(ValueError, match="needs one mask for all queries"):
        session.edit([[1, 5, 5]])
    assert session.ids == ((1,),)
    agrees(session, session.read([[5]]))


@torch.no_grad()
def test_session_refuses_changed_parameters_until_it_is_cleared(hostile: Any) -> None:
    session = started(drawn(hostile))
    session.read([[1, 2, 3]])
    session.model.last.bias[0] += 1
    for call in (lambda: session.read([[4]]), lambda: session.edit([[1, 2, 4]])):
        with pytest.raises(ValueError, match="cache must hold keys and values of the parameters"):
            call()
    assert session.ids == ((1, 2, 3),)
    assert session.cache.lengths.tolist() == [3]
    agrees(session, session.edit([[4, 2, 3]]))  # nothing stays of what the old ones computed
    session.model.last.bias[0] += 1
    session.clear()
    agrees(session, session.read([[1, 2, 3]]))


def test_edit_that_a_window_cannot_take_back_leaves_the_session(hostile: Any) -> None:
    model = drawn(hostile, window=3)
    session = Session(model, WindowCache(model.cache_sizes(1), 3))
    session.read([[1, 2, 3, 4, 5, 6]])
    with pytest.raises(ValueError, match="the oldest that is kept is 3"):
        session.edit([[1, 2, 0]])
    assert session.ids == ((1, 2, 3, 4, 5, 6),)
    agrees(session, session.read([[2]]))
    agrees(session, session.edit([[0, 2]]))


def test_session_sees_that_somebody_else_wrote(hostile: Any) -> None:
    session = started(drawn(hostile))
    session.read([[1, 2]])
    session.model.extend(torch.tensor([[3]]), session.cache)
    message = r"cache must hold the \[2\] tokens that the session has read, got \[3\] after"
    with pytest.raises(ValueError, match=message):
        session.read([[4]])


def test_sessions_on_one_cache_do_not_read_each_others_tokens(hostile: Any) -> None:
    model = drawn(hostile)
    cache = GrowingCache(model.cache_sizes(1))
    one, other = Session(model, cache), Session(model, cache)
    one.read([[1, 2]])
    with pytest.raises(ValueError, match=r"cache must hold the \[0\] tokens .* got \[2\]"):
        other.read([[3]])
    other.clear()
    other.read([[3, 4]])  # as many as the first one knows
    for call in (one.read, one.edit, lambda rows: one.step(rows[0], one.place)):
        with pytest.raises(
            ValueError, match=r"got \[2\] after a change that it has not seen; clear\(\) begins anew"
        ):
            call([[5]])
    agrees(other, other.read([[5]]))
    one.clear()
    agrees(one, one.read([[5]]))


def test_session_takes_an_empty_cache_only(hostile: Any) -> None:
    model = drawn(hostile)
    cache = GrowingCache(model.cache_sizes(1))
    model.extend(torch.tensor([[3]]), cache)
    with pytest.raises(ValueError, match=r"cache must be empty, got one with \[1\] tokens"):
        Session(model, cache)
    with pytest.raises(ValueError, match="reader: expected one of"):
        Session(model, GrowingCache(model.cache_sizes(1)), reader="flash")
    with pytest.raises(ValueError, match="cache must have window = None like the model, got 2"):
        Session(model, WindowCache(model.cache_sizes(1), 2))


def test_session_of_a_model_in_half_precision_gives_numpy(hostile: Any) -> None:
    session = started(drawn(hostile).bfloat16())
    assert session.read([[1, 2]]).dtype == np.float32


def test_session_refuses_what_is_no_model_or_no_cache() -> None:
    model = CausalLM.initial(CausalConfig(5, d_model=8, n_head=2, d_ff=16), seed=0)
    with pytest.raises(TypeError, match=r"cache must be a KVCache, got CausalLM"):
        Session(model, model)  # type: ignore[arg-type]
    cache = GrowingCache(model.cache_sizes(rows=1))
    with pytest.raises(TypeError, match=r"model must be a CausalLM, got GrowingCache"):
        Session(cache, cache)  # type: ignore[arg-type]
