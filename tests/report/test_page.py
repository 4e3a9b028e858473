"""The page: the answer first, then flows, then stalls, and nothing left out silently."""

from dataclasses import replace

from tcpstall import Cause, Endpoint
from tcpstall.report.page import render
from tests.report.flows import MS, Canned, capture, flow, stall, text


def shown(analysis: Canned, width: int = 160) -> str:
    """The page with each flow whole."""
    return text(*render(analysis, width=width, stalls=True), width=width)


def test_the_sum_of_all_comes_first_then_the_worst_flow() -> None:
    flows = [flow(stall(Cause.PACING, 5)), replace(flow(stall(Cause.ZERO_WINDOW, 60)), id=1)]
    said = shown(Canned(flows))
    assert "2 flows" in said.splitlines()[1]
    assert "lost 85.0 ms" in said.splitlines()[1]
    assert said.index("flow 1: ") < said.index("flow 0: ")


def test_flows_that_are_not_shown_are_counted() -> None:
    flows = [replace(flow(stall(Cause.PACING, 5)), id=number) for number in range(30)]
    assert "and 20 more flows" in shown(Canned(flows))


def test_of_hundreds_of_stalls_the_longest_are_shown_in_order_of_time() -> None:
    stalls = [stall(Cause.PACING, 0.1, at_ms=number) for number in range(300)]
    stalls[7] = stall(Cause.ZERO_WINDOW, 9, at_ms=7)
    said = shown(Canned([flow(*stalls, length_ms=1000)]))
    rows = [line for line in said.splitlines() if line.lstrip().startswith("+0.")]
    assert len(rows) == 20
    assert rows == sorted(rows)
    assert any("zero-window" in row for row in rows)
    assert "and 280 shorter stalls of flow 0: 28.0 ms pacing" in said


def test_a_flow_that_only_shook_hands_has_no_list() -> None:
    assert "stalls of flow" not in text(
        *render(Canned([flow(stall(Cause.HANDSHAKE, 10, at_ms=0))]), width=160, stalls=True)
    )


def test_a_stall_that_never_ended_is_at_least_so_long() -> None:
    assert "≥ 50.000 ms" in text(
        *render(Canned([flow(stall(Cause.ZERO_WINDOW, 50, ended=False))]), width=160, stalls=True)
    )


def test_unknown_figures_are_question_marks() -> None:
    said = text(
        *render(Canned([flow(stall(Cause.PACING, 50, evidence={"peer_window_bytes": None}))]), width=160, stalls=True)
    )
    row = next(line for line in said.splitlines() if line.lstrip().startswith("+0."))
    assert row.split().count("?") == 3
    assert "None" not in said


def test_a_capture_without_tcp_says_what_was_in_it() -> None:
    row = capture(packets=16, tcp_segments=0, skipped={"not_ip": 12, "not_tcp": 4, "ip_fragment": 0})
    first = shown(Canned([], [row])).splitlines()[0]
    assert first == "a.pcap: no TCP in its 16 packets: 12 not IP, 4 IP but not TCP"


def test_an_empty_capture_says_so() -> None:
    row = capture(packets=0, tcp_segments=0, first_ns=None, last_ns=None)
    assert shown(Canned([], [row])).splitlines()[0] == "a.pcap: no packets in it"


def test_warnings_of_a_capture_are_shown() -> None:
    row = capture(warnings=[{"code": "dropped", "count": 12, "message": "12 packets dropped by kernel"}])
    assert "warning: 12 packets dropped by kernel" in shown(Canned([flow()], [row]))


def test_inputs_that_could_not_be_read_show_nothing_here() -> None:
    assert shown(Canned([], [{"path": "x", "exit_code": 3, "error": "x: missing"}])) == ""


def test_long_addresses_and_large_figures_survive_80_columns() -> None:
    far = Endpoint("2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff", 65535)
    evidence = {"burst_bytes": 10**12, "in_flight_bytes": 10**12, "peer_window_bytes": 10**12}
    packets = {"last_packet": 123456789, "freed_by_packet": 123456790, "next_packet": 123456791}
    long = flow(stall(Cause.BANDWIDTH_LIMITED, 50, evidence=evidence | packets), client=far, server=far)
    said = shown(Canned([long, long]), 80)
    assert "1,000,000,000,000" in said
    assert "…" not in said


def test_a_capture_of_days_shows_its_date_and_lengths_in_days() -> None:
    first = 1_772_361_949_051_409_000
    row = capture(first_ns=first, last_ns=first + 100 * 3600 * 1000 * MS)
    said = shown(Canned([flow()], [row]))
    assert "4 d 4 h from 2026-03-01 10:45:49.051409 UTC" in said
