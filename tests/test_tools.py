"""The commands around the book: the environment, the browser, the notebook settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import browser
import lab

ROOT = Path(__file__).resolve().parents[1]


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_browser_named_by_the_variable_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    executable(tmp_path / "chromium")
    mine = executable(tmp_path / "my-browser")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(browser.VARIABLE, str(mine))
    assert browser.find_browser() == str(mine)
    monkeypatch.setenv(browser.VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(
        FileNotFoundError, match=r"BOOK_BROWSER names .*absent, which is not an executable file"
    ):
        browser.find_browser()


def test_chromium_comes_before_google_chrome(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chrome = executable(tmp_path / "google-chrome")
    monkeypatch.delenv(browser.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find_browser() == str(chrome)
    chromium = executable(tmp_path / "chromium")
    assert browser.find_browser() == str(chromium)


def test_without_a_browser_both_ways_are_tried_and_then_it_stops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    monkeypatch.setattr(
        browser.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "apt-get" else None
    )
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        tried.append(" ".join(command))
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(browser.subprocess, "run", run)
    assert browser.main() == 1
    assert "apt-get install" in tried[0]
    assert "playwright install chromium" in tried[1]
    assert "install Chromium or Google Chrome, or set BOOK_BROWSER" in capsys.readouterr().err


def test_lab_keeps_other_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"other": {"a": 1}}', encoding="utf-8")
    monkeypatch.setattr(lab.sys, "prefix", str(tmp_path))
    assert lab.main() == 0
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["other"] == {"a": 1}
    assert (
        written["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]["markdown"]
        == "Jupytext Notebook"
    )


def environment(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    for name in ("requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    env = os.environ | variables
    script = ROOT / "tools" / "environment.sh"
    return subprocess.run(
        ["sh", str(script)], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def test_environment_names_what_is_missing(tmp_path: Path) -> None:
    old = executable(tmp_path / "python2", "#!/bin/sh\nexit 1\n")
    run = environment(tmp_path, PYTHON=str(old))
    assert run.returncode == 1
    assert f"No Python 3.11, 3.12 or 3.13 with venv found (looked for: {old})" in run.stderr
    assert not (tmp_path / ".venv").exists()


def test_environment_with_the_right_mark_is_left_alone(tmp_path: Path) -> None:
    for name in ("requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    executable(tmp_path / ".venv" / "bin" / "python", "#!/bin/sh\nexit 7\n")
    shown = subprocess.run(
        "cat requirements.txt pyproject.toml | cksum",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / ".venv" / ".installed").write_text(f"{tmp_path} {shown.stdout}", encoding="utf-8")
    run = environment(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_help_lists_the_commands() -> None:
    run = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for target in ("book", "test", "live", "serve", "lab", "lint", "lock", "vendor", "clean"):
        assert f"make {target} " in run.stdout
