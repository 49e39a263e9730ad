"""A process that has the libraries of a build loaded, and forks one `jupyter-book build .` for each request.

As in `tools/live_build.py`, whose list of libraries it takes, bookkit and onesentence are imported anew by each build.
A request is a line of JSON: `folder`, `environment`, and `output`, a pipe (FIFO) for what the build prints. The answers
are two lines: the build's process id, and its exit status once it has ended.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import live_build


def become(request: dict[str, Any]) -> None:
    """Take on the folder, environment, output and search path that a process started for this would have."""
    os.setsid()
    pipe = os.open(request["output"], os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(pipe, stream)
    os.close(pipe)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.chdir(request["folder"])
    own = {os.path.dirname(os.path.abspath(file)) for file in (__file__, live_build.__file__)}
    os.environ.clear()
    os.environ.update(request["environment"])
    given = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = given + [entry for entry in sys.path if entry not in own]


def serve() -> None:
    """Fork a build for each line of the standard input."""
    live_build.load()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(json.loads(line))
            live_build.build("jupyter-book", "build", ".")
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
