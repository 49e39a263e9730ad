"""Make JupyterLab of this environment open the book's pages as notebooks by a plain double click."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
    }
}


def main() -> int:
    """Write the setting into the environment, beside settings that are already there."""
    path = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    existing = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(existing | SETTINGS, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
