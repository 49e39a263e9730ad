"""Cases: their tables, what they refuse, and what they compute and move."""

from __future__ import annotations

import pytest
import torch

from onesentence.kernels.bench import cases
from onesentence.kernels.bench.cases import Case, cases_of, square
from onesentence.kernels.bench.work import traffic_bytes, work_flops
from onesentence.kernels.reference import may_read


def test_cuda_cases_keep_tokens_and_width_and_cover_what_is_claimed() -> None:
    found = cases_of("cuda", quick=False)
    squares = [case for case in found if case.kind != "decode"]
    assert {case.B * case.T for case in squares} == {16384}
    assert {case.H * case.D for case in squares} == {2048}
    assert {(case.kind, case.D, case.T, case.causal) for case in squares if case.dtype == "bfloat16"} == {
        (kind, D, T, causal)
        for kind in ("forward", "backward")
        for D in (64, 128)
        for T in (1024, 2048, 4096, 8192, 16384)
        for causal in (False, True)
    }
    assert sum(case.dtype == "float16" for case in squares) == 4
    decode = {(case.B, case.S) for case in found if case.kind == "decode"}
    assert decode == {(B, S) for B in (16, 32, 64) for S in (4096, 8192, 16384)}
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_quick_cases_are_some_of_the_full_ones(device: str) -> None:
    quick, full = (set(cases_of(device, quick=quick)) for quick in (True, False))
    assert quick < full
    assert {case.kind for case in quick} == set(cases.KINDS)
    assert len({case.name for case in full}) == len(full)


def test_cpu_cases_have_the_lengths_of_the_goals() -> None:
    found = cases_of("cpu", quick=False)
    forward = {(case.T, case.causal) for case in found if case.kind == "forward"}
    assert forward == {(T, causal) for T in (1024, 2048, 4096, 8192) for causal in (False, True)}
    assert {(case.B, case.H, case.D, case.dtype) for case in found if case.kind != "decode"} == {
        (1, 8, 64, "float32")
    }


@pytest.mark.parametrize(("T", "S"), [(4, 4), (2, 5), (5, 2), (1, 7)])
def test_flops_are_four_times_the_head_size_for_each_pair_that_the_mask_leaves(T: int, S: int) -> None:
    case = Case("forward", 1, 1, 1, T, S, 8, "float32", causal=True)
    mask = may_read(case.sizes, causal=True, real=None, device=torch.device("cpu"))
    assert mask is not None
    assert work_flops(case) == 4 * 8 * int(mask.sum())


def test_flops_of_the_published_convention() -> None:
    full = square("forward", 2, 16, 1024, 128, "bfloat16", causal=False)
    assert work_flops(full) == 4 * 2 * 16 * 1024**2 * 128
    back = square("backward", 2, 16, 1024, 128, "bfloat16", causal=False)
    assert work_flops(back) == 2.5 * work_flops(full)
    causal = square("forward", 2, 16, 1024, 128, "bfloat16", causal=True)
    assert work_flops(causal) == 4 * 2 * 16 * (1024 * 1025 // 2) * 128


def test_traffic_of_decoding_is_keys_values_queries_and_outputs() -> None:
    case = Case("decode", 16, 32, 8, 1, 4096, 128, "bfloat16", causal=False)
    assert traffic_bytes(case) == 2 * (2 * 16 * 8 * 4096 * 128 + 2 * 16 * 32 * 128)


def test_case_refuses_what_is_none() -> None:
    good = ("forward", 1, 4, 2, 3, 5, 8, "float32", True)
    Case(*good)

    def changed(place: int, value: object) -> tuple[object, ...]:
        return (*good[:place], value, *good[place + 1 :])

    for place, value, error, message in (
        (0, "sideways", ValueError, "kind: expected one of forward, backward, decode, got 'sideways'"),
        (1, 0, ValueError, "B must be at least 1, got 0"),
        (3, 3, ValueError, "H must be a multiple of the G = 3 key heads, got 4"),
        (5, 2.0, TypeError, "S must be an integer, got 2.0"),
        (7, "int8", ValueError, "dtype: expected one of float64"),
        (8, 1, TypeError, "causal must be True or False, got 1"),
        (0, "decode", ValueError, "decode: expected T = 1 without causal, got T = 3, causal = True"),
    ):
        with pytest.raises(error, match=message):
            Case(*changed(place, value))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device: expected one of cpu, cuda, got 'tpu'"):
        cases_of("tpu", quick=True)
