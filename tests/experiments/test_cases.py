"""Cases by seeds: which runs there are, and where each value goes."""

from __future__ import annotations

import pytest

from onesentence.experiments.cases import by_case, by_seed


def told(case: tuple) -> dict:
    return {"case": list(case), "seed": case[-1]}


def test_by_case_puts_every_value_under_its_case_and_seed():
    found = by_case({"a": ("x", 1), "b": ("y", 2)}, [7, 5], told)
    assert list(found) == ["a_case", "a_seed", "b_case", "b_seed"]
    assert found["a_case"] == [["x", 1, 7], ["x", 1, 5]]
    assert found["b_case"] == [["y", 2, 7], ["y", 2, 5]]
    assert found["b_seed"] == [7, 5]


def test_by_case_left_out_is_not_run_and_none():
    asked = []

    def run(case):
        asked.append(case)
        return told(case)

    found = by_case({"a": (1,), "b": (2,)}, [3, 4], run, left_out={("b", 3)})
    assert asked == [(1, 3), (1, 4), (2, 4)]
    assert found["b_seed"] == [None, 4]
    found = by_case({"a": (1,), "b": (2,)}, [3], told, left_out={("b", 3)})
    assert found == {"a_case": [[1, 3]], "a_seed": [3], "b_case": [None], "b_seed": [None]}


def test_by_seed_nests_in_the_order_of_the_axes():
    found = by_seed([("u", "v"), (1, 2, 3)], [8, 9], told)
    assert found["seed"] == [[[8] * 3] * 2, [[9] * 3] * 2]
    for s, seed in enumerate((8, 9)):
        for i, one in enumerate("uv"):
            for j, other in enumerate((1, 2, 3)):
                assert found["case"][s][i][j] == [one, other, seed]


def test_by_seed_with_one_axis_and_with_none():
    assert by_seed([(1, 2)], [8, 9], told)["seed"] == [[8, 8], [9, 9]]
    assert by_seed([], [8, 9], told)["case"] == [[8], [9]]


def test_both_refuse_runs_that_differ_in_their_metrics_and_none_at_all():
    def uneven(case):
        return {"a": 1} if case[-1] else {"a": 1, "b": 2}

    with pytest.raises(KeyError, match="b"):
        by_case({"x": ()}, [0, 1], uneven)
    with pytest.raises(KeyError, match="b"):
        by_seed([(1,)], [0, 1], uneven)
    with pytest.raises(ValueError, match="cases, seeds: expected at least one run, got none"):
        by_case({}, [0], told)
    with pytest.raises(ValueError, match="axes, seeds: expected at least one run, got none"):
        by_seed([()], [0], told)
