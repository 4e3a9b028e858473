"""An exchange's latency in one line."""

import pytest

from tcpstall import Cause, Connection, Exchange, Part
from tcpstall.report.exchanges import exchange_list
from tcpstall.report.sums import latency_sum
from tests.report.flows import MS, flow, text

BASE = 100 * MS


def part(name: str, ms: float, cause: Cause | None = None, detail: str | None = None) -> Part:
    return Part(name, int(ms * MS), cause, detail, waits=0 if cause is None else 1)


def exchange(*parts: Part, start_ms: float = 0) -> Exchange:
    latency = sum(one.duration_ns for one in parts)
    start = int(start_ms * MS)
    return Exchange("client", start, start + latency, latency, None, 147, 5_000, 0, parts)


RPC = exchange(
    part("handshake", 100),
    part("request", 0.1),
    part("request", 100, Cause.CWND_LIMITED, "initial-window"),
    part("travel", 100),
    part("think", 0.1),
    part("response", 100, Cause.CWND_LIMITED, "initial-window"),
)


def test_four_round_trips_are_named_one_by_one() -> None:
    assert latency_sum(RPC, BASE) == (
        "400.2 ms = 4 RTT: 1 handshake, 1 request beyond the initial window, 1 base, 1 response beyond it"
    )


def test_time_that_comes_in_no_round_trips_stands_beside_them() -> None:
    slow = exchange(part("travel", 100), part("think", 250), part("response", 220, Cause.RETRANSMISSION, "timeout"))
    assert latency_sum(slow, BASE) == (
        "570.0 ms = 1 RTT + 470.0 ms: 1 base, 250.0 ms server, 220.0 ms response retransmission (timeout)"
    )


def test_without_a_base_round_trip_all_is_time() -> None:
    assert latency_sum(exchange(part("handshake", 30), part("turnaround", 70)), None) == (
        "100.0 ms: 30.0 ms handshake, 70.0 ms travel and server"
    )


def test_a_part_that_is_no_whole_round_trip_says_so() -> None:
    told = latency_sum(exchange(part("travel", 100), part("response", 130, Cause.RWND_LIMITED)), BASE)
    assert told == "230.0 ms = 2.3 RTT: 1 base, 1.3 response rwnd-limited"


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_words(cause: Cause) -> None:
    assert "response" in latency_sum(exchange(part("travel", 100), part("response", 50, cause)), BASE)


def test_the_slowest_come_first_with_their_middle_and_the_end_of_the_connection() -> None:
    quick = [exchange(part("travel", 100), start_ms=1_000 * i) for i in range(4)]
    one = flow(
        exchanges=(*quick, exchange(part("travel", 100), part("think", 900), start_ms=9_000)),
        connection=Connection(5, closed_by="server", closed_with="rst", idle_before_close_ns=65_000 * MS),
        base_rtt_ns=BASE,
    )
    title, first, second = [line for line in text(*exchange_list(one, rows=2)).splitlines() if line]
    assert title == (
        "the slowest of 5 exchanges of flow 0 (median 100.0 ms); the server closed with a reset 1 min 05 s after the "
        "last"
    )
    assert first.startswith(" +9.000000")
    assert "900.0 ms server" in first
    assert second.endswith("100.0 ms = 1 RTT: 1 base")


def test_a_flow_without_exchanges_has_no_such_list() -> None:
    assert list(exchange_list(flow(), rows=5)) == []
