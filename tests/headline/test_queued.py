"""A flow behind the queue of another transfer between the same hosts: the report names that transfer."""

from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, advice, evidence, finding_row, findings, sentence
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Endpoint
from tests.scene.scene import START_NS

NEAR_MS = 20
"""The path's round trip; the transfer's queue adds a few hundred milliseconds."""


def transfer(folder: Path, *, mbit: float | None = 5) -> Scene:
    """Fills a queue of 300 ms for six seconds."""
    scene = Scene(folder, tap="server")
    scene.handshake(rtt_ms=NEAR_MS)
    scene.path(rtt_ms=NEAR_MS, server_mbit=mbit)
    scene.download(4_000_000, send_buffer=200_000)
    scene.closes()
    return scene


def asker(
    folder: Path,
    *,
    rtt_ms: float,
    after_ms: float = 2_000,
    host: str = "10.0.0.2",
    think_ms: float = 0,
    tap: Tap = "server",
) -> Scene:
    """Ten small requests of a connection that began while the queue stood."""
    scene = Scene(folder, tap=tap, start_ns=START_NS + round(after_ms * 1_000_000))
    scene.client.endpoint, scene.server.endpoint = Endpoint("10.0.0.1", 50_001), Endpoint(host, 5_432)
    scene.handshake(rtt_ms=rtt_ms)
    for _ in range(10):
        scene.client_sends(100)
        scene.wait_ms(think_ms)
        scene.server_sends(200)
    scene.client_acks()
    return scene


def found(folder: Path, *scenes: Scene) -> list[Finding]:
    path = folder / "both.pcap"
    write(path, sorted((sight for scene in scenes for sight in scene.packets()), key=lambda sight: sight[0]))
    return findings(analyze(path))


def of(kind: str, rows: list[Finding]) -> Finding:
    return next(row for row in rows if row.kind == kind)


def test_requests_behind_a_queue_name_the_transfer_that_filled_it(tmp_path: Path) -> None:
    rows = found(tmp_path, transfer(tmp_path), asker(tmp_path, rtt_ms=220))
    asked = of("round-trips", rows)
    assert evidence(asked) == (
        "10 requests, round trips of 220.0 ms; 20.0 ms without the queue that 10.0.0.2:80 filled"
    )
    assert advice(asked) == "share the path fairly (fq_codel, CAKE), or slow that transfer down"
    row = finding_row(1, asked)["behind"]
    assert (row["address"], row["port"]) == ("10.0.0.2", 80)
    assert row["base_rtt_ns"] == pytest.approx(NEAR_MS * 1e6, rel=0.05)
    assert row["queue_ns"] > 100e6
    assert rows[0].kind == "bandwidth-limited"
    assert rows[0].behind is None


def test_a_slow_answer_says_so_too_where_its_server_was_not_captured(tmp_path: Path) -> None:
    rows = found(tmp_path, transfer(tmp_path), asker(tmp_path, rtt_ms=100, think_ms=300, tap="client"))
    slow = of("server-slow", rows)
    assert "behind a queue that 10.0.0.2:80 filled" in sentence(slow)
    assert evidence(slow) == "10 late answers, median 250.0 ms; the queue that 10.0.0.2:80 filled took 245.2 ms"


def test_at_the_server_a_slow_answer_is_its_own(tmp_path: Path) -> None:
    rows = found(tmp_path, transfer(tmp_path), asker(tmp_path, rtt_ms=150, think_ms=400))
    assert of("server-slow", rows).behind is None


@pytest.mark.parametrize(
    ("transfer_of", "asked"),
    [
        ({}, {"rtt_ms": 50}),  # Not three times the path's.
        ({}, {"rtt_ms": 1_200}),  # More than such a queue holds up.
        ({}, {"rtt_ms": 220, "after_ms": 60_000}),  # Long after it.
        ({}, {"rtt_ms": 220, "host": "10.0.0.9"}),  # Another host, on a path of its own.
        ({"mbit": None}, {"rtt_ms": 220}),  # No queue.
    ],
)
def test_else_nobody_is_named(tmp_path: Path, transfer_of: dict[str, float], asked: dict[str, float]) -> None:
    rows = found(tmp_path, transfer(tmp_path, **transfer_of), asker(tmp_path, **asked))  # type: ignore[arg-type]
    assert of("round-trips", rows).behind is None


def test_a_server_that_takes_longer_than_the_queue_is_slow_itself(tmp_path: Path) -> None:
    rows = found(tmp_path, transfer(tmp_path), asker(tmp_path, rtt_ms=100, think_ms=2_000, tap="client"))
    assert of("server-slow", rows).behind is None
