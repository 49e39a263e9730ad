"""The lint against constant checks and guards: what it refuses and what it lets through."""

from __future__ import annotations

import pytest

from bookkit.constants import constant_faults
from bookkit.sources import Cell

HEAD = """\
import numpy as np
from onesentence import plotting
from onesentence.attention.read import read
from onesentence.evidence import guard, ledger
import onesentence.numerics as nx
"""


def lint(code: str) -> list[tuple[int, str]]:
    return constant_faults([Cell(10, HEAD), Cell(20, code)])


@pytest.mark.parametrize(
    "code",
    [
        'ledger.check("x", 1.5)',
        'ledger.check("x", [0.1, 0.2])',
        'ledger.check("x", value=1.5)',
        "a = 3\nledger.check('x', a + 1)",
        "K = np.array([[1, 0]])\nledger.check('x', np.exp(K).sum())",
        "guard('claim', True)",
        "guard('claim', 1 < 2)",
        "guard('claim', condition=1 < 2)",
        "from onesentence.evidence.ledger import check\ncheck('x', 2)",
        "import onesentence.evidence as ev\nev.guard('claim', True)",
        "from onesentence import evidence\nevidence.ledger.check('x', 2)",
        "guard('claim', plotting.table(['a'], [], caption='c') is not None)",
        "a = read(1, 2, 3).weights\na = 5\nguard('claim', a == 5)",
        "for a in [1, 2]:\n    guard('claim', a > 0)",
        "def f():\n    return 3\nguard('claim', f() == 3)",
        "%matplotlib inline\nguard('claim', 1 < 2)",
        "if True:\n    guard('claim', True)",
        "[guard('claim', x > 0) for x in (1, 2)]",
        "ledger.check('x', nx.softmax([1]))\nledger.check('y', ledger.row('y').expected)",
        "w = nx.softmax([1])\nnp.array(w)\nguard('claim', np.pi > 3)",
    ],
)
def test_constant_is_refused(code: str) -> None:
    faults = lint(code)
    assert len(faults) == 1
    assert "constant" in faults[0][1]


@pytest.mark.parametrize(
    "code",
    [
        "ledger.check('x', read(1, 2, 3).weights)",
        "r = read(1, 2, 3)\nledger.check('x', r.weights)",
        "r = read(1, 2, 3)\na, b = r.weights, r.context\nguard('claim', a.sum() > b.sum())",
        "w = nx.softmax([1, 2])\nguard('claim', bool(np.isclose(w.sum(), 1)))",
        "rows = []\nrows.append(read(1, 2, 3))\nguard('claim', len(rows) == 1)",
        "d = {}\nd['a'] = read(1, 2, 3)\nledger.check('x', d['a'])",
        "rs = [read(q, 2, 3) for q in (1, 2)]\nfor r in rs:\n    guard('claim', r.weights.sum() > 0)",
        "guard('claim', all(r > 0 for r in nx.softmax([1, 2])))",
        "f = lambda q: read(q, 2, 3)\nguard('claim', f(1).weights.sum() > 0)",
        "def f(q):\n    return read(q, 2, 3)\nledger.check('x', f(1))",
        "total = 0\ntotal += nx.softmax([1, 2])[0]\nledger.check('x', total)",
        "with np.errstate(all='ignore'):\n    w = nx.softmax([1])\nguard('claim', w > 0)",
        "if (w := nx.softmax([1]).sum()) > 0:\n    guard('claim', w > 0)",
        "def check(a):\n    return a\ncheck(3)",
        "print(ledger.row('1.1-target'))",
    ],
)
def test_computed_is_let_through(code: str) -> None:
    assert lint(code) == []


@pytest.mark.parametrize(
    "condition", ["w > 0 or True", "True or w > 0", "w == w", "w >= w", "(w > 0) and True"]
)
def test_condition_that_cannot_fail_is_refused(condition: str) -> None:
    faults = lint(f"w = nx.softmax([1]).sum()\nguard('claim', {condition})")
    assert len(faults) == 1
    assert "always true" in faults[0][1]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("g = guard\ng('claim', True)", "guard must be called directly"),
        ("import functools\nfunctools.partial(guard, 'claim')(True)", "guard must be called directly"),
        ("check = ledger.check\ncheck('x', 2)", "ledger.check must be called directly"),
        ("from onesentence.evidence import *\nguard('claim', nx.softmax([1]) > 0)", "star import"),
    ],
)
def test_hidden_check_is_refused(code: str, reason: str) -> None:
    faults = lint(code)
    assert len(faults) == 1
    assert reason in faults[0][1]


def test_line_is_that_of_the_call() -> None:
    assert [line for line, _ in lint("x = 1\n\nguard('claim',\n      True)")] == [22]


def test_broken_code_is_left_to_python() -> None:
    assert lint("guard('claim', True") == []
