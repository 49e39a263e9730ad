"""The ledger: comparing under a tolerance, refusing what does not fit, leaving records."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.evidence import GuardError, LedgerError, guard, ledger
from onesentence.evidence.identity import IDENTITIES, get_identity
from onesentence.evidence.kinds import KINDS
from onesentence.evidence.plain import plain


def test_check_accepts_arrays_tuples_and_tensors() -> None:
    context = np.array([1.2669563947545546, 1.4660872104908909])
    for value in (context, tuple(context), torch.tensor(context), context.tolist()):
        ledger.check("3.5-context", value)


@pytest.mark.parametrize(
    ("row_id", "value"),
    [
        ("3.5-context", (1.266957, 1.466089)),
        ("3.5-context", (1.266956,)),
        ("3.5-context", ((1.266956, 1.466087),)),
        ("3.5-context", 1.266956),
        ("3.5-context", ("1.266956", "1.466087")),
        ("3.5-context", (math.nan, 1.466087)),
        ("3.5-hull", [1, 1.0]),
        ("3.5-hull", [True, True]),
        ("3.5-hull", [False, 1.0]),
        ("1.2-units", 8),
        ("1.2-units", True),
        ("1.1-target", "I gave him a book yesterday . EOS"),
        ("3.1-loss", 0.352839),
    ],
)
def test_check_refuses_what_is_off(row_id: str, value: object) -> None:
    with pytest.raises(LedgerError, match=rf"{row_id}: computed .*, expected .* within"):
        ledger.check(row_id, value)


def test_check_names_the_nearest_ids() -> None:
    with pytest.raises(LedgerError, match=r"unknown ledger id '3\.5-contxt'; nearest: 3\.5-context"):
        ledger.check("3.5-contxt", 1)


def test_each_kind_of_row_has_its_own_way() -> None:
    kinds = {entry.check: entry.id for entry in ledger.rows().values()}
    for kind in ("property", "cited"):
        with pytest.raises(LedgerError, match=f"a {kind} row is not computed"):
            ledger.check(kinds[kind], 1)
    with pytest.raises(LedgerError, match="a value row is computed or guarded, not cited"):
        ledger.cite("3.5-context")
    with pytest.raises(LedgerError, match="a value row is checked with"):
        guard("句", True, covers="3.5-context")
    assert ledger.cite(kinds["cited"]) == ledger.row(kinds["cited"]).expected
    guard("句", True, covers=kinds["property"])


def test_misprint_keeps_what_was_printed() -> None:
    entry = ledger.row("3.1-loss")
    assert (entry.printed, entry.expected) == (0.352839, 0.35284)
    assert entry.erratum


def test_list_and_relative_tolerances() -> None:
    assert ledger.agrees([1.4, 10.0], [1.0, 10.0], [0.5, 0.0])
    assert not ledger.agrees([1.0, 10.1], [1.0, 10.0], [0.5, 0.0])
    assert ledger.agrees([[102.0]], [[100.0]], 0.03, relative=True)
    assert not ledger.agrees([[104.0]], [[100.0]], 0.03, relative=True)


def test_mappings_need_the_same_keys() -> None:
    assert ledger.agrees({"a": 1.0}, {"a": 1}, 0)
    assert not ledger.agrees({"a": 1.0, "b": 2.0}, {"a": 1}, 0)


def test_infinities_agree_with_themselves_only() -> None:
    assert ledger.agrees(math.inf, math.inf, 0)
    assert not ledger.agrees(-math.inf, math.inf, 1e300)


values = st.recursive(
    st.floats(allow_nan=False, allow_infinity=False, width=32) | st.booleans() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_value_agrees_with_itself_at_tolerance_zero(value: object) -> None:
    assert ledger.agrees(value, value, 0)
    assert ledger.difference(value, value) == 0.0


@given(st.floats(-1e6, 1e6), st.floats(0, 1), st.floats(-2, 2))
def test_agreement_is_the_difference_within_the_tolerance(x: float, tolerance: float, step: float) -> None:
    assert ledger.agrees([x + step], [x], tolerance) == (abs(x + step - x) <= tolerance)


def test_plain_refuses_what_json_cannot_hold() -> None:
    with pytest.raises(TypeError, match="a object cannot be kept in a record"):
        plain([object()])
    assert plain({"a": np.arange(2), "b": {3, 1}}) == {"a": [0, 1], "b": [1, 3]}


@pytest.mark.parametrize("condition", [1, np.array([True]), "yes", None, np.float64(1.0)])
def test_guard_wants_one_boolean(condition: object) -> None:
    with pytest.raises(TypeError, match="condition: expected one boolean, got"):
        guard("句", condition)


def test_guard_accepts_numpy_and_torch_booleans_and_raises_when_false() -> None:
    guard("句", np.bool_(True))
    with pytest.raises(GuardError, match="这次运行不支持：「水往高处流」"):
        guard("水往高处流", np.bool_(False))
    with pytest.raises(ValueError, match="claim: expected a sentence"):
        guard(" ", True)


def test_identities_have_seals_of_two_characters() -> None:
    assert tuple(IDENTITIES) == KINDS
    assert len(IDENTITIES) == 8
    assert len({identity.seal for identity in IDENTITIES.values()}) == 8
    assert all(len(identity.seal) == 2 for identity in IDENTITIES.values())
    with pytest.raises(ValueError, match="identity: unknown 'proven'; known are constructed"):
        get_identity("proven")


def test_nothing_is_shown_outside_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    ledger.check("1.2-units", 9)
    guard("句", True)
    assert capsys.readouterr().out == ""


def test_evidence_imports_neither_torch_nor_matplotlib() -> None:
    code = "import sys, onesentence.evidence; print([m for m in ('torch', 'matplotlib', 'numpy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
