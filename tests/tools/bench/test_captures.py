"""The bench's captures hold what they are said to hold, also where one lap meets the next."""

import io
from collections.abc import Callable
from pathlib import Path

import dpkt
import pytest

import tcpstall
from tests.tools.bench.captures import MAKERS, Capture
from tests.tools.bench.kinds import KINDS

PACKETS = {"long": 12_000, "full": 6_000, "short": 60_000, "half-open": 5_000, "terabyte": 20_000, "stalls": 12_000}
FLOWS = {"long": 3, "full": 1, "short": 500, "half-open": 1_000, "mixed": 1}
"""A smaller lap is made sooner, and comes to its end sooner."""


def written(kind: str, packets: int) -> bytes:
    out = io.BytesIO()
    make: Callable[..., Capture] = MAKERS[kind]
    make(**{"flows": FLOWS[kind]} if kind in FLOWS else {}).write(out, packets)
    return out.getvalue()


def analysed(folder: Path, kind: str) -> tcpstall.Analysis:
    path = folder / f"{kind}.pcap"
    path.write_bytes(written(kind, PACKETS[kind]))
    return tcpstall.analyze(str(path))


def test_each_kind_has_a_maker() -> None:
    assert KINDS.keys() == MAKERS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_packets_as_asked_for_the_same_each_time_and_time_never_runs_back(kind: str) -> None:
    longer = written(kind, 9_999)
    times = [time for time, _ in dpkt.pcap.Reader(io.BytesIO(longer))]
    assert len(times) == 9_999
    assert times == sorted(times)
    assert longer.startswith(written(kind, 3_000))


@pytest.mark.parametrize("kind", ["long", "full"])
def test_long_flows_go_on_without_a_hole(tmp_path: Path, kind: str) -> None:
    analysis = analysed(tmp_path, kind)
    assert len(analysis) == FLOWS[kind]
    causes = {stall.cause for flow in analysis for stall in flow.stalls}
    assert causes == {"handshake", "cwnd-limited", "rwnd-limited", "sndbuf-limited"}
    assert not any(flow.trust.unseen_bytes for flow in analysis)
    assert not any(flow.directions["server"].retransmitted_bytes for flow in analysis)


def test_short_flows_are_whole_and_all_different(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "short")
    ended = [flow for flow in analysis if flow.state == "closed"]
    assert len(ended) > 1_000
    assert {flow.segments for flow in ended} == {13}
    assert {flow.directions["server"].bytes for flow in ended} == {4_000}
    assert all(flow.handshake.complete for flow in ended)


def test_no_two_forged_addresses_are_alike(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "half-open")
    assert len(analysis) == (PACKETS["half-open"] + 1) // 2


def test_a_terabyte_counts_on_beyond_a_sequence_wrap(tmp_path: Path) -> None:
    (flow,) = analysed(tmp_path, "terabyte")
    assert flow.directions["server"].bytes > 1 << 29
    assert flow.directions["server"].retransmitted_bytes == 0


def test_each_exchange_has_its_waits(tmp_path: Path) -> None:
    (flow,) = analysed(tmp_path, "stalls")
    assert len(flow.stalls) >= PACKETS["stalls"] - 10
