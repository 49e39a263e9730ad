"""The workflows of CI and publishing: what they may run, on which machine, with which rights.

A fork's pull request must reach neither the runner with the accelerator nor a token that may write, and no
action may change under its name. Each rule is shown failing on a workflow with one fault planted.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.y*ml"))}
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PUBLISHER = "publish.yml"
ORDINARY = "ubuntu-latest"
CHOSEN = "${{ vars.BOOK_RUNNER || 'ubuntu-latest' }}"
MAIN_ONLY = "github.ref == 'refs/heads/main' && github.event_name != 'pull_request'"
TRIGGERS = {"check.yml": {"pull_request", "push"}, PUBLISHER: {"push", "workflow_dispatch"}}
RIGHTS = {
    ("check.yml", "test"): {"contents": "read"},
    (PUBLISHER, "build"): {"contents": "read"},
    (PUBLISHER, "deploy"): {"pages": "write", "id-token": "write"},
}
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40} +# v\d+\.\d+\.\d+$")


def whole_faults(name: str, text: str, workflow: dict[Any, Any]) -> Iterator[str]:
    """Faults of a workflow apart from its jobs. YAML reads the key `on` as true."""
    triggers = workflow[True]
    if set(triggers) != TRIGGERS.get(name):
        yield f"triggers are {sorted(triggers)}"
    if name == PUBLISHER and triggers.get("push") != {"branches": ["main"]}:
        yield "publishes another branch than main"
    if workflow.get("permissions") != {}:
        yield "the workflow grants rights to all of its jobs"
    if "concurrency" not in workflow:
        yield "no concurrency group"
    if "secrets." in text:
        yield "reads a secret"
    if name != PUBLISHER and re.search(r"\bvars\b", text):
        yield "reads a variable outside the publishing workflow"
    for line in re.findall(r"uses:\s*(.*)", text):
        if not PINNED.match(line):
            yield f"not pinned to a commit with its version: {line}"


def job_faults(name: str, key: str, job: dict[str, Any]) -> Iterator[str]:
    """Faults of one job."""
    if job.get("permissions") != RIGHTS.get((name, key)):
        yield f"job {key} has the rights {job.get('permissions')}"
    if not isinstance(job.get("timeout-minutes"), int):
        yield f"job {key} has no timeout"
    if job["runs-on"] != (CHOSEN if (name, key) == (PUBLISHER, "build") else ORDINARY):
        yield f"job {key} runs on {job['runs-on']}"
    if name == PUBLISHER and job.get("if") != MAIN_ONLY:
        yield f"job {key} is not held to the main branch"
    for step in job["steps"]:
        if "run" in step and step["run"].removeprefix("make ") not in TARGETS:
            yield f"job {key} runs something else than a target of the Makefile: {step['run']}"
        if "actions/checkout@" in step.get("uses", ""):
            if step.get("with", {}).get("persist-credentials") is not False:
                yield f"job {key} keeps the credentials of its checkout"
            if set(step["with"]) != {"persist-credentials"}:
                yield f"job {key} checks out something else than what triggered it"


def faults(name: str, text: str) -> list[str]:
    workflow = yaml.safe_load(text)
    found = list(whole_faults(name, text, workflow))
    for key, job in workflow["jobs"].items():
        found += job_faults(name, key, job)
    if name == PUBLISHER and workflow["jobs"]["deploy"].get("needs") != "build":
        found.append("deploys without a build that passed")
    return found


def test_both_workflows_are_there() -> None:
    assert set(WORKFLOWS) == set(TRIGGERS)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflow_keeps_the_rules(name: str) -> None:
    assert faults(name, WORKFLOWS[name]) == []


PIN = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2"
ALL_RIGHTS = "permissions: {}"
CREDENTIALS = "          persist-credentials: false"
PLANTED = [
    ("check.yml", PIN, "actions/checkout@v6", "not pinned to a commit with its version: actions/checkout@v6"),
    ("check.yml", PIN, PIN.split(" #")[0], "not pinned to a commit with its version"),
    ("check.yml", PIN, PIN.replace("de0fac2e45", ""), "not pinned to a commit with its version"),
    ("check.yml", "pull_request:", "pull_request_target:", "triggers are ['pull_request_target', 'push']"),
    (PUBLISHER, "workflow_dispatch:", "pull_request:", "triggers are ['pull_request', 'push']"),
    (PUBLISHER, "branches: [main]", "branches: [main, draft]", "publishes another branch than main"),
    ("check.yml", ALL_RIGHTS, "permissions: write-all", "the workflow grants rights to all of its jobs"),
    (PUBLISHER, ALL_RIGHTS + "\n", "", "the workflow grants rights to all of its jobs"),
    ("check.yml", "contents: read", "contents: write", "job test has the rights {'contents': 'write'}"),
    (PUBLISHER, "contents: read", "pages: write", "job build has the rights {'pages': 'write'}"),
    ("check.yml", "    timeout-minutes: 60\n", "", "job test has no timeout"),
    (PUBLISHER, "    timeout-minutes: 15\n", "", "job deploy has no timeout"),
    ("check.yml", ORDINARY, CHOSEN, "reads a variable outside the publishing workflow"),
    ("check.yml", ORDINARY, "[self-hosted, cuda]", "job test runs on ['self-hosted', 'cuda']"),
    (PUBLISHER, f"runs-on: {ORDINARY}", f"runs-on: {CHOSEN}", "job deploy runs on ${{ vars."),
    (PUBLISHER, f"    if: {MAIN_ONLY}\n", "", "job build is not held to the main branch"),
    (PUBLISHER, " && github.event_name != 'pull_request'", "", "job deploy is not held to the main branch"),
    ("check.yml", "make test", "make tests", "runs something else than a target of the Makefile: make tests"),
    (PUBLISHER, "make test", "pip install x", "runs something else than a target of the Makefile: pip"),
    ("check.yml", CREDENTIALS, "          persist-credentials: true", "keeps the credentials"),
    (PUBLISHER, CREDENTIALS, "          fetch-depth: 0", "job build keeps the credentials"),
    (PUBLISHER, CREDENTIALS, CREDENTIALS + "\n          ref: draft", "checks out something else"),
    (PUBLISHER, "    needs: build\n", "", "deploys without a build that passed"),
    ("check.yml", "run: make test", "run: make test\n        env: {A: '${{ secrets.A }}'}", "reads a secret"),
    ("check.yml", "concurrency:", "defaults:", "no concurrency group"),
]


@pytest.mark.parametrize(("name", "old", "new", "expected"), PLANTED)
def test_planted_fault_is_found(name: str, old: str, new: str, expected: str) -> None:
    assert old in WORKFLOWS[name], "the fault must replace something"
    found = faults(name, WORKFLOWS[name].replace(old, new))
    assert any(expected in fault for fault in found), found


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_lint_finds_what_the_auditor_and_the_schema_know(tmp_path: Path) -> None:
    """The commands of `make lint` fail on a workflow that is unsafe, and on one that GitHub would not read."""
    lint = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "zizmor --offline" in lint
    assert "check-jsonschema --quiet --builtin-schema vendor.github-workflows" in lint
    unsafe = tmp_path / "unsafe.yml"
    unsafe.write_text(
        WORKFLOWS["check.yml"].replace("pull_request:", "pull_request_target:"), encoding="utf-8"
    )
    run = tool("zizmor", "--offline", "--no-progress", "--quiet", str(unsafe))
    assert run.returncode != 0
    assert "dangerous-triggers" in run.stdout
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS["check.yml"].replace("runs-on:", "run-on:"), encoding="utf-8")
    run = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(wrong))
    assert run.returncode == 1
    assert "wrong.yml" in run.stdout
