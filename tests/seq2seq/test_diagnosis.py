"""Failures whose cause is planted: a search that prunes, a model that prefers, a read that misses, a source that lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from onesentence.generate.beam_plain import beam_search_plain
from onesentence.generate.exhaustive import score_text
from onesentence.generate.hypotheses import blame, follow
from onesentence.generate.tree import Tree
from onesentence.seq2seq.diagnosis import SETTLES, Verdict, diagnose
from onesentence.seq2seq.observed import Observations, StepSeen
from onesentence.seq2seq.planted import Fault, PlantedReader
from onesentence.seq2seq.probes import observe

TREE = Tree(
    {
        "": {"A": 0.45, "B": 0.30, "C": 0.25},
        "A": {"a": 0.7, "b": 0.3},
        "A a": {"EOS": 2 / 3, "c": 1 / 3},
        "A a c": {"EOS": 1},
        "A b": {"EOS": 1},
        "B": {"EOS": 0.75, "d": 0.25},
        "B d": {"EOS": 1},
        "C": {"EOS": 1},
    }
)


def searched(target: str, width: int) -> Observations:
    """Search the tree, which wrote something else than the target, and score both."""
    found = beam_search_plain(**TREE.model(), width=width, record=True)
    right = TREE.ids(target)
    start = {name: TREE.model()[name] for name in ("step", "state", "bos", "eos")}
    scores = tuple(
        score_text(start["step"], start["state"], ids, bos=0, eos=1).log_prob
        for ids in (right, found.best.ids)
    )
    fates = tuple(c.fate for c in follow(found, right))
    return Observations(("?",), right, found.best.ids, log_p=(scores[0], scores[1]), beam=fates)


def planted(fault: Fault) -> Observations:
    """The reader with a fault writes 2 0 3 1 backwards; the twin has 0 where 1 should be read first."""
    reader, source = PlantedReader(fault), [2, 0, 3, 1]
    need = [(3,), (2,), (1,), (0,), ()]
    return observe(
        reader, source, [1, 3, 0, 2, 4], reader.write(source), bos=reader.bos, wanted=need, twin=[2, 0, 3, 0]
    )


def statuses(verdict: Verdict) -> dict[str, str]:
    return {name: verdict.status(name) for name in SETTLES}


def case(**known: Any) -> Verdict:
    """A failure of two source tokens whose second token is wrong and should be read at position 1."""
    return diagnose(Observations(("s", "t"), ("x", "y", "."), ("x", "z", "."), **known))


def weights_of(verdict: Verdict, observation: str) -> dict[str, int]:
    return {e.explanation: e.weight for e in verdict.evidence if e.observation == observation}


def test_diagnose_names_a_planted_search_error() -> None:
    seen = searched("C EOS", width=2)  # pruned in the first round, the most probable text of all
    assert seen.beam == ("pruned",)
    verdict = diagnose(seen)
    assert statuses(verdict)["search"] == "established"
    assert statuses(verdict)["model"] == "excluded"
    assert weights_of(verdict, "beam") == {"search": 1, "model": 0}


def test_diagnose_names_a_planted_preference() -> None:
    seen = searched("B EOS", width=3)  # kept to the end, and C EOS is more probable
    assert seen.beam == ("open", "ended", "ended")
    verdict = diagnose(seen)
    assert statuses(verdict)["model"] == "established"
    assert statuses(verdict)["search"] == "excluded"


@pytest.mark.parametrize(
    ("fault", "reading", "source"),
    [
        ("reading", "established", "weakened"),
        ("source", "weakened", "established"),
        ("output", "weakened", "undetermined"),
    ],
)
def test_diagnose_names_a_planted_fault_of_a_reader(fault: Fault, reading: str, source: str) -> None:
    found = statuses(diagnose(planted(fault)))
    assert (found["reading"], found["source"]) == (reading, source)
    assert (found["model"], found["search"], found["history"]) == ("established", "excluded", "excluded")


def test_diagnose_leaves_open_what_only_an_intervention_can_say() -> None:
    verdict = case(log_p=(-2.0, -1.0), wanted=(1,), weights=(0.1, 0.9))
    assert statuses(verdict)["source"] == "undetermined"
    assert verdict.missing == {"source": ("twin", "aimed")}


def test_diagnose_without_any_observation_knows_only_that_history_is_the_same() -> None:
    verdict = case()
    assert statuses(verdict) == dict.fromkeys(SETTLES, "undetermined") | {"history": "excluded"}
    assert verdict.missing == {name: seen for name, seen in SETTLES.items() if name != "history"}
    assert (verdict.first_error, verdict.later) == (1, None)


def test_diagnose_a_tie_of_the_scores_decides_nothing() -> None:
    verdict = case(log_p=(-1.0, -1.0 - 1e-9))
    assert statuses(verdict)["search"] == statuses(verdict)["model"] == "undetermined"
    assert verdict.missing["search"] == ("beam",)


@pytest.mark.parametrize("log_p", [(-math.inf, -math.inf), (0.0, 0.0)])
def test_diagnose_equal_scores_at_the_ends_decide_nothing(log_p: tuple[float, float]) -> None:
    verdict = case(log_p=log_p)
    assert statuses(verdict)["search"] == statuses(verdict)["model"] == "undetermined"


def test_diagnose_a_target_kept_with_an_equal_score_was_not_missed_and_is_not_preferred() -> None:
    verdict = case(log_p=(-1.0, -1.0), beam=("open", "open", "ended"))
    assert (verdict.status("search"), verdict.status("model")) == ("excluded", "undetermined")


@pytest.mark.parametrize(
    ("log_p", "weight"), [((-1.0, -2.0), 1), ((-2.0, -1.0), 0), ((-1.0, -1.0), 0), (None, 0)]
)
def test_diagnose_a_pruned_target_was_missed_only_where_it_scores_higher(log_p: Any, weight: int) -> None:
    verdict = case(log_p=log_p, beam=("open", "pruned"))
    assert weights_of(verdict, "beam") == {"search": weight, "model": 0}
    open_ = case(log_p=log_p, beam=("open",))  # the search was over before
    assert weights_of(open_, "beam") == {"search": 0, "model": 0}


@pytest.mark.parametrize("scores", [(-6.4, -8.2), (-8.2, -6.4), (-6.4, -6.4)])
def test_diagnose_says_of_two_scores_what_blame_says(scores: tuple[float, float]) -> None:
    found = statuses(case(log_p=scores))
    expected = {"search": ("established", "excluded"), "model": ("excluded", "established")}
    assert (found["search"], found["model"]) == expected.get(blame(*scores), ("undetermined",) * 2)


@pytest.mark.parametrize(
    ("weights", "hidden", "weight", "status"),
    [
        ((0.1, 0.9), None, -1, "weakened"),
        ((0.9, 0.1), None, 1, "supported"),
        ((0.5, 0.5), None, 0, "undetermined"),
        ((0.1, 0.9), (0.1, 0.8), -1, "weakened"),
        ((0.1, 0.9), (0.8, 0.1), 0, "supported"),  # the weights mislead
        ((0.9, 0.1), (0.1, 0.8), 0, "weakened"),
    ],
)
def test_diagnose_believes_weights_unless_hiding_disagrees(
    weights: tuple[float, ...], hidden: tuple[float, ...] | None, weight: int, status: str
) -> None:
    verdict = case(wanted=(1,), weights=weights, hidden=hidden)
    assert weights_of(verdict, "weights") == {"reading": weight}
    assert verdict.status("reading") == status


def test_diagnose_aimed_read_outdoes_hints() -> None:
    verdict = case(wanted=(1,), weights=(0.1, 0.9), aimed=StepSeen("y", 0.8, 0.8))
    assert verdict.status("reading") == "established"
    assert verdict.status("source") == "weakened"


def test_diagnose_opposite_hints_decide_nothing() -> None:
    verdict = case(wanted=(1,), hidden=(0.8, 0.1), aimed=StepSeen("z", 0.8, 0.1))
    assert verdict.weights("reading") == (1, -1)
    assert verdict.status("reading") == "undetermined"


def test_diagnose_a_wrong_token_that_is_likelier_tells_search_and_model_not_apart() -> None:
    steps = (StepSeen("x", 0.9, 0.9), StepSeen("z", 0.6, 0.3), StepSeen(".", 1.0, 1.0))
    verdict = case(free=steps)
    assert weights_of(verdict, "steps") == {"search": 0, "model": 0}
    assert statuses(verdict)["search"] == statuses(verdict)["model"] == "undetermined"


def test_diagnose_counts_later_errors_with_both_histories() -> None:
    forced = [StepSeen(y, 0.9, 0.9) for y in "abc"]
    forced[0] = StepSeen("x", 0.6, 0.3)
    free = (forced[0], StepSeen("y", 0.7, 0.2), StepSeen("c", 0.9, 0.9))
    verdict = diagnose(Observations(("s",), tuple("abc"), ("x", "y", "c"), forced=tuple(forced), free=free))
    assert verdict.later == (1, 0)


def test_diagnose_an_output_that_was_cut_off() -> None:
    steps = (StepSeen("x", 0.9, 0.9),)
    verdict = diagnose(Observations(("s",), ("x", "y"), ("x",), free=steps))
    assert verdict.first_error == 1
    assert weights_of(verdict, "steps") == {}


def test_verdict_refuses_an_unknown_explanation() -> None:
    with pytest.raises(ValueError, match="explanation: expected one of search"):
        case().status("luck")  # type: ignore[arg-type]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"output": ("x", "y", ".")}, "no failure to explain"),
    ({"source": ()}, "at least one token each"),
    ({"output": ["x", "y", "."]}, "no failure to explain"),
    ({"output": ("x", "y", ".", "z")}, "output: it goes on behind the target's end"),
    ({"log_p": (-1.0,)}, "log_p must be two log probabilities of at most 0"),
    ({"forced": (StepSeen("x", 1, 1),)}, "forced: expected 3 steps, one per token, got 1"),
    ({"log_p": (-1.0, 0.5)}, "log_p must be two log probabilities of at most 0"),
    ({"log_p": (math.nan, -1.0)}, "log_p must be two"),
    ({"beam": ("open", "lost")}, "beam: expected open, ended, aside, pruned, got 'lost'"),
    ({"beam": ("open", "ended"), "log_p": (-1.0, -2.0)}, "returns nothing that scores lower"),
    ({"wanted": (2,)}, r"wanted must lie in \[0, 2\), got 2"),
    ({"weights": (0.5, 0.6)}, "weights must sum to 1, got 1.1"),
    ({"weights": (1.0,)}, "weights must be 2 numbers"),
    ({"hidden": (0.5, 1.5)}, "hidden must be 2 numbers"),
    ({"aimed": StepSeen("y", 1, 1)}, "aimed: expected wanted"),
    ({"twin": -1.0}, "twin must be a difference of at least 0"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_observations_refuse_what_cannot_be(change: dict[str, Any], message: str) -> None:
    given = {"source": ("s", "t"), "target": ("x", "y", "."), "output": ("x", "z", ".")} | change
    with pytest.raises(ValueError, match=message):
        Observations(**given)


def test_observations_refuse_paths_of_two_models() -> None:
    forced = [StepSeen(y, 0.9, 0.9) for y in "xy."]
    free = [forced[0], StepSeen("z", 0.7, 0.2), forced[2]]
    with pytest.raises(ValueError, match="step 2 stands behind the same history"):
        case(forced=tuple(forced), free=tuple(free))


def test_observations_refuse_a_score_that_the_steps_do_not_sum_to() -> None:
    forced = (StepSeen("x", 0.9, 0.9), StepSeen("z", 0.6, 0.3), StepSeen(".", 1.0, 1.0))
    case(forced=forced, log_p=(math.log(0.27), -1.0))
    with pytest.raises(ValueError, match=r"its steps sum to -1\.30933"):
        case(forced=forced, log_p=(-1.0, -2.0))


def test_observations_refuse_scores_that_are_no_numbers() -> None:
    for bad in (("a", "b"), (None, -1.0), (True, -1.0)):
        with pytest.raises(TypeError, match="log_p must be two log probabilities, got"):
            case(log_p=bad)


@pytest.mark.parametrize(
    ("values", "message"),
    [((1, 1.2, None), "p_likeliest must lie"), ((1, 0.4, 0.6), "p_target must be at most p_likeliest = 0.4")],
)
def test_step_seen_refuses(values: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StepSeen(*values)


def test_step_seen_refuses_what_is_no_probability() -> None:
    for values in ((1, None, 0.5), (1, "1", None), (1, 1.0, True)):
        with pytest.raises(TypeError, match="must be a number, got"):
            StepSeen(*values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("log_p", "target", "error", "message"),
    [
        ([0.0], -1, ValueError, "target must be at least 0, got -1"),
        ([0.0], 1, ValueError, r"target must lie in \[0, 1\), got 1"),
        ([0.0], 0.0, TypeError, "target must be an integer, got 0.0"),
        ([[0.0]], 0, ValueError, r"log_p must have shape \(V,\) with V >= 1, got \(1, 1\)"),
        ([], None, ValueError, r"log_p must have shape \(V,\) with V >= 1, got \(0,\)"),
    ],
)
def test_step_seen_of_refuses(log_p: Any, target: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        StepSeen.of(log_p, target)


def test_step_seen_of_keeps_the_likeliest_and_the_target() -> None:
    step = StepSeen.of(np.log([0.25, 0.5, 0.25]), 2)
    assert (step.likeliest, step.p_likeliest, step.p_target) == (1, pytest.approx(0.5), pytest.approx(0.25))
    assert StepSeen.of(np.log([0.25, 0.75]), None).p_target is None


def test_contrary_names_hints_against_what_settled_and_nothing_else() -> None:
    aimed = StepSeen("z", 0.9, 0.05)
    read = {"wanted": (1,), "weights": (0.1, 0.9), "hidden": (0.1, 0.8)}
    whole = Observations(("s", "t"), ("x", "y"), ("x", "z"), aimed=StepSeen("y", 0.9, 0.9), **read)
    assert diagnose(whole).contrary("reading") == ("weights", "hidden")
    assert diagnose(whole).contrary("search") == ()
    failed = Observations(("s", "t"), ("x", "y"), ("x", "z"), aimed=aimed, **read)
    assert diagnose(failed).contrary("reading") == ()  # weakened, not settled
    with pytest.raises(ValueError, match="explanation: expected one of"):
        diagnose(whole).contrary("luck")  # type: ignore[arg-type]
