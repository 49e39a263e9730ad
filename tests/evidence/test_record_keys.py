"""Which change makes an experiment of the book run again: what can change its result, and nothing else."""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from onesentence.evidence import closure, records

PACKAGE = Path(records.__file__).parents[1]
EXPERIMENTS = sorted(
    file.stem
    for file in (PACKAGE / "experiments").glob("*.py")
    if "@memoised" in file.read_text(encoding="utf-8")
)
NAME = "onesentence.experiments.tiny"
TINY = """
import dataclasses
from pathlib import Path
from onesentence.text.vocabulary import Vocabulary
from onesentence.evidence.records import Record, memoised

DATA_FILES = ("own.txt",)

@dataclasses.dataclass(frozen=True)
class Config:
    steps: int = 3

@memoised
def run(config: Config) -> Record:
    return Record("tiny", "trained", {}, (0,), {"loss": [0.5]})
"""


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package with an experiment, from which closures are read; what runs is the package itself."""
    root = tmp_path / "onesentence"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "experiments" / "tiny.py").write_text(TINY, encoding="utf-8")
    (root / "experiments" / "own.txt").write_text("1", encoding="utf-8")
    with (root / "text" / "vocabulary.py").open("a", encoding="utf-8") as module:
        module.write('\nDATA_FILES = ("words.txt",)\n')
    (root / "text" / "words.txt").write_text("1", encoding="utf-8")
    monkeypatch.setattr(closure, "package_roots", lambda: (tmp_path,))
    return root


def load(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(NAME, root / "experiments" / "tiny.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[NAME]
    return module


def key(root: Path) -> str:
    module = load(root)
    sys.modules[NAME] = module
    try:
        run = module.run.__wrapped__
        return records._key(run, module.Config(), records._code_of(run))
    finally:
        del sys.modules[NAME]


def label(file: Path) -> None:
    """Write another Chinese label into the first row of the ledger."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    rows[0]["label"] += "（改）"
    file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def line(file: Path) -> None:
    with file.open("a", encoding="utf-8") as text:
        text.write("# changed\n")


@pytest.mark.parametrize(
    ("change", "file", "shown"),
    [
        (label, "evidence/data/ledger.json", True),
        (line, "evidence/data/sections.json", True),
        (line, "evidence/ledger.py", True),
        (line, "evidence/guards.py", True),
        (line, "evidence/files.py", True),
        (line, "evidence/emit.py", True),
        (line, "evidence/identity.py", False),
        (line, "evidence/__init__.py", True),
        (line, "plotting/style.py", False),
        (line, "experiments/reversal.py", False),
    ],
)
def test_memoised_keeps_a_record_when_the_ledger_or_what_is_shown_changes(
    copy: Path, change: Callable[[Path], None], file: str, shown: bool
) -> None:
    record, page = key(copy), closure.code_key(["onesentence.evidence"])
    change(copy / file)
    assert key(copy) == record
    assert (closure.code_key(["onesentence.evidence"]) != page) == shown, "a page with checks runs again"


@pytest.mark.parametrize(
    "file",
    [
        "experiments/tiny.py",
        "experiments/own.txt",
        "experiments/__init__.py",
        "text/vocabulary.py",
        "text/words.txt",
        "text/__init__.py",
        "evidence/records.py",
        "evidence/plain.py",
        "__init__.py",
    ],
)
def test_memoised_runs_again_when_something_of_the_experiment_changes(copy: Path, file: str) -> None:
    before = key(copy)
    line(copy / file)
    assert key(copy) != before


def test_memoised_sees_an_experiment_that_uses_the_ledger(copy: Path) -> None:
    tiny = copy / "experiments" / "tiny.py"
    for taken in ("from onesentence.evidence import ledger", "from onesentence.evidence.guards import guard"):
        tiny.write_text(f"{taken}\n{TINY}", encoding="utf-8")
        before = key(copy)
        label(copy / "evidence" / "data" / "ledger.json")
        assert key(copy) != before, taken


def test_page_that_imports_an_experiment_depends_on_the_ledger() -> None:
    modules = closure.closure([f"onesentence.experiments.{EXPERIMENTS[0]}"])
    assert "ledger.json" in [file.name for file in closure.data_files(modules.values())]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_experiment_of_the_book_depends_on_the_ledger(name: str) -> None:
    modules = closure.closure([f"onesentence.experiments.{name}"], passing=records.GATHERING)
    evidence = {module for module in modules if module.startswith("onesentence.evidence")}
    assert evidence == {f"onesentence.evidence.{part}" for part in ("closure", "kinds", "plain", "records")}
    assert closure.data_files(modules.values()) == []


def test_gathering_packages_only_gather() -> None:
    for package in records.GATHERING:
        file = closure.module_file(package, closure.package_roots())
        assert file is not None
        for node in ast.parse(file.read_bytes()).body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            exported = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            assert docstring or exported or isinstance(node, ast.ImportFrom), ast.unparse(node)


LOADED = """
import json, sys, types, importlib
names, gathering = json.loads(sys.argv[1]), json.loads(sys.argv[2])
loaded = {}
for name in names:
    for module in [m for m in sys.modules if m.partition(".")[0] == "onesentence"]:
        del sys.modules[module]
    for package, path in gathering.items():
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = [path]
    importlib.import_module(name)
    loaded[name] = sorted(m for m in sys.modules if m.partition(".")[0] == "onesentence" and m not in gathering)
print(json.dumps(loaded))
"""


def test_experiments_load_nothing_that_their_records_do_not_depend_on() -> None:
    """Python itself is the judge: with the gathering packages empty, each experiment loads within its closure."""
    names = [f"onesentence.experiments.{name}" for name in EXPERIMENTS]
    gathering = {p: str(PACKAGE.parent.joinpath(*p.split("."))) for p in records.GATHERING}
    command = [sys.executable, "-c", LOADED, json.dumps(names), json.dumps(gathering)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for name, loaded in json.loads(run.stdout).items():
        assert len(loaded) > 5
        assert set(loaded) <= set(closure.closure([name], passing=records.GATHERING)), name
