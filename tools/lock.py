"""Write `requirements.txt`: one exact version for everything that the book, its checks and its editor need.

The ranges stand in `pyproject.toml` (`dependencies` and the extra `dev`). pip chooses, in a temporary virtual
environment and installing nothing, for the oldest supported Python on Linux x86_64. Its report is walked for
every supported system and Python: what only some of them need gets a marker, what only others need is looked
up by itself, and a pin that one of them cannot use is an error. Versions already locked are kept while they
satisfy the ranges, so that a second run writes the same bytes; `--upgrade` takes the newest.

Run `python tools/lock.py [--upgrade]` with the environment that the lock installs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"))
GLIBC = range(5, 29)  # manylinux_2_5 to manylinux_2_28, the oldest C library that torch runs on
BY_TORCH = ("nvidia-", "cuda-", "triton")  # what torch's metadata chooses for its Linux build
COMMON = {"os_name": "posix", "implementation_name": "cpython", "platform_python_implementation": "CPython"}
COMMON |= {"platform_release": "", "platform_version": ""}

HEADER = """\
# Written by `make lock` (tools/lock.py) from the ranges in pyproject.toml; change those, not this file.
# One exact version each, for Linux (x86_64, aarch64) and macOS (arm64, x86_64) on Python 3.11, 3.12 and 3.13
# by the packages' own metadata; a marker says which of them need it. (torch has no build for x86_64 Macs.)
# README, CI and the workflows install this one file alone: python -m pip install -r requirements.txt
# Left out: the CUDA libraries (nvidia-*, cuda-*), which torch's Linux build chooses in its own metadata and
# its CPU build does not use.
"""


@dataclass(frozen=True)
class Target:
    """A system and a Python that the lock serves."""

    sys_platform: str
    machine: str
    python: str

    def environment(self, extra: str) -> dict[str, str]:
        """Return the values that markers are evaluated with, for one extra (`""` for none)."""
        return COMMON | {
            "extra": extra,
            "implementation_version": f"{self.python}.0",
            "platform_machine": self.machine,
            "platform_system": {"linux": "Linux", "darwin": "Darwin"}[self.sys_platform],
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": self.sys_platform,
        }

    def pip_options(self) -> list[str]:
        """Return the options that make pip choose wheels for this target."""
        tags = [f"macosx_14_0_{self.machine}"]
        if self.sys_platform == "linux":
            tags = [f"manylinux_2_{minor}_{self.machine}" for minor in reversed(GLIBC)]
            tags.append(f"manylinux2014_{self.machine}")
        options = f"--only-binary=:all: --implementation cp --python-version {self.python}.0".split()
        return options + [f"--platform={tag}" for tag in tags]


TARGETS = tuple(Target(*system, python) for system, python in product(SYSTEMS, PYTHONS))


@dataclass(frozen=True)
class Package:
    """What pip's report says of one package."""

    version: str
    requires: tuple[Requirement, ...]
    pythons: str

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> Package:
        """Read core metadata as pip reports it; a local version such as `+cpu` is dropped."""
        requires = tuple(Requirement(line) for line in metadata.get("requires_dist", []))
        return cls(Version(metadata["version"]).public, requires, metadata.get("requires_python", ""))


LookUp = Callable[[Iterable[str], Sequence[str]], dict[str, Package]]
Needs = dict[str, set[Target]]  # which targets need a package, by normalised name


