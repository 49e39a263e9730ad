"""The built book, and a server for it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def html() -> Path:
    assert (HTML / "book" / "index.html").is_file(), (
        "the book is not built: run `make book` first (`make test` does)"
    )
    return HTML


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def server(html: Path) -> Iterator[str]:
    """Serve the site on this machine under a sub-path, as GitHub Pages does."""
    handler = functools.partial(_Quiet, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
