"""What all tests of experiments need."""

from __future__ import annotations

from pathlib import Path

import pytest

from onesentence.evidence.records import FOLDER_VARIABLE


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep records in a folder of the test's own: none of the book's is read or written."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path
