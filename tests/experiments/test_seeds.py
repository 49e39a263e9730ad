"""Seeds in processes: order, equality with one process, threads, a wrong environment."""

from __future__ import annotations

import os

import pytest
import torch

from onesentence.experiments import seeds


def state_of(seed: int) -> tuple[float, int, int]:
    generator = torch.Generator().manual_seed(seed)
    return float(torch.rand(1, generator=generator)), torch.get_num_threads(), os.getpid()


def test_over_gives_the_same_in_one_process_and_in_two(monkeypatch):
    monkeypatch.setenv(seeds.WORKERS_VARIABLE, "1")
    alone = seeds.over([3, 1, 2], state_of)
    monkeypatch.setenv(seeds.WORKERS_VARIABLE, "2")
    together = seeds.over([3, 1, 2], state_of)
    assert [value for value, *_ in alone] == [value for value, *_ in together]
    assert {process for *_, process in alone} == {os.getpid()}
    assert os.getpid() not in {process for *_, process in together}


def test_over_runs_each_case_with_one_thread_and_restores_the_setting(monkeypatch):
    monkeypatch.setenv(seeds.WORKERS_VARIABLE, "1")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert [threads for _, threads, _ in seeds.over([0, 1], state_of)] == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("named", ["0", "two", "-1", ""])
def test_over_refuses_an_environment_that_names_no_number(monkeypatch, named):
    monkeypatch.setenv(seeds.WORKERS_VARIABLE, named)
    with pytest.raises(ValueError, match="ONESENTENCE_WORKERS must be a number of processes"):
        seeds.over([0], state_of)
