"""Spikes of round trip time take a line each, and few."""

from tcpstall.model import RttSpike
from tcpstall.report.spikes import spike_lines
from tcpstall.report.verdict import verdict
from tests.report.flows import MS, flow, text


def spike(at_ms: int, rtt_ms: int) -> RttSpike:
    return RttSpike("server", at_ms * MS, rtt_ms * MS, 14_480, None)


def test_a_flow_without_any_has_no_line() -> None:
    assert list(spike_lines(flow())) == []


def test_the_highest_come_in_order_of_time_and_the_rest_is_counted() -> None:
    lines = list(spike_lines(flow(rtt_spikes=tuple(spike(10 * i, 100 + 10 * (i % 5)) for i in range(1, 10)))))
    assert len(lines) == 4
    assert lines[-1] == "and 6 lower spikes of round trip time"
    assert "140.0 ms at +0.040000: the server had 14,480 bytes in flight, peer window ?" in lines[1]


def test_the_answer_tells_of_them() -> None:
    assert "round trip of 90.0 ms" in text(*verdict(flow(rtt_spikes=(spike(50, 90),)), width=160))
