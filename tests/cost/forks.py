"""A process that runs tcpstall in a fork of itself for each line of arguments, so that none pays for the start.

`python -m tests.cost.forks warm` loads every module first, for those that will run every command; else those of a few.
"""

import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
from typing import IO

import tcpstall
from tcpstall.archive.scanning import interpreters, local
from tcpstall.cli import main

_OF_A_FEW = (
    "tcpstall.cli.analyze",
    "tcpstall.cli.whatif",
    "tcpstall.facts",
    "tcpstall.model.analysis",
    "tcpstall.report.text",
    "tcpstall.report.whatif",
    "tcpstall.whatif",
)
"""Load what `analyze` and `whatif` do: under valgrind that takes longer than all else with a small capture."""


class _Worker:
    """A worker of a scan: a fork as well, and ended so that it can say what it cost."""

    def __init__(self, descriptor: int) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                local.serve(str(descriptor))
            finally:  # what ends it must not unwind what the parent is at
                os._exit(0)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _started(descriptor: int) -> tuple[_Worker, IO[bytes]]:
    return _Worker(descriptor), tempfile.TemporaryFile()


def _run(arguments: list[str]) -> int:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    return main(arguments)


def serve() -> None:
    """Runs each line of standard input, a list of arguments, and names the process that did."""
    if sys.argv[1:] == ["warm"]:
        modules = [module.name for module in pkgutil.walk_packages(tcpstall.__path__, "tcpstall.")]
    else:
        modules = list(_OF_A_FEW)
    for name in modules:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    interpreters._started = _started  # type: ignore[assignment]
    for line in iter(sys.stdin.readline, ""):
        process = os.fork()
        if process == 0:
            os._exit(_run(json.loads(line)))
        os.waitpid(process, 0)
        print(process, flush=True)


if __name__ == "__main__":
    serve()
