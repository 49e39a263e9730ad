"""What a cell's outputs must not hold: errors, warnings, progress bars, anything that differs in every build."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r"\S*\s+at 0x[0-9a-fA-F]{6,}")


def output_faults(output: Any, root: Path) -> list[str]:
    """Return the reasons why an output must not be published.

    Args:
        output: one output of an executed cell, as nbformat has it.
        root: the book's folder, whose name must not appear.
    """
    if output["output_type"] == "error":
        return [f"cell failed: {output['ename']}: {output['evalue']}"]
    if output["output_type"] == "stream" and output["name"] == "stderr":
        return [f"cell writes to stderr: {_first_line(output['text'])}"]
    data = output.get("data", {})
    text = "\n".join(
        str(part) for part in (output.get("text"), data.get("text/plain"), data.get("text/html")) if part
    )
    reasons = []
    if "\x1b[" in text or "\r" in text:
        reasons.append("output holds terminal control codes (a progress bar?)")
    if found := _ADDRESS.search(text):
        reasons.append(
            f"output holds an object's address, which differs in every build: {found.group()[:60]}"
        )
    folders = {tempfile.gettempdir(), str(Path.home()), str(root)} - {"/"}
    if any(re.search(rf"{re.escape(folder)}(?=/|\b)", text) for folder in folders):
        reasons.append(f"output holds a path of this machine: {_first_line(text)}")
    return reasons


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:160]
