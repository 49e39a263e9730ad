"""Each backend gives the reference's result, or says why it is absent; pages hold what was cut into them."""

from __future__ import annotations

import dataclasses
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from onesentence.kernels.bench import backends, cuda
from onesentence.kernels.bench.backends import Backend, too_large
from onesentence.kernels.bench.cases import Case, square
from onesentence.kernels.bench.correctness import bounds, computed, verdict
from onesentence.kernels.bench.inputs import inputs_of

CPU = torch.device("cpu")
CASES = (
    Case("backward", 2, 4, 2, 9, 9, 16, "float32", causal=True),
    Case("backward", 1, 2, 2, 5, 8, 16, "float32", causal=False),
    Case("decode", 2, 4, 2, 1, 33, 16, "float32", causal=False),
)


def named(name: str) -> Backend:
    return next(backend for backend in cuda.BACKENDS if backend.name == name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("name", [backend.name for backend in backends.COMMON])
def test_backends_of_a_cpu_compute_what_the_reference_computes(name: str, case: Case) -> None:
    inputs = inputs_of(case, CPU, seed=1)
    found = computed(named(name).prepare(case, inputs), inputs)
    assert verdict(case, found, bounds(case, inputs)).reason == ""


def test_names_are_unique_and_kinds_of_cases_are_all_served() -> None:
    names = [backend.name for backend in cuda.BACKENDS]
    assert len(set(names)) == len(names)
    for kind in ("forward", "backward", "decode"):
        assert {"naive", "sdpa flash"} < {one.name for one in cuda.BACKENDS if kind in one.kinds}


def test_sdpa_runs_the_one_that_it_is_pinned_to(monkeypatch: pytest.MonkeyPatch) -> None:
    case = square("forward", 1, 2, 4, 8, "float32", causal=False)
    seen: dict[str, Any] = {}

    def spied(*args: Any, **options: Any) -> torch.Tensor:
        seen["flash"] = torch.backends.cuda.flash_sdp_enabled()
        seen["math"] = torch.backends.cuda.math_sdp_enabled()
        seen["cudnn"] = torch.backends.cuda.cudnn_sdp_enabled()
        return args[0]

    monkeypatch.setattr(backends, "scaled_dot_product_attention", spied)
    named("sdpa flash").prepare(case, inputs_of(case, CPU, 0))()
    assert seen == {"flash": True, "math": False, "cudnn": False}
    named("sdpa cudnn").prepare(case, inputs_of(case, CPU, 0))()
    assert seen == {"flash": False, "math": False, "cudnn": True}


def test_sdpa_that_cannot_run_its_choice_raises_and_does_not_choose_another() -> None:
    case = square("forward", 1, 2, 4, 8, "float64", causal=False)
    inputs = inputs_of(case, CPU, 0)
    wide = dataclasses.replace(inputs, v=inputs.v.float())
    with pytest.raises(RuntimeError):
        named("sdpa flash").prepare(case, wide)()


def test_absent_backends_say_why() -> None:
    assert named("naive").missing(CPU) == ""
    for name in ("sdpa cudnn", "flex", "triton", "triton split", "triton one part", "triton paged"):
        assert named(name).missing(CPU) == "is for cuda only"
    assert named("tiled").missing(torch.device("cuda")) == "is for cpu only"
    causal = Case("forward", 1, 1, 1, 3, 5, 8, "float32", causal=True)
    assert "its causal mask stands at the start" in named("sdpa flash").passes(causal, CPU)
    short = square("forward", 1, 1, 1024, 64, "bfloat16", causal=True)
    assert named("flex").passes(short, CPU) == "is compiled for each length; measured at 4096 and 16384 only"


KERNELS = ("triton", "triton split", "triton one part", "triton paged")


def test_without_triton_or_with_its_interpreter_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    triton = pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    for name in KERNELS:
        assert named(name).missing(torch.device("cuda")).startswith("runs under Triton's interpreter here")
    monkeypatch.setitem(sys.modules, "triton", None)
    for name in KERNELS:
        assert named(name).missing(torch.device("cuda")).startswith("needs Triton: ")


def test_with_triton_the_kernels_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
    monkeypatch.setattr(cuda, "no_triton", lambda: "")
    assert [named(name).missing(torch.device("cuda")) for name in KERNELS] == [""] * 4
    monkeypatch.setitem(sys.modules, "onesentence.kernels.gpu.attention", None)
    monkeypatch.delattr("onesentence.kernels.gpu.attention")
    assert named("triton").missing(torch.device("cuda")).startswith("cannot be imported: ")
    assert named("triton paged").missing(torch.device("cuda")) == ""


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_triton_compute_what_the_reference_computes(name: str) -> None:
    pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # on the CPU under the interpreter
    decode = Case("decode", 2, 4, 2, 1, 100, 16, "float32", causal=False)
    case = decode if name != "triton" else square("backward", 1, 2, 40, 16, "float32", causal=True)
    inputs = inputs_of(case, device, seed=4)
    with torch.set_grad_enabled(inputs.upstream is not None):
        found = computed(named(name).prepare(case, inputs), inputs)
    assert verdict(case, found, bounds(case, inputs)).reason == ""


def test_naive_is_left_out_where_its_tables_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = SimpleNamespace(total_memory=80 * 10**9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    device = torch.device("cuda")
    fits = square("forward", 1, 32, 16384, 64, "bfloat16", causal=False)
    assert fits.table_bytes == 32 * 2**28 * 2
    assert too_large(fits, device) == ""
    backward = dataclasses.replace(fits, kind="backward")
    assert too_large(backward, device) == "its tables would need 86 GB of 80"


def test_pages_hold_the_keys_in_the_order_of_the_table() -> None:
    k, v = torch.randn(2, 3, 10, 4), torch.randn(2, 3, 10, 4)
    k_pages, v_pages, table = cuda.pages_of(k, v, 4)
    assert k_pages.shape == v_pages.shape == (6, 3, 4, 4)
    assert sorted(table.flatten().tolist()) == list(range(6))
    assert table.flatten().tolist() != list(range(6))
    assert table.dtype == torch.int32
    for part, pages in ((k, k_pages), (v, v_pages)):
        for b in range(2):
            read = torch.cat([pages[page] for page in table[b].tolist()], dim=1)
            assert torch.equal(read[:, :10], part[b])
            assert (read[:, 10:] == 0).all()


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("causal", [False, True])
def test_flex_reads_as_the_reference_does(monkeypatch: pytest.MonkeyPatch, causal: bool) -> None:
    asked: dict[str, Any] = {}

    def uncompiled(function: Any, **options: Any) -> Any:
        asked.update({} if asked else options)  # uncompiled, it compiles a part of itself in its own way
        return function

    monkeypatch.setattr(torch, "compile", uncompiled)
    case = Case("forward", 1, 4, 2, 128, 256, 16, "float32", causal=causal)
    inputs = inputs_of(case, CPU, seed=2)
    with torch.no_grad():
        found = computed(cuda.flex(case, inputs), inputs)
    assert verdict(case, found, bounds(case, inputs)).reason == ""
    assert asked == {"dynamic": False, "fullgraph": True}
