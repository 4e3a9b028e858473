"""`tcpstall live` with the real tcpdump on a veth pair: its figures are those of `analyze` of the same packets."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcpstall import analyze
from tests.cli.conftest import environment
from tests.tools.lab.network.namespaces import obstacle

NEAR, FAR = "10.78.0.1", "10.78.0.2"
BYTES = 3 * 4 * 300_006
"""Three connections of four requests, six bytes each, and their answers."""

SERVES = f"""
import socket, time
listener = socket.create_server(("{FAR}", 80))
print("listening", flush=True)
for _ in range(3):
    connection, _ = listener.accept()
    with connection:
        while connection.recv(100):
            time.sleep(0.03)
            connection.sendall(bytes(300_000))
listener.close()
"""

ASKS = f"""
import socket, time
for _ in range(3):
    with socket.create_connection(("{FAR}", 80)) as connection:
        for _ in range(4):
            connection.sendall(b"please")
            left = 300_000
            while left:
                left -= len(connection.recv(50_000))
            time.sleep(0.02)
"""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Two namespaces with a veth pair between them; `eth0` in each."""
    if reason := obstacle():
        pytest.skip(reason)
    near, far = names = f"live{os.getpid()}-n", f"live{os.getpid()}-f"
    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", near, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", far)
        for name, address in zip(names, (NEAR, FAR), strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def within(namespace: str, *command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["ip", "netns", "exec", namespace, sys.executable, *command],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_its_figures_are_those_of_analyze(pair: tuple[str, str], tmp_path: Path) -> None:
    near, far = pair
    ring = tmp_path / "ring"
    live = within(near, "-m", "tcpstall", "live", "eth0", "--every", "200ms", "--ring", str(ring), "--filter", "tcp")
    serves = within(far, "-c", SERVES)
    assert live.stdout is not None
    assert serves.stdout is not None
    assert serves.stdout.readline() == "listening\n"
    json.loads(live.stdout.readline())  # it captures
    asks = within(near, "-c", ASKS)
    assert asks.communicate(timeout=60) == ("", "")
    assert serves.communicate(timeout=60)[1] == ""
    state = json.loads(live.stdout.readline())
    while state["bytes"] < BYTES:
        state = json.loads(live.stdout.readline())
    live.send_signal(signal.SIGINT)
    output, errors = live.communicate(timeout=60)

    last = json.loads(output.splitlines()[-1])
    files = sorted(map(str, ring.iterdir()))
    whole = analyze(files, sets=[0] * len(files))
    assert (live.returncode, len(errors.splitlines())) == (0, 1)
    assert (last["dropped_packets"], last["captured_packets"]) == (0, last["packets"])
    assert last["packets"] == sum(capture.packets for capture in whole.captures) > 100
    assert (last["flows"], last["bytes"]) == (whole.total, whole.bytes) == (3, BYTES)
    for owner, span in whole.time_ns().items():
        assert last["time_ns"][owner] == pytest.approx(span, rel=0.01)
