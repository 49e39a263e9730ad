"""The shape of the project: who may import whom, what must not stand where, what must not be written."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "code"
LEVELS = [
    {"sentence", "numerics", "evidence"},
    {"checks", "activations"},
    {"text", "attention", "recurrent", "statespace"},
    {"embed", "generate", "pretrain", "kernels", "cache"},
    {"seq2seq"},
    {"transformer"},
    {"vision"},
    {"experiments"},
]
"""Subpackages of onesentence from the ground up; each may import those below it (and itself)."""
ANYWHERE = {"plotting"}  # knows arrays only: imports no other part
GROUND = LEVELS[0]


def level(part: str) -> int:
    return next(i for i, parts in enumerate(LEVELS) if part in parts)


def imports(path: Path) -> set[str]:
    """Return the dotted names that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def wrong_imports(code: Path) -> list[str]:
    """Return every import under `code` that goes against the directions, as `file imports name`."""
    wrong = []
    for path in sorted(code.rglob("*.py")):
        parts = path.relative_to(code).with_suffix("").parts
        for name in sorted(imports(path)):
            if not allowed(parts, name.split(".")):
                wrong.append(f"{'/'.join(parts)} imports {name}")
    return wrong


def allowed(parts: tuple[str, ...], name: list[str]) -> bool:
    if name[0] not in ("onesentence", "bookkit"):
        return True
    own = parts[1] if len(parts) > 1 else ""
    if parts[0] == "bookkit":
        return name[0] == "bookkit" or name[1] in ("evidence", "sentence")
    if name[0] == "bookkit":
        return False
    if len(name) == 1 or name[1] == "__version__":
        return True
    if own in ANYWHERE:
        return name[1] == own
    if name[1] in ANYWHERE:
        return False
    if own in GROUND:
        return name[1] == own
    return name[1] == own or level(name[1]) < level(own)


def cycles(code: Path) -> list[str]:
    """Return modules of onesentence and bookkit that import each other in a circle."""
    modules = {
        ".".join(p.relative_to(code).with_suffix("").parts).removesuffix(".__init__"): p
        for p in code.rglob("*.py")
    }
    graph = {
        name: {
            part
            for full in imports(path)
            if (part := full if full in modules else full.rpartition(".")[0]) in modules and part != name
        }
        for name, path in modules.items()
    }
    # a package's own __init__ may gather its modules; they may not look back at it
    found = []
    for start in graph:
        seen, todo = set(), list(graph[start])
        while todo:
            name = todo.pop()
            if name == start:
                found.append(start)
                break
            if name not in seen:
                seen.add(name)
                todo += graph[name]
    return found


def test_imports_go_down_only() -> None:
    assert wrong_imports(CODE) == []


def test_nothing_goes_in_circles() -> None:
    assert cycles(CODE) == []


def whole_packages(code: Path) -> list[str]:
    """Return the modules of the package that bind `onesentence` itself, through which anything can be used unseen."""
    return [
        f"{path.relative_to(code)}: import {alias.name}"
        for path in sorted((code / "onesentence").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] == "onesentence" and ("." not in alias.name or not alias.asname)
    ]


def test_what_a_module_uses_stands_in_its_imports() -> None:
    assert whole_packages(CODE) == []


@pytest.mark.parametrize(
    "line", ["import onesentence", "import onesentence as o", "import onesentence.text.pad"]
)
def test_planted_import_of_the_whole_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "onesentence").mkdir()
    (tmp_path / "onesentence" / "m.py").write_text(f"import numpy\n{line}\n", encoding="utf-8")
    assert whole_packages(tmp_path) == [f"onesentence/m.py: {line.partition(' as ')[0]}"]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("onesentence/sentence/example.py", "import onesentence.attention.read"),
        (
            "onesentence/text/segment.py",
            "from onesentence.attention.read import read\nfrom onesentence.embed import x",
        ),
        ("onesentence/attention/read.py", "from onesentence.plotting import show"),
        ("onesentence/plotting/style.py", "from onesentence.sentence.example import UNITS"),
        ("onesentence/numerics.py", "import bookkit"),
        ("bookkit/strip.py", "from onesentence.attention.read import read"),
    ],
)
def test_planted_import_is_found(tmp_path: Path, file: str, line: str) -> None:
    shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    target = tmp_path / "code" / file
    target.write_text(target.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    assert wrong_imports(tmp_path / "code")


def test_planted_circle_is_found(tmp_path: Path) -> None:
    shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    target = tmp_path / "code" / "onesentence" / "sentence" / "example.py"
    target.write_text(
        target.read_text(encoding="utf-8") + "\nimport onesentence.sentence.structure\n", encoding="utf-8"
    )
    assert cycles(tmp_path / "code")


def standard_code_module(root: Path) -> subprocess.CompletedProcess[str]:
    """Import `code` the way a kernel or pytest at the root would, with the source root on the path."""
    script = "import code, pdb; print(hasattr(code, 'InteractiveConsole'))"
    command = [sys.executable, "-c", script]
    env = {"PYTHONPATH": f"{root}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def test_code_is_pythons_own_module() -> None:
    assert not (CODE / "__init__.py").exists()
    assert standard_code_module(ROOT).stdout == "True\n"


def test_planted_init_shadows_pythons_module(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    assert standard_code_module(tmp_path).stdout == "True\n"
    (tmp_path / "code" / "__init__.py").touch()
    run = standard_code_module(tmp_path)
    assert run.returncode != 0 or run.stdout != "True\n", "the check above could not have failed"


def test_package_imports_without_torch_triton_or_a_terminal() -> None:
    script = (
        "import sys\n"
        "for name in ('torch', 'triton', 'matplotlib'): sys.modules[name] = None\n"
        "import onesentence, onesentence.numerics, onesentence.attention.read, onesentence.text.entities\n"
        "import onesentence.sentence.structure, onesentence.evidence\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def tracked() -> list[Path]:
    skip = {
        ".git",
        ".venv",
        "_build",
        "vendor",
        "fonts",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
    }
    skip |= {"__pycache__", "onesentence.egg-info", ".ipynb_checkpoints"}
    files = []
    for path in sorted(ROOT.rglob("*")):
        if (
            path.is_file()
            and not skip & set(path.relative_to(ROOT).parts)
            and path.suffix not in (".png", ".ttf")
        ):
            files.append(path)
    return files


def test_no_registry_is_named() -> None:
    hosts = re.compile(r"(pypi|pythonhosted|npmjs|debian)[.]org")
    named = [
        f"{p.relative_to(ROOT)}"
        for p in tracked()
        if hosts.search(p.read_text(encoding="utf-8", errors="replace"))
    ]
    assert named == []


def test_no_path_of_a_machine_is_written() -> None:
    here = str(ROOT)
    assert len(here) > 3
    named = [
        f"{p.relative_to(ROOT)}" for p in tracked() if here in p.read_text(encoding="utf-8", errors="replace")
    ]
    assert named == []


def test_files_are_about_one_thing() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in CODE.rglob("*.py")
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 330
    }
    assert long == {}
