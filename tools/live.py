"""Build the book, serve it on this machine and build again whenever a file is saved: `make live`, `make serve`.

One save makes one build, as `jupyter-book build .` makes it, and the pages in the browser load again when it has
ended. Where it fails, the reason stands on the page, over what could be built, until a later save mends it. What counts
as a save is a changed content: an editor's backup files and a touched file build nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import html
import json
import os
import re
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
import watchfiles
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from live_build import MARK

FOLDERS = ("book", "code", "assets")
EVENTS = "/_live"
SETTLE = 0.1  # seconds in which further files of one save may follow
LAST_LINES = 15
NO_STORE = {"Cache-Control": "no-store"}
_BACKUP = re.compile(r"^[.#]|[~#]$|\.(?:sw[a-z]|tmp|bak|pyc)$|^\d+$")
_TOOLS = re.compile(r"^__pycache__$|^\..+|\.egg-info$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_EXECUTED = re.compile(r"^executed (\d+) pages", re.MULTILINE)

SNIPPET = """
<div id="live-note" role="status" hidden>正在重新构建……</div>%(failure)s
<script>
(() => {
  const note = document.getElementById("live-note");
  let source = null;
  /* A browser keeps six connections to one address: a tab that nobody looks at gives its own back. */
  const listen = () => {
    if (source) source.close();
    source = document.hidden ? null : new EventSource("%(events)s");
    if (source) source.onmessage = (event) => {
      const now = JSON.parse(event.data);
      note.hidden = !now.building;
      if (now.version !== "%(version)s") location.reload();
    };
  };
  document.addEventListener("visibilitychange", listen);
  listen();
})();
</script>
<style>
#live-note, #live-failure { position: fixed; z-index: 99999; right: 1rem; bottom: 1rem; margin: 0; color: #fff;
  font: 15px/1.6 sans-serif; padding: .4rem .9rem; border-radius: 4px; background: #1f2a37; }
#live-failure { left: 1rem; bottom: 0; max-height: 50vh; overflow: auto; background: #8c1d18;
  border-radius: 4px 4px 0 0; }
#live-failure pre { margin: .4rem 0 .6rem; padding: 0; border: 0; color: inherit; background: none;
  white-space: pre-wrap; overflow-wrap: anywhere; }
#live-note[hidden] { display: none; }
</style>
"""
FAILURE = """
<div id="live-failure" role="alert"><strong>构建失败。</strong>页面上可能还是从前的内容；改好并保存，会自动重新构建。
<pre>%s</pre></div>"""
NO_PAGE = "<!doctype html><html lang=zh-CN><meta charset=utf-8><title>没有这一页</title><h1>没有这一页</h1>%s</html>"


@dataclass
class State:
    """What the server knows of the last build.

    Attributes:
        version: changes with every build and with every start of the server.
        building: a build is running.
        failure: why the last build failed, None where it did not.
        ended: the server is about to end.
        changed: notified when one of the others has changed.
    """

    version: str = ""
    building: bool = False
    failure: str | None = None
    ended: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def set(self, **values: Any) -> None:
        """Set attributes and tell the pages."""
        async with self.changed:
            for name, value in values.items():
                setattr(self, name, value)
            self.changed.notify_all()

    async def news(self) -> AsyncIterator[str]:
        """Yield what a page needs to know, as server-sent events: now, and whenever it has changed."""
        told = ""
        while True:
            async with self.changed:
                while self._now() == told and not self.ended:
                    await self.changed.wait()
                if self.ended:
                    return
                told = self._now()
            yield f"data: {told}\n\n"

    def _now(self) -> str:
        return json.dumps({"version": self.version, "building": self.building})

    def snippet(self) -> str:
        """Return what is added to each page."""
        failure = "" if self.failure is None else FAILURE % html.escape(self.failure)
        return SNIPPET % {"failure": failure, "events": EVENTS, "version": self.version}


def failure_text(output: str) -> str:
    r"""Return the part of a failed build's output that says why.

    That is its list of faults; where something broke before there was one, the messages of the exceptions; else the
    last lines.

    Example:
        >>> failure_text("reading\nBuild failed, 1 fault:\n  book/a.md:7: NameError\n")
        'Build failed, 1 fault:\n  book/a.md:7: NameError'
    """
    lines = [line.rstrip() for line in _COLOUR.sub("", output).splitlines()]
    starts = [number for number, line in enumerate(lines) if line.startswith("Build failed, ")]
    if starts:
        faults = takewhile(lambda line: line.startswith("  "), lines[starts[-1] + 1 :])
        return "\n".join([lines[starts[-1]], *faults])
    return "\n".join(_messages(lines)) or "\n".join([line for line in lines if line][-LAST_LINES:])


def _messages(lines: list[str]) -> list[str]:
    """Return what the exceptions say in an output with tracebacks, without Jupyter Book's own last one."""
    messages, rest = list[str](), iter(lines)
    for line in rest:
        if line.startswith("Traceback "):
            frames, said = list[str](), list[str]()
            for following in rest:
                if not following:
                    break
                (frames if following.startswith(" ") and not said else said).append(following)
            if said and said[0].startswith("SyntaxError"):  # its place is the last frame
                files = [frame.strip() for frame in frames if frame.startswith("  File ")]
                said = [*files[-1:], *said]
            messages += said
    messages = [
        line.replace('"<unicode string>"', "_config.yml") for line in messages
    ]  # all that is read as such
    return [line for line in messages if line.strip("=") and line != "RuntimeError:"]


