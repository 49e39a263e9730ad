"""The worked block: every row of sections 4.8 and 4.10 of the ledger, out of the ledger's own inputs too."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.evidence.ledger import agrees, row, rows
from onesentence.transformer.block_example import POSITIONS, block, inputs

IDS = sorted(name for name in rows() if name.startswith(("4.8-", "4.10-")) and "pos1" in name)


def test_block_example_equals_the_ledger() -> None:
    trace = block()(inputs())
    first = {
        "4.8-head1-pos1": trace.attention.heads[0, 0],
        "4.8-head2-pos1": trace.attention.heads[1, 0],
        "4.8-mha-pos1": trace.attention.output[0],
        "4.10-residual-pos1": trace.residual[0],
        "4.10-ln1-pos1": trace.u[0],
        "4.10-relu-pos1": trace.hidden[0],
        "4.10-ffn-pos1": trace.ffn[0],
        "4.10-out-pos1": trace.z[0],
    }
    assert sorted(first) == IDS
    for name, value in first.items():
        assert agrees(value.tolist(), row(name).expected, row(name).tolerance), name


@pytest.mark.parametrize("name", IDS)
def test_block_example_has_the_weights_of_the_ledger(name: str) -> None:
    given, example = row(name).inputs, block()
    assert inputs().tolist() == given["X"]
    for r in (0, 1):
        for letter, weights in (("Q", example.heads.w_q), ("K", example.heads.w_k), ("V", example.heads.w_v)):
            assert weights[r].tolist() == given[f"W{letter}{r + 1}"]
    assert example.heads.w_o.tolist() == given["WO"]
    assert (example.w_1.tolist(), example.w_2.tolist(), example.eps) == (
        given["W1"],
        given["W2"],
        given["eps"],
    )


def test_block_example_output_matrix_adds_and_subtracts() -> None:
    probe = row("4.8-wo-map")
    assert (np.array(probe.inputs["probe"]) @ block().heads.w_o).tolist() == probe.expected


def test_block_example_has_a_name_for_each_position() -> None:
    assert len(POSITIONS) == len(inputs())
