"""Rates and the sizes that follow from them are told only where the flow came near those rates."""

from typing import Any

from tcpstall.causes import Cause
from tcpstall.model import analyze
from tcpstall.report.limits import lifting
from tests.scene import Scene

RATES = ("ceiling_bytes_per_s", "needed_bytes_per_s", "bottleneck_bytes_per_s", "drain_bytes_per_s")

SECOND = 100_000
"""Bytes of the busiest second of `short_bursts`."""


def short_bursts(scene: Scene) -> None:
    """Twice 100 kB through a small buffer, three seconds apart: 80 Mbit/s by arithmetic, 100 kB in a second."""
    scene.handshake(rtt_ms=2)
    scene.download(100_000, send_buffer=20_000)
    scene.wait_ms(3_000)
    scene.download(100_000, send_buffer=20_000)


def blocked(flow: dict[str, Any]) -> list[dict[str, Any]]:
    return [stall for stall in flow["stalls"] if stall["cause"] == "sndbuf-limited"]


def test_a_buffer_over_a_round_trip_is_no_rate_of_a_flow_that_never_came_near_it(scene: Scene) -> None:
    short_bursts(scene)
    flow = scene.flow("server")
    stalls = blocked(flow)
    assert stalls
    assert not [stall for stall in stalls for name in RATES if stall["evidence"].get(name, 0) > 10 * SECOND]
    for stall in stalls:
        fastest = flow["directions"]["server"]["fastest_bytes_per_s"]
        assert not [name for name in RATES if stall["evidence"].get(name, 0) > 10 * fastest]
        assert "buffer_needed_bytes" not in stall["evidence"]
        assert stall["evidence"]["fastest_bytes_per_s"] == fastest
    (seen,) = analyze(scene.capture("server"))
    said = lifting(seen, [stall for stall in seen.stalls if stall.cause is Cause.SNDBUF_LIMITED])
    assert said.endswith("twice what was in flight; its fastest second had 800.0 kbit/s")


def test_a_rate_that_the_flow_kept_is_told_with_its_size(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, send_buffer=20_000)
    flow = scene.flow("server")
    evidence = blocked(flow)[-1]["evidence"]
    ceiling = evidence["ceiling_bytes_per_s"]
    assert 0.3 * ceiling < flow["directions"]["server"]["fastest_bytes_per_s"] <= 1.5 * ceiling
    assert (evidence["buffer_needed_bytes"], evidence["needed_bytes_per_s"]) == (40_000, 2 * ceiling)
    assert "fastest_bytes_per_s" not in evidence


def test_no_stall_has_a_rate_beyond_ten_times_the_fastest_second(scene: Scene) -> None:
    short_bursts(scene)
    for flow in analyze(scene.capture("server")):
        for stall in flow.stalls:
            fastest = flow.directions[stall.sender].fastest_bytes_per_s or 0
            assert all((stall.evidence.get(name) or 0) <= 10 * fastest for name in RATES)
