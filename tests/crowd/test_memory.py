"""Memory of the outputs that show a few flows does not grow with the flows of a capture."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.crowd.captures import syns

PEAK = Path(__file__).with_name("peak.py")

FEW, MANY = 70_000, 200_000
"""Both are beyond the limits of what is followed at once and of services kept.

They lie far apart, because the peak of one command differs by up to 20 MB from run to run.
"""

EACH = 300
"""Bytes that a further flow may take. It took 6,700 where every flow was held."""

MOST = 300 << 20
"""Bytes that a command may hold in all."""

OUTPUTS = {
    "table": ("analyze",),
    "markdown": ("analyze", "--format", "markdown"),
    "first of JSON": ("analyze", "--format", "json", "--top", "10"),
    "page": ("report", "-o", "/dev/null"),
    "diff": ("diff",),
    "remedies": ("remedies",),
    "check": ("check", "--forbid", "unreachable", "--max", "p95-handshake=1s"),
    "whatif": ("whatif",),
}


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("crowds")
    return syns(folder / "few.pcap", FEW), syns(folder / "many.pcap", MANY)


def peak_bytes(*arguments: object) -> int:
    command = [sys.executable, "-m", "tcpstall", *map(str, arguments)]
    return int(subprocess.check_output([sys.executable, PEAK, *command], env=environment(), timeout=300))


@pytest.mark.parametrize("output", OUTPUTS)
def test_memory_does_not_grow_with_the_flows(crowds: tuple[Path, Path], output: str) -> None:
    first, *rest = OUTPUTS[output]
    inputs = [[crowd] * (2 if output == "diff" else 1) for crowd in crowds]
    few, many = (peak_bytes(first, *paths, *rest) for paths in inputs)
    assert (many - few) / (MANY - FEW) < EACH
    assert many < MOST
