"""The name of parameters: what it sees, what it does not, and what a copy has."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from onesentence.seq2seq.adam import Adam
from onesentence.transformer import fingerprint as module
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.fingerprint import Fingerprint, computed

CONFIG = CausalConfig(5, d_model=8, n_head=2, d_ff=12)


def drawn(seed: int = 0) -> CausalLM:
    return CausalLM.initial(CONFIG, seed=seed)


def test_fingerprint_is_that_of_equal_numbers() -> None:
    model, twin = drawn(), drawn(1)
    name = model.fingerprint()
    assert len(name) == 32
    assert twin.fingerprint() != name
    twin.load_state_dict(model.state_dict())
    assert twin.fingerprint() == name
    assert copy.deepcopy(model).fingerprint() == name
    assert pickle.loads(pickle.dumps(model)).fingerprint() == name


def test_fingerprint_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(module, "computed", lambda *_: calls.append(1) or f"{len(calls)}")
    model = drawn()
    model(torch.tensor([[1, 2]])).sum().backward()
    assert [model.fingerprint() for _ in range(3)] == ["1"] * 3
    model.zero_grad()
    model.eval().requires_grad_(False)
    assert model.fingerprint() == "1"  # nothing of this changes a number


def optimise(model: CausalLM) -> None:
    model(torch.tensor([[1, 2]])).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()


@torch.no_grad()
def in_place(model: CausalLM) -> None:
    model.blocks[1].ffn.narrow.bias[3] += 1e-3


def replaced(model: CausalLM) -> None:
    model.last.weight = nn.Parameter(model.last.weight.detach() * 2)


def another_block(model: CausalLM) -> None:
    model.blocks[0] = drawn(3).blocks[0]


def added(model: CausalLM) -> None:
    model.head = nn.Linear(8, 5, bias=False)


def another_config(model: CausalLM) -> None:
    model.config = replace(CONFIG, rope_base=50.0)


CHANGES: list[Callable[[CausalLM], Any]] = [
    optimise,
    in_place,
    replaced,
    another_block,
    added,
    another_config,
    lambda model: model.load_state_dict(drawn(1).state_dict()),
    lambda model: model.double(),
    lambda model: model.half().float(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_fingerprint_sees(change: Callable[[CausalLM], Any]) -> None:
    model = drawn()
    before = model.fingerprint()
    change(model)
    assert model.fingerprint() != before
    assert model.fingerprint() == computed(model, model.config)


def test_fingerprint_keeps_the_memory_by_whose_address_it_knows_a_parameter() -> None:
    layer, name = nn.Linear(4, 4, bias=False), Fingerprint()
    before, memory = name.of(layer), StorageWeakRef(layer.weight.untyped_storage())
    layer.half().float()  # the same parameter of the same version; given back, its memory could be used for these numbers
    assert not memory.expired()
    assert name.of(layer) == computed(layer, None) != before
    assert memory.expired()


def test_fingerprint_does_not_see_data_until_it_is_told() -> None:
    model = drawn()
    before = model.fingerprint()
    model.last.weight.data += 1
    assert model.fingerprint() == before
    assert model.fingerprint(again=True) != before


def test_fingerprint_sees_the_books_adam() -> None:
    model = drawn()
    before = model.fingerprint()
    model(torch.tensor([[1, 2]])).sum().backward()
    Adam(model.parameters(), 0.1).step()
    assert model.fingerprint() == computed(model, CONFIG) != before


def test_fingerprint_sees_what_is_written_while_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, name, first = nn.Linear(2, 2), Fingerprint(), nn.Linear(2, 2)

    def written_meanwhile(model: nn.Module, config: object) -> str:
        out = computed(model, config)
        with torch.no_grad():
            layer.weight.add_(first.weight)
        return out

    with monkeypatch.context() as patch:
        patch.setattr(module, "computed", written_meanwhile)
        before = name.of(layer)
    assert name.of(layer) == computed(layer, None) != before


def test_fingerprint_forgotten_by_another_thread_is_still_said() -> None:
    layer, name = nn.Linear(2, 2), Fingerprint()
    expected = name.of(layer)
    address = layer.weight.data_ptr
    layer.weight.data_ptr = lambda: (name.forget(), address())[1]  # in the middle of the comparison
    assert name.of(layer) == expected
    assert name.of(layer) == expected


def test_fingerprint_of_inference_tensors_is_read_each_time() -> None:
    with torch.inference_mode():
        layer = nn.Linear(2, 2)
        name = Fingerprint()
        before = name.of(layer)
        layer.weight += 1
        assert name.of(layer) == computed(layer, None) != before


def test_computed_tells_dtypes_and_shapes_of_equal_bytes_apart() -> None:
    ones = [nn.Linear(*sizes, bias=False) for sizes in ((2, 3), (3, 2))]
    with torch.no_grad():
        for layer in ones:
            layer.weight.zero_()
    names = {computed(layer, None) for layer in ones}
    assert len(names | {computed(ones[0], 1), computed(ones[0].half(), None)}) == 4
