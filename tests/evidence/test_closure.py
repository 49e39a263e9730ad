"""What modules import is read once while they stay as they are, by later processes too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onesentence.evidence import closure


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test like a new process."""
    monkeypatch.setattr(closure, "_known", {})
    monkeypatch.setattr(closure, "_remembered", {})
    closure._parsed.cache_clear()


def test_module_is_parsed_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, memory = tmp_path / "m.py", tmp_path / "memory.json"
    module.write_text("import a\nfrom b import c\n", encoding="utf-8")
    assert closure.module_imports(module) == ["a", "b", "b.c"]
    closure.write_memory(memory)

    monkeypatch.setattr(closure, "_known", {})
    monkeypatch.setattr(closure, "_parsed", lambda *_: pytest.fail("parsed again"))
    closure.read_memory(memory)
    assert closure.module_imports(module) == ["a", "b", "b.c"]
    monkeypatch.undo()

    module.write_text("import changed\n", encoding="utf-8")
    assert closure.module_imports(module) == ["changed"]


def test_memory_keeps_only_what_was_asked(tmp_path: Path) -> None:
    memory, module = tmp_path / "memory.json", tmp_path / "m.py"
    memory.write_text(json.dumps({"imports  gone (1, 2)": ["x"]}), encoding="utf-8")
    module.write_text("import a\n", encoding="utf-8")
    closure.read_memory(memory)
    closure.module_imports(module)
    closure.write_memory(memory)
    assert list(json.loads(memory.read_text(encoding="utf-8")).values()) == [["a"]]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"imports": 3}'])
def test_damaged_memory_is_passed_over(tmp_path: Path, text: str) -> None:
    memory, module = tmp_path / "memory.json", tmp_path / "m.py"
    memory.write_text(text, encoding="utf-8")
    module.write_text("import a\n", encoding="utf-8")
    closure.read_memory(memory)
    closure.read_memory(tmp_path / "absent.json")
    assert closure.module_imports(module) == ["a"]


def test_declared_data_is_remembered_and_its_files_are_still_looked_for(tmp_path: Path) -> None:
    module, data = tmp_path / "m.py", tmp_path / "d.txt"
    module.write_text('DATA_FILES = ("d.txt",)\n', encoding="utf-8")
    data.write_text("1", encoding="utf-8")
    assert closure.data_files([module]) == [data]
    os.remove(data)
    with pytest.raises(closure.ClosureError, match=r"m\.py: DATA_FILES names d\.txt, which does not exist"):
        closure.data_files([module])
