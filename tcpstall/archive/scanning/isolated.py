"""A command that starts this program's Python without anything of the working folder or of PYTHON* variables."""

import os
import sys
from pathlib import Path

import tcpstall

__all__ = ["command"]

_PROGRAM = """\
import importlib, importlib.util, sys
home, module, argument, *paths = sys.argv[1:]
sys.path += [path for path in paths if path not in sys.path]
spec = importlib.util.spec_from_file_location("tcpstall", home + "/__init__.py", submodule_search_locations=[home])
sys.modules["tcpstall"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
importlib.import_module(module).serve(argument)
"""
"""Takes this very package from where it lies: its folder may lie beside a stranger's `json.py`, as a clone does."""


def command(module: str, argument: str) -> list[str]:
    """Calls `serve(argument)` of a module of this package in a new interpreter.

    `-I` leaves out the working folder and PYTHON*. Other folders of this interpreter's path come after its own
    libraries, so that they add modules (user site, a vendored DuckDB) and replace none.
    """
    here = os.path.realpath(os.curdir)
    paths = [os.path.abspath(path) for path in sys.path if path and os.path.realpath(path) != here]  # noqa: PTH100
    home = str(Path(tcpstall.__file__).resolve().parent)
    return [sys.executable, "-I", "-c", _PROGRAM, home, module, argument, *paths]