def watched(root: Path) -> Iterator[Path]:
    """Yield the files that a build depends on."""
    for path in root.iterdir():
        if path.is_file() and not _BACKUP.search(path.name):
            yield path
    for folder in FOLDERS:
        for here, folders, names in os.walk(root / folder):
            folders[:] = [name for name in folders if not _TOOLS.search(name)]
            yield from (Path(here, name) for name in names if not _BACKUP.search(name))


def fingerprint(root: Path) -> dict[str, str]:
    """Return a hash of each file that a build depends on, by its path in the book's folder."""
    prints = {}
    for path in watched(root):
        with contextlib.suppress(OSError):  # gone again already
            prints[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return prints


class Builder:
    """Builds the book in processes forked from one that has the libraries loaded (`live_build`)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.server: asyncio.subprocess.Process | None = None

    async def build(self) -> tuple[int, str]:
        """Build the book; print which pages run; return the exit status and the output."""
        if self.server is None or self.server.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            self.server = await asyncio.create_subprocess_exec(
                *(sys.executable, str(Path(__file__).with_name("live_build.py"))),
                cwd=self.root,
                stdin=pipe,
                stdout=pipe,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches it through `end` alone
                limit=1 << 24,
            )
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(b"\n")
        output = ""
        async for line in self.server.stdout:
            text = line.decode("utf-8", "replace")
            before, mark, status = text.partition(MARK)
            output += before
            if mark:
                return int(status), output
            if text.startswith("executed ["):
                print(f"live: {text}", end="", flush=True)
        return await self.server.wait() or 1, output

    async def end(self) -> None:
        """End a build that runs, with its kernels, and the process that it was forked from."""
        if self.server is not None and self.server.returncode is None:
            os.killpg(self.server.pid, signal.SIGINT)
            try:
                await asyncio.wait_for(self.server.wait(), 10)
            except TimeoutError:
                os.killpg(self.server.pid, signal.SIGKILL)
                await self.server.wait()


class Watch:
    """Notices that something was saved; what, the fingerprints say.

    A folder that is taken away and put back is another folder: it is watched anew.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.touched = asyncio.Event()
        self.touched.set()  # a file may have been saved before anything watched
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Watch:
        """Begin to watch."""
        self.tasks = [asyncio.create_task(self._top()), asyncio.create_task(self._folders())]
        return self

    async def __aexit__(self, *error: object) -> None:
        """Stop watching."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _there(self) -> dict[Path, int]:
        paths = (self.root / name for name in FOLDERS)
        return {path: path.stat().st_ino for path in paths if path.is_dir()}

    async def _top(self) -> None:
        watched = self._there()
        async for _ in watchfiles.awatch(self.root, recursive=False, watch_filter=None, debounce=200):
            self.touched.set()
            if self._there() != watched:
                watched = self._there()
                self.tasks[1].cancel()
                self.tasks[1] = asyncio.create_task(self._folders())

    async def _folders(self) -> None:
        if folders := list(self._there()):
            async for _ in watchfiles.awatch(*folders, watch_filter=None, debounce=200):
                self.touched.set()

    async def changes(self, before: dict[str, str]) -> list[str]:
        """Wait for a save that changes a content; return the paths that differ from `before`."""
        while True:
            await self.touched.wait()
            await asyncio.sleep(SETTLE)
            self.touched.clear()
            now = await asyncio.to_thread(fingerprint, self.root)
            if changed := sorted({name for name, _ in before.items() ^ now.items()}):
                return changed


async def keep_building(root: Path, state: State, once_only: bool, built: Callable[[], None]) -> None:
    """Build now and after every save.

    Args:
        root: the book's folder.
        state: what the pages are told.
        once_only: build now and never again.
        built: called after the first build.
    """
    start, number = time.time_ns(), 0
    prints: dict[str, str] = {}
    builder = Builder(root)

    async def once() -> None:
        nonlocal prints, number
        prints = await asyncio.to_thread(fingerprint, root)
        await state.set(building=True)
        began = time.perf_counter()
        status, output = await builder.build()
        seconds, number = time.perf_counter() - began, number + 1
        failure = failure_text(output) if status else None
        if status < 0:
            failure = f"The build was ended by signal {-status}."
        ran = _EXECUTED.search(output)
        pages = "" if ran is None else f", {ran.group(1)} pages ran"
        print(f"live: {failure or f'built in {seconds:.1f} s{pages}'}", flush=True)
        await state.set(building=False, failure=failure, version=f"{start}-{number}")

    try:
        await once()
        built()
        if once_only:
            await builder.end()
            await asyncio.Event().wait()
        async with Watch(root) as watch:
            while True:
                changed = await watch.changes(prints)
                more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
                print(f"live: saved {', '.join(changed[:3])}{more}", flush=True)
                await once()
    finally:
        await builder.end()


class Site(StaticFiles):
    """The built site, never kept by the browser, with the snippet in each page."""

    def __init__(self, folder: Path, state: State) -> None:
        super().__init__(directory=folder, html=True)
        self.state = state

    def file_response(self, full_path: Any, *args: Any, **kwargs: Any) -> Response:
        """Return the file whole: what changes with every build has no use for `304 Not Modified`."""
        return FileResponse(full_path, headers=NO_STORE)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, a page with the snippet, or a page saying that there is none."""
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            return HTMLResponse(NO_PAGE % self.state.snippet(), 404, NO_STORE)
        if isinstance(response, FileResponse) and str(response.path).endswith(".html"):
            text = Path(response.path).read_text(encoding="utf-8") + self.state.snippet()
            return HTMLResponse(text, response.status_code, NO_STORE)
        return response


class Server(uvicorn.Server):
    """A server that lets the pages' event streams end first when it is told to end."""

    def __init__(self, config: uvicorn.Config, state: State) -> None:
        super().__init__(config)
        self.state = state

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the streams, then the server."""
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: loop.create_task(self.state.set(ended=True)))
        super().handle_exit(sig, frame)


def application(root: Path, state: State, once: bool, built: Callable[[], None]) -> Starlette:
    """Return the server's application, which builds at its start and, unless once is enough, after every save."""

    async def events(request: Request) -> StreamingResponse:
        return StreamingResponse(state.news(), media_type="text/event-stream", headers=NO_STORE)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(keep_building(root, state, once, built))
        task.add_done_callback(
            lambda ended: None if ended.cancelled() else signal.raise_signal(signal.SIGINT)
        )
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    html_folder = root / "_build" / "html"
    html_folder.mkdir(parents=True, exist_ok=True)
    site = Mount("/", Site(html_folder, state))
    return Starlette(routes=[Route(EVENTS, events), site], lifespan=lifespan)


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit status."""
    parser = argparse.ArgumentParser(description="Build, serve and build again on save.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--once", action="store_true", help="build once, then only serve")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument("root", nargs="?", type=Path, default=Path.cwd(), help="the book's folder")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    if not (root / "_config.yml").is_file():
        parser.error(f"{options.root}: no _config.yml there; name the book's folder")
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(("127.0.0.1", options.port))
        door.listen()
    except (OSError, OverflowError) as error:
        print(
            f"live: port {options.port} cannot be used ({error}); take another: set PORT, as in PORT=8001 make live",
            file=sys.stderr,
        )
        return 1
    address = f"http://127.0.0.1:{door.getsockname()[1]}/"
    print(f"live: {address} (Ctrl-C ends it)", flush=True)
    state = State()
    app = application(
        root, state, options.once, lambda: None if options.no_browser else open_browser(address)
    )
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    with contextlib.suppress(KeyboardInterrupt):
        Server(config, state).run(sockets=[door])
    return 0


def open_browser(address: str) -> None:
    """Open the site in the user's browser, where there is one."""
    webbrowser.open(address)


if __name__ == "__main__":
    raise SystemExit(main())
