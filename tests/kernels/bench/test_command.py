"""The command line: exit statuses, the file, and a run in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onesentence.evidence.records import Record
from onesentence.kernels.bench import command
from onesentence.kernels.bench.archive import about, read, rows
from onesentence.kernels.bench.command import default_file, main, write
from onesentence.kernels.bench.run import Bench

CODE = Path(command.__file__).parents[3]
RECORD = Record(
    "kernels_bench",
    "measured",
    {"about": {"suite": "s", "device": "d", "threads": 1, "date": "t", "complete": True, "stopped": ""}},
    (0,),
    {name: [[]] for name in ("rows", "ceilings", "memory", "absent", "faulty")},
)


@pytest.fixture(autouse=True)
def same_handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def given(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    record = Record.from_json(RECORD.to_json())
    about(record).update({key: value for key, value in changes.items() if key != "faulty"})
    record.metrics["faulty"] = [changes.get("faulty", [])]
    monkeypatch.setattr(command, "run", lambda bench, say: record)


def test_a_quick_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    """As on a bare machine: from the sources, the package not installed, a thread or two."""
    out = tmp_path / "sub" / "record.json"
    options = ["--quick", "--device", "cpu", "--only", "decode", "--repeats", "1", "--out", str(out)]
    run = subprocess.run(
        [sys.executable, "-m", "onesentence.kernels.bench", *options],
        env=os.environ | {"PYTHONPATH": str(CODE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    record = read(out.read_text(encoding="utf-8"))
    assert about(record)["complete"]
    assert {row["status"] for row in rows(record)} == {"timed"}
    assert f"record: {out}" in run.stdout
    assert "[1/1] decode B4" in run.stderr
    assert [file.name for file in out.parent.iterdir()] == ["record.json"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, command.FINE),
        ({"faulty": ["x: raised"]}, command.FAULTY),
        ({"complete": False, "stopped": "the limit of 1 s was reached before case 1 of 2"}, command.FAULTY),
        ({"complete": False, "stopped": "interrupted"}, command.INTERRUPTED),
    ],
)
def test_the_exit_status_says_how_it_went_and_the_record_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, object], status: int
) -> None:
    given(monkeypatch, **changes)
    assert main(["--device", "cpu", "--out", str(tmp_path / "r.json")]) == status
    assert Record.from_json((tmp_path / "r.json").read_text()).name == "kernels_bench"


def test_a_file_that_is_there_is_kept_unless_forced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch)
    out = tmp_path / "r.json"
    out.write_text("kept")
    assert main(["--device", "cpu", "--out", str(out)]) == command.USAGE
    assert "r.json is there; name another file or give --force" in capsys.readouterr().err
    assert out.read_text() == "kept"
    assert main(["--device", "cpu", "--out", str(out), "--force"]) == command.FINE
    assert out.read_text() != "kept"


@pytest.mark.parametrize("out", ["", "file/r.json"])
def test_a_place_where_nothing_can_be_written_is_found_out_before_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    monkeypatch.setattr(command, "run", None)
    (tmp_path / "file").write_text("no folder")
    assert main(["--device", "cpu", "--force", "--out", str(tmp_path / out)]) == command.USAGE
    assert ("is a folder" if not out else "cannot be written: ") in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_record_is_printed_where_the_disk_has_filled_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(record: Record, file: Path) -> None:
        raise OSError("No space left on device")

    given(monkeypatch)
    monkeypatch.setattr(command, "write", failing)
    assert main(["--device", "cpu", "--out", str(tmp_path / "r.json")]) == command.FAULTY
    said = capsys.readouterr()
    assert "No space left on device" in said.err
    assert Record.from_json(said.out[said.out.index("\n{") :]).name == "kernels_bench"


def test_bad_arguments_measure_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "run", None)
    assert main(["--device", "cpu", "--only", "nothing has this"]) == command.USAGE
    assert "bench: only: no case's name holds 'nothing has this'" in capsys.readouterr().err


def test_a_record_that_cannot_be_written_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def failing(source: str, target: Path) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="full"):
        write(RECORD, tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_the_default_file_names_suite_and_time_under_the_build() -> None:
    file = default_file(Bench("cpu", quick=True))
    assert file.parent == command.ROOT / "_build" / "bench"
    assert file.name.startswith("attention-cpu-quick-2")
    assert (command.ROOT / "code" / "onesentence").is_dir()
