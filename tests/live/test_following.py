"""Intervals of a capture give what all of it gives at once, and memory stays bounded."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import Analysis, Cause, _core, analyze
from tcpstall.findings import findings
from tcpstall.live import Counts, State, following
from tcpstall.live.feed import Feed
from tcpstall.report.live.as_json import state_json
from tests.formats.containers import pcap
from tests.live.days import asking, visiting
from tests.live.played import Played, parts_of, states
from tests.rotated.cutting import of_fixture


def facts(analysis: Analysis) -> dict[str, object]:
    """Results on which both must agree; findings in words, flows as they are ranked."""
    return {
        "flows": analysis.total,
        "bytes": analysis.bytes,
        "time": analysis.time_ns(),
        "services": analysis.services,
        "worst": [analysis[row] for row in analysis.ranked()[:10]],
        "findings": [(one.kind, one.address, one.port, one.flows, one.time_ns) for one in findings(analysis)],
        "packets": analysis.captures[0].packets,
        "skipped": analysis.captures[0].skipped,
        "trust": analysis.captures[0].trust,
        "begun": analysis.captures[0].first_ns,
        "ended": analysis.captures[0].last_ns,
    }


def at_once(capture: Path) -> dict[str, object]:
    return facts(analyze(str(capture), bursts=False, top=10)) | {"trust": trust_of(capture)}


def trust_of(capture: Path) -> object:
    """tcpdump says how many were dropped, a pcap file does not."""
    return replace(analyze(str(capture), top=1).captures[0].trust, dropped_packets=0)


@pytest.mark.parametrize("size", [4_001, 50_000])
def test_the_last_state_is_the_analysis_of_all_packets(many: Path, size: int) -> None:
    found = states(Played(parts_of(many, size)))

    assert len(found) > 2
    assert facts(found[-1].analysis()) == at_once(many)


def test_intervals_add_up_to_the_totals(many: Path) -> None:
    found = states(Played(parts_of(many, 20_000)))

    last = found[-1]
    assert sum(state.interval.packets for state in found) == last.capture.packets
    assert sum(state.interval.bytes for state in found) == last.totals.bytes
    assert sum(state.interval.lost_ns for state in found) == last.lost_ns
    for one in last.services:
        earlier = [
            row for state in found for row in state.services if (row.address, row.port) == (one.address, one.port)
        ]
        assert sum(row.new_lost_ns for row in earlier) == one.lost_ns > 0
    assert sum(one.lost_ns for one in last.services) == last.lost_ns


@pytest.mark.parametrize("size", [3_000, 9_000, 50_000])
def test_parts_of_long_connections_lose_nothing(many: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(following, "_MOST_PAST", 0)

    last = states(Played(parts_of(many, size)))[-1]

    whole = analyze(str(many), top=10)
    assert last.totals.parts > 1
    assert (last.totals.flows, last.totals.bytes) == (whole.total, whole.bytes)
    assert sum(last.time_ns.values()) == sum(whole.time_ns().values())
    assert last.lost_ns == pytest.approx(sum(whole.time_ns()[cause] for cause in Cause), rel=0.1)
    assert last.capture.packets == whole.captures[0].packets
    assert last.capture.trust == trust_of(many)
    ids = [flow.id for flow in last.flows]
    assert len(set(ids)) == len(ids)
    assert sum(one.flows for one in last.services) == last.totals.flows
    assert sum(one.open_flows for one in last.services) == last.totals.open_flows <= whole.total


def test_what_is_kept_of_a_connection_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_MOST_PAST", 50)
    capture = tmp_path / "hours.pcap"
    capture.write_bytes(pcap(asking(400)))

    found = states(Played(parts_of(capture, 9_000)))

    assert len(found) > 20
    assert max(len(flow.stalls) for state in found for flow in state.flows) <= 2 * 50
    last, whole = found[-1], analyze(str(capture))
    assert len(whole[0].stalls) > 700
    assert (last.totals.flows, last.totals.bytes) == (1, whole.bytes)
    assert last.totals.parts > 10
    assert last.lost_ns == pytest.approx(whole[0].lost_ns, rel=0.01)


def test_services_that_come_and_go_leave_and_no_time_is_lost(tmp_path: Path) -> None:
    capture = tmp_path / "visits.pcap"
    capture.write_bytes(pcap(visiting(4_300, every_ns=10**9)))

    found = states(Played(parts_of(capture, 60_000)))

    assert max(len(state.services) for state in found) < 1_500, (
        "those of ten minutes, and of the intervals at their ends"
    )
    last, whole = found[-1], _core.analyze([str(capture)], top=10)
    report = last.totals.report()
    assert (report.whole, report.bytes) == (whole.whole, whole.bytes)
    kept, all_of_them = (json.loads(one.findings_json) for one in (report, whole))
    assert len(kept) <= 1_100 < len(all_of_them)
    for what in ("time_ns", "recoverable_ns", "flows", "waits"):
        assert sum(one[what] or 0 for one in kept) == sum(one[what] or 0 for one in all_of_them)
    services = json.loads(report.services_json)
    assert len(services) <= 4_096 < len(json.loads(whole.services_json))
    line = json.loads(state_json(last))
    for what in ("connections", "bytes", "lost_ns"):
        total = {"connections": last.totals.flows, "bytes": last.totals.bytes, "lost_ns": last.lost_ns}[what]
        assert sum(one[what] for one in line["services"]) + line["other"][what] == total
    assert line["other"]["connections"] == 4_280


def test_quiet_services_leave_and_stay_in_the_sums(tmp_path: Path) -> None:
    once = of_fixture("lab/rpc-30k/sender.pcap")
    again = [replace(frame, time_ns=frame.time_ns + 900 * 10**9) for frame in once]
    capture = tmp_path / "twice.pcap"
    capture.write_bytes(pcap([*once, *again]))

    last = states(Played(parts_of(capture, 4_000)))[-1]

    assert [one.flows for one in last.services] == [1]
    assert last.services[0].first_ns == again[0].time_ns // 1_000 * 1_000
    assert facts(last.analysis()) == at_once(capture)


def test_what_was_dropped_is_told(many: Path) -> None:
    last = states(Played(parts_of(many, 50_000), Counts(captured=100, received=110, dropped=10)))[-1]

    assert last.capture.trust.dropped_packets == 10
    assert [warning.code for warning in last.capture.warnings] == ["capture-drops"]


def test_a_capture_without_packets_is_a_state_without_flows(many: Path) -> None:
    last = states(Played([many.read_bytes()[:24], b"", b""]))[-1]

    assert (last.capture.packets, last.flows, last.services, last.capture.error) == (0, (), (), None)


def test_a_packet_that_is_cut_at_the_end_is_an_error_of_the_capture(many: Path) -> None:
    whole = many.read_bytes()
    last = states(Played([whole[:20_000], whole[20_000:30_001]]))[-1]

    assert last.capture.exit_code == 5
    assert json.dumps(last.capture.error).count("\n") == 0


def test_what_cannot_be_kept_ends_the_capture_behind_a_last_state(many: Path) -> None:
    class Full:
        def keep(self, _header: bytes, _records: bytes) -> None:
            raise OSError(28, "No space left on device")

    capture = Played(parts_of(many, 20_000))
    seen: list[State] = []
    ring: object = Full()
    with pytest.raises(OSError, match="No space left"):
        seen.extend(following.Following(capture, interface="eth0", every_ns=10**9, ring=ring).states())  # type: ignore[arg-type]
    capture.stop()


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=30))
def test_the_feed_gives_whole_packets_and_loses_none(sizes: list[int]) -> None:
    data = pcap(of_fixture("lab/rpc-30k/sender.pcap")[:60])
    outlet, inlet = os.pipe()
    rest = data

    def write() -> None:
        nonlocal rest
        for size in [*sizes, len(data)]:
            os.write(inlet, rest[:size])
            rest = rest[size:]
        os.close(inlet)

    writer = threading.Thread(target=write)
    writer.start()
    kept = b""

    def keep(_header: bytes, records: bytes) -> None:
        nonlocal kept
        kept += records

    feed = Feed(outlet, keep)
    read = b""
    feed.interval(60)
    assert feed.read() == data[:24]
    while piece := feed.read():
        read += piece
    writer.join()
    os.close(outlet)
    assert feed.ended
    assert data[:24] + read == data
    assert kept == read


def test_an_interval_begins_with_its_first_read(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packets are read even where reading on from open connections takes longer than an interval."""
    now = 0.0
    monkeypatch.setattr("tcpstall.live.feed.time.monotonic", lambda: now)
    capture = Played([many.read_bytes()[:50_000]])
    feed = Feed(capture.pipe)
    feed.interval(1)
    now = 100.0

    assert len(feed.read()) == 24
    assert len(feed.read()) > 40_000
    now = 101.0
    assert feed.read() == b""
    capture.stop()
    capture.finish()
