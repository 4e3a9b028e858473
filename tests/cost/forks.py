"""A process that runs tcpstall in a fork of itself for each line of arguments, so that none pays for the start.

`python -m tests.cost.forks warm` loads every module first, for those that will run every command.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys

import tcpstall
from tcpstall.cli import main


def _run(arguments: list[str]) -> int:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    return main(arguments)


def serve() -> None:
    """Runs each line of standard input, a list of arguments, and names the process that did."""
    if sys.argv[1:] == ["warm"]:
        for module in pkgutil.walk_packages(tcpstall.__path__, "tcpstall."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    # A worker that is killed outright cannot say what it cost.
    subprocess.Popen.kill = subprocess.Popen.terminate  # type: ignore[method-assign]
    for line in iter(sys.stdin.readline, ""):
        process = os.fork()
        if process == 0:
            os._exit(_run(json.loads(line)))
        os.waitpid(process, 0)
        print(process, flush=True)


if __name__ == "__main__":
    serve()