def direct_requirements() -> list[Requirement]:
    """Return the project's dependencies and those of its extra `dev`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["dev"]
    return [Requirement(line) for line in lines]


def locked_versions(text: str) -> dict[str, str]:
    r"""Return name and version of the pins in a lock.

    Example:
        >>> locked_versions("# made\nnumpy==2.4.6\nappnope==0.1.4 ; sys_platform == 'darwin'\n-e .\n")
        {'numpy': '2.4.6', 'appnope': '0.1.4'}
    """
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "-"))]
    pins = [Requirement(line) for line in lines]
    return {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins}


def kept_versions(lock: Path, direct: Iterable[Requirement]) -> dict[str, str]:
    """Return the pins of an earlier lock that the ranges still admit."""
    pins = locked_versions(lock.read_text(encoding="utf-8")) if lock.exists() else {}
    for requirement in direct:
        name = canonicalize_name(requirement.name)
        if name in pins and not requirement.specifier.contains(pins[name], prereleases=True):
            del pins[name]
    return pins


def resolve(python: Path, requirements: Iterable[str], options: Sequence[str]) -> dict[str, Package]:
    """Ask pip what it would install, without installing it; return it by normalised name.

    Args:
        python: interpreter of the temporary virtual environment.
        requirements: requirement lines.
        options: further options of `pip install`.

    Raises:
        RuntimeError: pip found no solution; the message holds its last lines.
    """
    report, wanted = python.parent / "report.json", python.parent / "wanted.txt"
    wanted.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    command = [str(python), "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report"]
    command += [str(report), *options, "--requirement", str(wanted)]
    run = subprocess.run(command, text=True, capture_output=True, check=False)
    if run.returncode != 0:
        raise RuntimeError("pip found no set of versions:\n" + "\n".join(run.stderr.splitlines()[-12:]))
    items = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {canonicalize_name(i["metadata"]["name"]): Package.from_metadata(i["metadata"]) for i in items}


def reachable(
    direct: Iterable[Requirement], packages: Mapping[str, Package], target: Target
) -> tuple[set[str], list[Requirement]]:
    """Walk the metadata from the project's requirements as one target would.

    Args:
        direct: the project's requirements.
        packages: what pip chose, by normalised name.
        target: the system and Python to walk for.

    Returns:
        The names that the target needs, and requirements on packages that `packages` lacks.

    Raises:
        ValueError: a chosen version is outside a range that holds for this target.
    """
    seen: set[tuple[str, str]] = set()
    missing: list[Requirement] = []
    queue = [("pyproject.toml", "", requirement) for requirement in direct]
    while queue:
        parent, extra, requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        chosen_by_torch = parent == "torch" and name.startswith(BY_TORCH)
        holds = requirement.marker is None or requirement.marker.evaluate(target.environment(extra))
        if chosen_by_torch or not holds:
            continue
        if name not in packages:
            missing.append(requirement)
            continue
        package = packages[name]
        if not requirement.specifier.contains(package.version, prereleases=True):
            raise ValueError(f"{parent} needs {requirement} on {target}, but pip chose {package.version}")
        new = {(name, wanted) for wanted in ("", *requirement.extras)} - seen
        seen |= new
        queue += [(name, wanted, child) for _, wanted in new for child in package.requires]
    return {name for name, _ in seen}, missing


def complete(direct: Sequence[Requirement], packages: dict[str, Package], look_up: LookUp) -> Needs:
    """Look up what only other targets need, and say which targets need each package.

    Args:
        direct: the project's requirements.
        packages: what pip chose for the first target; what others need is added to it.
        look_up: finds requirement lines, without their own requirements, with options of `pip install`.
    """
    while True:
        needs: Needs = {}
        for target in TARGETS:
            names, missing = reachable(direct, packages, target)
            if missing:
                wanted = sorted({f"{item.name}{item.specifier}" for item in missing})
                packages |= look_up(wanted, ["--no-deps", *target.pip_options()])
                break
            for name in names:
                needs.setdefault(name, set()).add(target)
        else:
            return needs


def marker_for(targets: set[Target]) -> str:
    """Return the shortest marker that holds for exactly these targets (empty for all of them).

    Raises:
        ValueError: no marker that this function knows holds for exactly these targets.

    Example:
        >>> marker_for({target for target in TARGETS if target.sys_platform == "darwin"})
        'sys_platform == "darwin"'
    """
    machines = ['sys_platform == "{}" and platform_machine == "{}"'.format(*system) for system in SYSTEMS]
    systems = ["", 'sys_platform == "linux"', 'sys_platform == "darwin"', *machines]
    newer = [f'python_version {sign} "{python}"' for sign in ("<", ">=", "==") for python in PYTHONS[1:]]
    for system, python in product(systems, ["", *newer]):
        text = " and ".join(part for part in (system, python) if part)
        if {t for t in TARGETS if not text or Marker(text).evaluate(t.environment(""))} == targets:
            return text
    raise ValueError(f"targets: no single marker holds for exactly {sorted(map(str, targets))}")


def lock_text(packages: Mapping[str, Package], needs: Needs) -> str:
    """Return the lock: header, sorted pins with their markers, the project itself.

    Raises:
        ValueError: a version refuses one of the Pythons that need it.
    """
    lines = []
    for name in sorted(needs):
        package, marker = packages[name], marker_for(needs[name])
        for python in sorted({target.python for target in needs[name]}):
            if not SpecifierSet(package.pythons).contains(f"{python}.0"):
                raise ValueError(f"{name} {package.version} asks for Python {package.pythons}, not {python}")
        lines.append(f"{name}=={package.version}" + (f"; {marker}" if marker else ""))
    return HEADER + "\n".join([*lines, "-e ."]) + "\n"


def make_lock(upgrade: bool) -> str:
    """Resolve the project's ranges and return the text of the lock.

    Args:
        upgrade: take the newest versions instead of keeping the locked ones.
    """
    direct = direct_requirements()
    kept = {} if upgrade else kept_versions(LOCK, direct)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        # An older pip downloads every wheel in a dry run, gigabytes where torch is the CUDA build.
        subprocess.run([python, "-m", "pip", "install", "-qq", "--upgrade", "pip"], check=True)
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(f"{name}=={kept[name]}\n" for name in sorted(kept)), encoding="utf-8")

        def look_up(wanted: Iterable[str], options: Sequence[str]) -> dict[str, Package]:
            return resolve(python, wanted, [*options, "--constraint", str(constraints)])

        packages = look_up(map(str, direct), TARGETS[0].pip_options())
        needs = complete(direct, packages, look_up)
    return lock_text(packages, needs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lock and say what changed; return the exit status."""
    parser = argparse.ArgumentParser(description="Write requirements.txt from the ranges in pyproject.toml.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    start, upgrade = time.perf_counter(), parser.parse_args(arguments).upgrade
    before = LOCK.read_text(encoding="utf-8") if LOCK.exists() else ""
    try:
        text = make_lock(upgrade)
    except (RuntimeError, ValueError) as error:
        print(f"lock: {error}\n(if a locked version is in the way, add --upgrade)", file=sys.stderr)
        return 1
    staged = LOCK.with_suffix(".new")
    staged.write_text(text, encoding="utf-8")
    os.replace(staged, LOCK)
    old, new = locked_versions(before), locked_versions(text)
    changed = sorted(dict(old.items() ^ new.items()))
    print(f"lock: {len(new)} versions, {len(changed)} changed, {time.perf_counter() - start:.0f} s")
    print("".join(f"lock: {name} {old.get(name)} -> {new.get(name)}\n" for name in changed if old), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
