"""Records: what they must hold, and which change makes a run run again."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from onesentence.evidence import closure, records
from onesentence.evidence.records import FOLDER_VARIABLE, Record, memoised, records_folder, versions_of

EXPERIMENT = """
import dataclasses
from pathlib import Path
from onesentence.numerics import softmax
from onesentence.evidence.records import Record, memoised

CALLS = Path(__file__).with_name("calls")

@dataclasses.dataclass(frozen=True)
class Config:
    steps: int = 3
    rate: float = 0.1
    widths: tuple[int, ...] = (4, 13)

@memoised
def run(config: Config) -> Record:
    with CALLS.open("a") as calls:
        calls.write("x")
    losses = [float(softmax([1.0, s]).max()) for s in (0, 1)]
    return Record("tiny", "trained", dataclasses.asdict(config), (0, 1), {"loss": losses})
"""


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "records"))
    path = tmp_path / "tiny_experiment.py"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


def calls(path: Path) -> int:
    return len(path.with_name("calls").read_text(encoding="utf-8"))


def test_same_run_is_not_run_again(experiment: Path) -> None:
    module = load(experiment)
    first = module.run(module.Config())
    assert module.run(module.Config()) == first
    assert load(experiment).run(module.Config()) == first
    assert calls(experiment) == 1
    assert first.device in ("cpu", "cuda")
    assert first.seconds > 0
    assert len(first.code_hash) == 32


def test_first_and_kept_record_are_the_same_plain_data(experiment: Path) -> None:
    module = load(experiment)
    first, kept = module.run(module.Config()), module.run(module.Config())
    assert first == kept
    for record in (first, kept):
        assert record.config["widths"] == [4, 13]
        assert record.seeds == (0, 1)


def test_other_configuration_is_run(experiment: Path) -> None:
    module = load(experiment)
    module.run(module.Config())
    module.run(module.Config(steps=4))
    module.run(module.Config(rate=0.2))
    assert calls(experiment) == 3


def test_changed_experiment_is_run_and_the_old_record_kept(experiment: Path) -> None:
    load(experiment).run(load(experiment).Config())
    experiment.write_text(EXPERIMENT.replace("1.0, s", "2.0, s"), encoding="utf-8")
    load(experiment).run(load(experiment).Config())
    assert calls(experiment) == 2
    experiment.write_text(EXPERIMENT, encoding="utf-8")
    load(experiment).run(load(experiment).Config())
    assert calls(experiment) == 2


def test_what_it_imports_counts_and_what_it_does_not_import_does_not(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(experiment)
    module.run(module.Config())
    real = closure._digest
    changed = "numerics.py"
    monkeypatch.setattr(
        closure, "_digest", lambda file, stamp: b"other" if file.name == changed else real(file, stamp)
    )
    module.run(module.Config())
    assert calls(experiment) == 2, "the module that it imports has changed"
    monkeypatch.setattr(
        closure, "_digest", lambda file, stamp: b"other" if file.name == "style.py" else real(file, stamp)
    )
    module.run(module.Config())
    assert calls(experiment) == 2, "the style of plots has changed"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"name": 1}'])
def test_damaged_record_is_run_again(experiment: Path, damage: str) -> None:
    module = load(experiment)
    first = module.run(module.Config())
    (file,) = records_folder().glob("*.json")
    file.write_text(damage, encoding="utf-8")
    again = module.run(module.Config())
    assert calls(experiment) == 2
    assert again.metrics == first.metrics
    assert not list(records_folder().glob("*.part"))


def test_config_must_be_a_dataclass(experiment: Path) -> None:
    with pytest.raises(TypeError, match="config: expected a dataclass, got dict"):
        load(experiment).run({"steps": 3})


def test_record_survives_json_and_refuses_what_does_not_fit() -> None:
    record = Record(
        "tiny", "trained", {"steps": 3}, (0, 1), {"loss": [0.5, 0.25]}, versions=versions_of("numpy")
    )
    assert Record.from_json(record.to_json()) == record
    with pytest.raises(ValueError, match="'loss' has 1 values for 2 seeds"):
        dataclasses.replace(record, metrics={"loss": [0.5]})
    with pytest.raises(ValueError, match="seeds: expected at least one"):
        dataclasses.replace(record, seeds=())
    with pytest.raises(ValueError, match="identity: unknown 'proven'"):
        dataclasses.replace(record, identity="proven")


def test_memoised_keeps_the_function_recognisable() -> None:
    def run(config: object) -> Record:
        """Train."""
        raise NotImplementedError

    assert memoised(run).__doc__ == "Train."


def test_of_two_that_ask_at_one_time_one_runs_and_the_other_waits(experiment, monkeypatch) -> None:
    module = load(experiment)
    inside, missed, go = threading.Event(), threading.Event(), threading.Event()
    kept = records._read

    def read(file: Path) -> Record | None:
        found = kept(file)
        if found is None and inside.is_set():
            missed.set()  # the second has seen that there is no record, while the first runs
        return found

    def softmax(scores: list[float]) -> np.ndarray:
        inside.set()
        assert go.wait(30)
        return np.array(scores)

    monkeypatch.setattr(records, "_read", read)
    monkeypatch.setattr(module, "softmax", softmax)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(module.run, module.Config())
        assert inside.wait(30)
        second = pool.submit(module.run, module.Config())
        assert missed.wait(30)
        go.set()
        assert first.result() == second.result()
    assert calls(experiment) == 1
