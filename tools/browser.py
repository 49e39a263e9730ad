"""Find the browser that the tests drive; install one where there is none.

Looked for, in this order: the path in the variable BOOK_BROWSER, `chromium`, Google Chrome, Playwright's own
Chromium. Where none is found, Debian's package is installed if this user may, else Playwright's download is
tried. Prints the path that will be used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VARIABLE = "BOOK_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""How the tests start it: no call of its own to anywhere."""


def find_browser() -> str | None:
    """Return the path of a browser, None where there is none.

    Raises:
        FileNotFoundError: if BOOK_BROWSER names something that is not there.
    """
    if named := os.environ.get(VARIABLE):
        path = shutil.which(named)
        if path is None:
            raise FileNotFoundError(f"{VARIABLE} names {named}, which is not an executable file")
        return path
    for name in NAMES:
        if path := shutil.which(name):
            return path
    if MAC.exists():
        return str(MAC)
    return _playwright_browser()


def _playwright_browser() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_browser() -> str | None:
    """Install a browser and return its path, None where neither way worked."""
    for command in _ways():
        print(f"browser: {' '.join(command)}", flush=True)
        if subprocess.run(command, check=False).returncode == 0 and (path := find_browser()):
            return path
    return None


def _ways() -> list[list[str]]:
    ways = []
    if shutil.which("apt-get"):
        may = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not may or (
            shutil.which("sudo")
            and subprocess.run([*may, "true"], check=False, capture_output=True).returncode == 0
        ):
            script = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null"
            ways.append([*may, "sh", "-c", script])
    ways.append([sys.executable, "-m", "playwright", "install", "chromium"])
    return ways


def main() -> int:
    """Find or install, and say which."""
    path = find_browser() or install_browser()
    if path is None:
        print(
            f"No browser for the tests: install Chromium or Google Chrome, or set {VARIABLE} to its path.",
            file=sys.stderr,
        )
        return 1
    print(f"browser: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
