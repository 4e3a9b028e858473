"""Metrics over HTTP, as Prometheus asks for them."""

import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.metrics.conftest import told, values
from tests.questions.rows import Rows

OPENMETRICS = "application/openmetrics-text"


class Server:
    """A process that serves a store, and the address that it tells."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "tcpstall", "metrics", "--store", str(store), "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
        self.address = self.line().rpartition(" ")[2]

    def line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().strip()

    def get(self, url: str, accept: str = "") -> tuple[int, str, str]:
        """Status, type and text."""
        asked = urllib.request.Request(url, headers={"Accept": accept})
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read().decode()


@pytest.fixture
def server(rows: Rows) -> Iterator[Server]:
    started = Server(rows.folder)
    yield started
    started.process.kill()
    started.process.communicate()


def test_it_serves_what_the_command_writes_until_sigterm(server: Server, rows: Rows, tmp_path: Path) -> None:
    status, kind, text = server.get(server.address)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert values(text) == told(rows.folder, tmp_path)
    status, kind, text = server.get(server.address, f"{OPENMETRICS};version=1.0.0,text/plain;q=0.5")
    assert (status, kind.partition(";")[0]) == (200, OPENMETRICS)
    assert text.endswith("# EOF\n")

    assert server.get(server.address.replace("/metrics", "/"))[0] == 404

    taken = server.address.removeprefix("http://").removesuffix("/metrics")
    other = subprocess.run(
        [sys.executable, "-m", "tcpstall", "metrics", "--store", str(rows.folder), "--listen", taken],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (other.returncode, other.stderr) == (1, f"tcpstall: cannot listen on {taken}: Address already in use\n")

    shutil.move(rows.folder, tmp_path / "away")
    status, _, text = server.get(server.address)
    assert (status, text.count("\n")) == (503, 1)
    assert "no store is here" in text
    assert "no store is here" in server.line()
    shutil.move(tmp_path / "away", rows.folder)
    assert server.get(server.address)[0] == 200

    server.process.send_signal(signal.SIGTERM)
    _, err = server.process.communicate(timeout=60)
    assert (server.process.returncode, err) == (0, "")
