"""The cost of `pair` follows the size of the captures: counted in calls, so no clock decides."""

import cProfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.pair import pair
from tcpstall.report.pair.as_json import pair_json
from tests.pair.stage import ENDS, Packets
from tests.scene.files import write
from tests.scene.packet import ACK, SYN, Endpoint, Packet

MOST_PER_DOUBLING = 2.2
CLIENT, SERVER = ENDS


def _syn(client: Endpoint, seq: int) -> Packet:
    return Packet(client, SERVER, seq=seq, ack=0, flags=SYN, window=65_535)


def reused_ports(count: int) -> Packets:
    """Connections that all have the same ends: no two have the same initial number."""
    return [(10**18 + at * 1_000_000, _syn(CLIENT, 1 + at * 7_919_317)) for at in range(count)]


def one_initial_number(count: int) -> Packets:
    """Connections of many clients that all choose the same initial number, as tools that flood do."""
    return [(10**18 + at * 1_000_000, _syn(Endpoint("10.0.0.1", 1_024 + at), 7)) for at in range(count)]


def reused_ports_and_few_initial_numbers(count: int) -> Packets:
    """Connections that all have the same ends and take two initial numbers by turns."""
    return [(10**18 + at * 1_000_000, _syn(CLIENT, 7 + at % 2)) for at in range(count)]


def one_connection_that_waits(count: int) -> Packets:
    """A connection that sends a segment every 20 ms."""
    packets = [(10**18, _syn(CLIENT, 0)), (10**18 + 10**6, Packet(SERVER, CLIENT, 0, 1, SYN | ACK, 65_535))]
    for at in range(count):
        time, seq = 10**18 + 10**7 + at * 20_000_000, 1 + at * 1_000
        packets += [(time, Packet(CLIENT, SERVER, seq, 1, ACK, 65_535, payload=1_000))]
        packets += [(time + 10**6, Packet(SERVER, CLIENT, 1, seq + 1_000, ACK, 65_535))]
    return packets


def calls(folder: Path, packets: Packets) -> int:
    """Calls of Python's functions and of those it calls, while two captures are paired and told as JSON."""
    path = folder / "both.pcap"
    write(path, packets)
    profile = cProfile.Profile()
    profile.enable()
    pair_json(pair(path, path))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    "kind",
    [reused_ports, one_initial_number, reused_ports_and_few_initial_numbers, one_connection_that_waits],
    ids=lambda kind: kind.__name__,
)
def test_twice_the_connections_cost_twice_the_calls(tmp_path: Path, kind: Callable[[int], Packets]) -> None:
    once, twice, four_times = (calls(tmp_path, kind(count)) for count in (80, 160, 320))
    assert twice <= MOST_PER_DOUBLING * once
    assert four_times <= MOST_PER_DOUBLING * twice


def test_flows_of_reused_ports_keep_their_views(tmp_path: Path) -> None:
    path = tmp_path / "both.pcap"
    write(path, reused_ports(40))
    flows = pair(path, path).flows
    assert len(flows) == 40
    for flow in flows:
        for view in flow.views:
            assert view is not None
            assert view.start_ns == flow.row["start_ns"][0]
