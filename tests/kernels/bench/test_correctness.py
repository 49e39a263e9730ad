"""A backend that is wrong somewhere is found out, in each of its results."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor

from onesentence.kernels.bench.cases import Case, square
from onesentence.kernels.bench.correctness import bounds, computed, verdict
from onesentence.kernels.bench.inputs import inputs_of
from onesentence.kernels.reference import attention

CPU = torch.device("cpu")
CASE = Case("backward", 2, 4, 2, 5, 7, 8, "float32", causal=True)


@pytest.mark.parametrize("kind", ["forward", "backward"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_reference_itself_passes(kind: str, dtype: str) -> None:
    case = dataclasses.replace(CASE, kind=kind, dtype=dtype)
    inputs = inputs_of(case, CPU, seed=0)
    found = computed(lambda: attention(*inputs.leaves, causal=True)[0], inputs)
    seen = verdict(case, found, bounds(case, inputs))
    assert seen.reason == ""
    assert list(seen.errors) == ["o", "dq", "dk", "dv"][: 4 if kind == "backward" else 1]
    assert all(0 <= error <= allowed for error, allowed in seen.errors.values())


@pytest.mark.parametrize("name", ["o", "dq", "dk", "dv"])
@pytest.mark.parametrize("place", [(0, 0), (-1, -1)])
def test_an_error_in_one_number_is_found(name: str, place: tuple[int, int]) -> None:
    inputs = inputs_of(CASE, CPU, seed=0)
    found = computed(lambda: attention(*inputs.leaves, causal=True)[0], inputs)
    found[name] = found[name].clone()
    found[name][place][3, 2] += 1e-4
    seen = verdict(CASE, found, bounds(CASE, inputs))
    assert seen.reason.startswith(f"{name} is off by ")
    found[name][1, 0, 3, 2] = torch.nan  # a head that is not compared
    assert f"{name} is not finite everywhere" in verdict(CASE, found, bounds(CASE, inputs)).reason


def test_rows_that_are_small_are_held_against_what_they_may_lose_themselves() -> None:
    """The last eighth of each result is zero; of dk and dv it is less than the first rows, 100 times larger, may be off."""
    case = square("backward", 1, 1, 2048, 16, "bfloat16", causal=True)
    inputs = inputs_of(case, CPU, seed=0)
    limits = bounds(case, inputs)
    found = computed(lambda: attention(*inputs.leaves, causal=True)[0], inputs)
    assert verdict(case, found, limits).reason == ""
    for name in found:
        late = found[name].clone()
        late[:, :, 1792:] = 0
        assert verdict(case, found | {name: late}, limits).reason.startswith(f"{name} is off by ")


def test_the_mask_of_another_corner_is_found() -> None:
    inputs = inputs_of(CASE, CPU, seed=0)

    def wrong() -> Tensor:
        q, k, v = (part.repeat_interleave(4 // part.shape[1], dim=1) for part in inputs.leaves)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    seen = verdict(CASE, computed(wrong, inputs), bounds(CASE, inputs))
    assert "o is off by" in seen.reason


def test_another_shape_is_found() -> None:
    inputs = inputs_of(CASE, CPU, seed=0)
    found = computed(lambda: attention(*inputs.leaves, causal=True)[0], inputs)
    found["dk"] = found["dk"].mT
    assert verdict(CASE, found, bounds(CASE, inputs)).reason == (
        "dk has shape (2, 2, 8, 7), expected (2, 2, 7, 8)"
    )


def test_the_bound_follows_what_the_dtype_loses() -> None:
    limits = {}
    for dtype in ("float32", "bfloat16"):
        case = dataclasses.replace(CASE, dtype=dtype)
        (limits[dtype],) = bounds(case, inputs_of(case, CPU, seed=0))["o"].allowed
    assert limits["float32"] < 1e-5 < 1e-3 < limits["bfloat16"] < 0.1


def test_inputs_are_those_of_the_seed_and_want_gradients_backwards_only() -> None:
    one, same, other = (inputs_of(CASE, CPU, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one.q, same.q)
    assert not torch.equal(one.q, other.q)
    assert not torch.equal(one.k, one.v)
    assert all(leaf.requires_grad and leaf.is_leaf for leaf in one.leaves)
    forward = inputs_of(dataclasses.replace(CASE, kind="forward"), CPU, seed=3)
    assert forward.upstream is None
    assert not forward.q.requires_grad
