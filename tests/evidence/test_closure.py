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


def test_memory_of_another_reader_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, memory = tmp_path / "m.py", tmp_path / "memory.json"
    module.write_text("import a.b\nDATA_FILES = ()\n", encoding="utf-8")
    monkeypatch.setattr(closure, "_reader", lambda: (0, 0))
    closure.module_imports(module)
    closure.data_files([module])
    known = {key: ["what it found"] for key in closure._known}
    memory.write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.undo()
    monkeypatch.setattr(closure, "_known", {})
    monkeypatch.setattr(closure, "_remembered", {})
    closure.read_memory(memory)
    assert closure.module_imports(module) == ["a.b", "a"]
    assert closure.data_files([module]) == []


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


PACKAGES = {
    "p/__init__.py": "",
    "p/kit/__init__.py": "from p.kit.ledger import check",
    "p/kit/ledger.py": "",
    "p/kit/records.py": "",
}


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ("from p.kit.records import memoised", False),
        ("import p.kit.records as r", False),
        ("import importlib\nimportlib.import_module('p.kit.records')", False),
        ("import p.kit.records", True),  # binds p: p.kit.check can be used
        ("__import__('p.kit.records')", True),
        ("import p.kit", True),
        ("from p import kit", True),
        ("from p.kit import check", True),
        ("from p.kit import records", True),  # a name of the package, before it is one of its modules
        ("from p.kit.records import memoised\ndef f():\n    from p.kit import check", True),
    ],
)
def test_closure_passes_a_package_only_where_nothing_is_taken_from_it(
    tmp_path: Path, code: str, counts: bool
) -> None:
    for name, text in PACKAGES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "run.py").write_text(code, encoding="utf-8")
    without = {"p", "p.kit.records", "run"}
    if code == "import p.kit" or code.startswith("from p import") or code == "from p.kit import check":
        without -= {"p.kit.records"}
    full = without | {"p.kit", "p.kit.ledger"}
    assert set(closure.closure(["run"], (tmp_path,))) == full
    assert set(closure.closure(["run"], (tmp_path,), passing=("p.kit",))) == (full if counts else without)
