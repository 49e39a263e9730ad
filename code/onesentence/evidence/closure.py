"""What a piece of code depends on: the modules of this project that it imports, and the data that they declare.

The closure is read from syntax trees, nothing is imported. A module declares the data files it reads in a
module-level tuple of literals, `DATA_FILES = ("data/ledger.json",)`, relative to its own folder. Importing
`package.module` runs the `__init__` of every package on the way, so these belong to the closure too, unless who
asks says that such an `__init__` only gathers names (`passing`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGE = "onesentence"


class ClosureError(ValueError):
    """Code that cannot be followed: a module that does not exist, a declaration that is no literal."""


def imported_names(tree: ast.AST, module: str = "") -> Iterator[str]:
    r"""Yield the dotted names that a syntax tree imports, relative imports resolved.

    `import a.b` without `as` binds `a`, through which every package on the way can be used: each is named.

    Args:
        tree: the code.
        module: dotted name of the package that relative imports start from.

    Example:
        >>> sorted(imported_names(ast.parse("import a.b\nimport f.g as h\nfrom c import d, e")))
        ['a', 'a.b', 'c', 'c.d', 'c.e', 'f.g']
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                if alias.asname is None:
                    yield from _on_the_way(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            name = node.args[0] if node.args else None
            if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                raise ClosureError(
                    f"line {node.lineno}: {_called(node)} with a name that is computed cannot be followed"
                )
            yield name.value
            if _called(node) == "__import__":  # returns the outermost package
                yield from _on_the_way(name.value)


def _on_the_way(name: str) -> list[str]:
    """Return the packages that a dotted name leads through, outermost first."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def module_file(name: str, roots: tuple[Path, ...]) -> Path | None:
    """Return the file of a module of this project, None if there is no such module.

    Args:
        name: dotted name.
        roots: folders in which packages are looked for, first come first served.
    """
    relative = Path(*name.split("."))
    for root in roots:
        for candidate in (root / relative / "__init__.py", root / relative.with_suffix(".py")):
            if candidate.is_file():
                return candidate
    return None


@cache
def package_roots() -> tuple[Path, ...]:
    """Return the folder that a fresh interpreter of this environment imports the package from."""
    spec = PathFinder.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ClosureError(f"the package {PACKAGE} is not installed")
    return (Path(next(iter(spec.submodule_search_locations))).parent,)


def closure(
    names: Iterable[str], roots: tuple[Path, ...] | None = None, *, passing: Collection[str] = ()
) -> dict[str, Path]:
    """Return every module of this project that importing some names runs, by dotted name.

    Args:
        names: dotted names, of this project or not; those of other packages are passed over.
        roots: folders in which packages are looked for; by default where this one is installed.
        passing: packages whose `__init__` is left out where it runs only on the way to one of their modules; where
            code takes a name from such a package itself, it counts, with all that it imports.

    Raises:
        ClosureError: if a file is not valid Python.
    """
    roots = package_roots() if roots is None else roots
    found: dict[str, Path] = {}
    todo = [name for name in names if _is_ours(name, roots)]
    while todo:
        name = todo.pop()
        todo += [parent for parent in _on_the_way(name) if parent not in found and parent not in passing]
        file = module_file(name, roots)
        if file is None or name in found:
            continue
        found[name] = file
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        try:
            others = module_imports(file, package)
        except ClosureError as error:
            raise ClosureError(f"{_shown(file)}: {error}") from None
        todo += [other for other in others if other not in found and _is_ours(other, roots)]
    return dict(sorted(found.items()))


def _is_ours(name: str, roots: tuple[Path, ...]) -> bool:
    return module_file(name.split(".")[0], roots) is not None


def _stamp(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_mtime_ns, state.st_size


def _shown(file: Path) -> str:
    """Return a file's path from the folder that its package lies in."""
    parents = [root for root in file.parents if (root / "__init__.py").is_file()]
    return str(file.relative_to(parents[-1].parent)) if parents else file.name


@cache
def _parsed(file: Path, stamp: tuple[int, int]) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except SyntaxError as error:
        raise ClosureError(f"line {error.lineno}: not valid Python ({error.msg})") from None


_known: dict[str, list[str]] = {}
_remembered: dict[str, list[str]] = {}
"""What was read of modules, now and by an earlier process: by kind, reader, file, time and size, so that an edited
file is read again, and every file by another edition of this one."""


@cache
def _reader() -> tuple[int, int]:
    return _stamp(Path(__file__))


def read_memory(file: Path) -> None:
    """Take over what an earlier process has read of modules; nothing where the file is not there or damaged."""
    with suppress(OSError, ValueError, AttributeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        _remembered.update({key: value for key, value in kept.items() if isinstance(value, list)})


def write_memory(file: Path) -> None:
    """Leave what this process has asked of modules to a later one."""
    draft = file.with_suffix(".part")
    draft.write_text(json.dumps(_known), encoding="utf-8")
    os.replace(draft, file)


def module_imports(file: Path, package: str = "") -> list[str]:
    """Return the dotted names that a module imports; what was read once is not read again while the file stays.

    Args:
        file: the module.
        package: dotted name of the package that its relative imports start from.

    Raises:
        ClosureError: if it is not valid Python, or imports by a name that is computed.
    """
    stamp = _stamp(file)
    key = f"imports {_reader()} {package} {file} {stamp}"
    if key not in _known:
        found = _remembered.get(key)
        if found is None:
            found = list(dict.fromkeys(imported_names(_parsed(file, stamp), package)))
        _known[key] = found
    return _known[key]


def _declared(file: Path, stamp: tuple[int, int]) -> list[str]:
    """Return what a module declares in `DATA_FILES`, wherever in it."""
    key = f"data {_reader()} {file} {stamp}"
    if (found := _known.get(key, _remembered.get(key))) is not None:
        return _known.setdefault(key, found)
    declared: list[str] = []
    for node in ast.walk(_parsed(file, stamp)) if b"DATA_FILES" in file.read_bytes() else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not (isinstance(target, ast.Name) and target.id == "DATA_FILES" and value is not None):
            continue
        try:
            items = ast.literal_eval(value)
        except ValueError:
            items = None
        if not isinstance(items, tuple) or not all(isinstance(item, str) for item in items):
            raise ClosureError(f"{_shown(file)}: DATA_FILES must be a tuple of text literals")
        declared += items
    _known[key] = declared
    return declared


@cache
def _digest(file: Path, stamp: tuple[int, int]) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


def files_key(files: Iterable[tuple[str, Path]]) -> str:
    """Return a hash of named files.

    Args:
        files: what to call each file, and the file.
    """
    digest = hashlib.sha256()
    for name, file in files:
        digest.update(f"{name}\0".encode() + _digest(file, _stamp(file)))
    return digest.hexdigest()[:16]


def data_files(modules: Iterable[Path]) -> list[Path]:
    """Return the data files that modules declare in `DATA_FILES`, sorted.

    Raises:
        ClosureError: if a declaration is no tuple of text literals, or a declared file does not exist.
    """
    files = set()
    for module in modules:
        for item in _declared(module, _stamp(module)):
            file = (module.parent / item).resolve()
            if not file.is_file():
                raise ClosureError(f"{_shown(module)}: DATA_FILES names {item}, which does not exist")
            files.add(file)
    return sorted(files)


def cuda_present() -> bool:
    """Say whether an NVIDIA device is there and not hidden, without importing torch."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "all") not in ("", "-1") and os.path.exists(
        "/dev/nvidiactl"
    )


def environment_key(root: Path) -> str:
    """Return what a result depends on besides its code: the lock, Python's version, CUDA's presence.

    Args:
        root: folder that holds `requirements.txt`; a missing lock counts as an empty one.
    """
    lock = root / "requirements.txt"
    pins = files_key([("lock", lock)] if lock.is_file() else [])
    return f"{pins} {platform.python_version()} {'cuda' if cuda_present() else 'cpu'}"


def code_key(
    names: Iterable[str], roots: tuple[Path, ...] | None = None, *, passing: Collection[str] = ()
) -> str:
    """Return a hash of the closure of some names: every module's code and every declared data file.

    Args:
        names: dotted names that the code imports.
        roots: see `closure`.
        passing: see `closure`.
    """
    modules = closure(names, roots, passing=passing)
    data = [(file.name, file) for file in data_files(modules.values())]
    return files_key([*modules.items(), *data])
