"""The archive: the newest of each device and suite, nothing where it is empty, a clear error for what is damaged."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onesentence.evidence.records import Record
from onesentence.kernels.bench import archive
from onesentence.kernels.bench.archive import about, archived, read

ROW = {
    "name": "decode …",
    "case": {"kind": "decode"},
    "backend": "naive",
    "status": "timed",
    "reason": "",
    "rate": 1e12,
    "median": 1e-3,
    "seconds": [1e-3],
}


def planted(**facts: Any) -> Record:
    known = {
        "suite": "attention-cuda",
        "complete": True,
        "stopped": "",
        "device": "NVIDIA H200",
        "threads": 16,
        "date": "2026-11-30T12:00:00+00:00",
        "commit": "abc",
        "backends": {"naive": "the table in memory"},
    }
    metrics = {name: [[]] for name in archive.METRICS} | {"rows": [[ROW]]}
    config = {"about": known | facts, "only": ""}
    return Record("kernels_bench", "measured", config, (0,), metrics, device="cuda")


def test_the_newest_is_told_across_time_zones(tmp_path: Path) -> None:
    for name, date in {"a": "2026-12-02T01:00:00+02:00", "b": "2026-12-01T23:30:00+00:00"}.items():
        (tmp_path / f"{name}.json").write_text(planted(date=date, commit=name).to_json(), encoding="utf-8")
    assert [about(one)["commit"] for one in archived(tmp_path)] == ["b"]


def test_an_empty_archive_gives_nothing(tmp_path: Path) -> None:
    assert archived(tmp_path) == ()
    assert archived(tmp_path / "none") == ()


def test_the_newest_of_each_device_and_suite(tmp_path: Path) -> None:
    for name, record in {
        "a": planted(date="2026-12-02T00:00:00+00:00"),
        "b": planted(),
        "c": planted(device="NVIDIA H100"),
        "d": planted(suite="attention-cuda-quick"),
    }.items():
        (tmp_path / f"{name}.json").write_text(record.to_json(), encoding="utf-8")
    found = [
        (about(one)["suite"], about(one)["device"], about(one)["date"][:10]) for one in archived(tmp_path)
    ]
    assert found == [
        ("attention-cuda", "NVIDIA H100", "2026-11-30"),
        ("attention-cuda", "NVIDIA H200", "2026-12-02"),
        ("attention-cuda-quick", "NVIDIA H200", "2026-11-30"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "x.json: Expecting property name"),
        (b"\xff", "x.json: 'utf-8' codec"),
        (b"[]", "x.json: not a record"),
        (
            planted(commit="").to_json().encode(),
            "x.json: names no commit; run from a checkout, or with --comm",
        ),
        (
            planted(complete=False, stopped="interrupted").to_json().encode(),
            "x.json: a run that is not complete does not belong into the archive, got 'interrupted'",
        ),
        (
            planted().to_json().replace('"only": ""', '"only": "D64"').encode(),
            "x.json: a run that is not complete .* got '--only D64'",
        ),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        archived(tmp_path)


def test_read_names_what_is_wrong() -> None:
    record = planted()
    assert read(record.to_json()) == record

    def refused(change: dict[str, Any], message: str) -> None:
        text = dataclasses.replace(record, **change).to_json()
        with pytest.raises(ValueError, match=message):
            read(text)

    refused({"name": "other"}, "name: expected 'kernels_bench', got 'other'")
    refused({"config": {}}, "config about: expected a mapping, got None")
    refused({"config": {"about": about(record) | {"date": 3}}}, "config about: date must be str, got '3'")
    refused(
        {"config": {"about": about(record) | {"date": "yesterday"}}}, "config about: date: Invalid isoformat"
    )
    refused({"config": {"about": about(record) | {"date": "2026-12-01"}}}, "date must have a time zone")
    refused({"metrics": record.metrics | {"memory": [3]}}, "metrics memory: expected one list")
    broken = {key: value for key, value in ROW.items() if key != "backend"}
    refused({"metrics": record.metrics | {"rows": [[ROW, broken]]}}, "row 1: backend must be str, got 'None'")
    refused(
        {"metrics": record.metrics | {"rows": [[ROW | {"rate": "x"}]]}}, "row 0: rate must be float, got 'x'"
    )
    refused(
        {"metrics": record.metrics | {"rows": [[ROW | {"status": "done"}]]}},
        "row 0: expected a status of timed",
    )
    refused({"metrics": record.metrics | {"rows": [[3]]}}, "row 0: expected a mapping, got 3")


def test_what_is_archived_reads_and_is_declared() -> None:
    archived()
    declared = {(Path(archive.__file__).parent / name).resolve() for name in archive.DATA_FILES}
    assert declared == {file.resolve() for file in archive.FOLDER.glob("*.json")}


def test_the_archive_is_read_without_torch() -> None:
    code = "import sys, onesentence.kernels.bench.archive as a; a.archived(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
