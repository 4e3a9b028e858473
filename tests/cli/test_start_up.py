"""Nobody pays for libraries that he does not use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tcpstall.cli import COMMANDS
from tests.cli.conftest import environment

HEAVY = {
    "matplotlib",
    "scapy",
    "dpkt",
    "duckdb",
    "numpy",
    "rich",
    "asyncio",
    "pandas",
    "polars",
    "pyarrow",
    "bokeh",
    "jinja2",
    "mcp",
}

PROGRAM = """
import json, os, sys
from tcpstall.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
os.write(2, json.dumps([code, sorted(sys.modules)]).encode())
"""


def _imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, env=environment(), timeout=60, check=True
    )
    code, modules = json.loads(done.stderr)
    assert code == 0
    return {*modules, *(name.partition(".")[0] for name in modules)}


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("analyze", "--help"), ("serve", "--help"), ("explain",), ("help", "capture")],
    ids=" ".join,
)
def test_help_imports_no_heavy_library(arguments: tuple[str, ...]) -> None:
    assert not _imported(*arguments) & HEAVY


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_data_formats_need_no_terminal_library(capture: Path, form: str) -> None:
    assert not _imported("analyze", str(capture), "--format", form) & HEAVY


def test_data_formats_load_no_model_of_flows(capture: Path) -> None:
    unused = {"tcpstall.model.flow", "tcpstall.findings.choice", "tcpstall.taps", "tcpstall.cli.help"}
    assert not _imported("analyze", str(capture), "--format", "json") & unused


def test_the_list_of_commands_loads_no_command() -> None:
    modules = _imported("--help")
    assert not modules & {f"tcpstall.cli.{name}" for name in COMMANDS}
    assert "tcpstall.model" not in modules


def test_tables_need_no_picture_library(capture: Path) -> None:
    assert not _imported("analyze", str(capture)) & (HEAVY - {"rich"})
