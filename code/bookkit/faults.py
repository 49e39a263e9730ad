"""A strict build: any warning or error fails it, every time it is run.

Sphinx forgets warnings about pages that it does not read again, so a second build of a broken book would
succeed. Here a marker lies in the doctree folder from the start of a build until its successful end; where a
build finds it, the environment of the failed or killed build is dropped and every page is read again (executed
pages stay in the execution cache).
"""

from __future__ import annotations

import logging
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.logging import NAMESPACE, WarningLogRecordTranslator, WarningSuppressor

MARKER = "build-incomplete"


class FaultLog(logging.Handler):
    """Keeps every warning and error that Sphinx and its extensions log, as one short line each."""

    def __init__(self, app: Sphinx) -> None:
        super().__init__(logging.WARNING)
        self.srcdir = str(app.srcdir)
        self.lines: list[str] = []
        self.addFilter(WarningSuppressor(app))
        self.addFilter(WarningLogRecordTranslator(app))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record (Sphinx puts its place in front of the message), without this machine's path."""
        self.lines.append(" ".join(record.getMessage().split()).replace(self.srcdir + "/", ""))


def fault_log(app: Sphinx) -> FaultLog:
    """Return the log of the running build."""
    log = app.bookkit_faults  # type: ignore[attr-defined]
    assert isinstance(log, FaultLog)
    return log


def stop(app: Sphinx) -> None:
    """End the build now, with the faults found so far.

    Raises:
        SystemExit: with status 1. Sphinx would turn any other exception into sixty lines of traceback.
    """
    summarise(app)
    raise SystemExit(1)


def summarise(app: Sphinx) -> None:
    """Print the faults, one line each."""
    lines = list(dict.fromkeys(fault_log(app).lines))
    print(f"\nBuild failed, {len(lines)} fault{'s' if len(lines) != 1 else ''}:", flush=True)
    for line in lines:
        print(f"  {line}", flush=True)


def _start(app: Sphinx, config: Config) -> None:
    marker = Path(app.doctreedir, MARKER)
    if marker.exists():
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()


def _finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None:
        return
    if fault_log(app).lines:
        app.statuscode = 1
        summarise(app)
    else:
        Path(app.doctreedir, MARKER).unlink(missing_ok=True)


def setup(app: Sphinx) -> None:
    """Start listening."""
    app.bookkit_faults = FaultLog(app)  # type: ignore[attr-defined]
    logging.getLogger(NAMESPACE).addHandler(fault_log(app))
    app.add_config_value(
        "comments_config", {}, ""
    )  # Jupyter Book sets it for an extension that this book leaves out
    app.connect("config-inited", _start, priority=10)
    app.connect("build-finished", _finish, priority=990)
