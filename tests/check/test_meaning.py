"""Each spelling of a limit has one meaning, which the analysis of the same capture confirms."""

import statistics
from pathlib import Path
from typing import Any, cast

import pytest

import tcpstall
from tcpstall import Cause, _core
from tcpstall.check import Checking
from tcpstall.cli.options.rules import written
from tests.check.flows import Told, lossy, played, refused, thinking, unreachable


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Six flows that lost time to different causes."""
    return played(tmp_path, thinking(100, 200), thinking(300), thinking(50, 50, 900), lossy, refused, unreachable)


def of_flows(path: Path, cause: Cause) -> list[int]:
    return [flow.time_ns.get(cause, 0) for flow in tcpstall.analyze(path)]


def test_a_span_is_of_the_worst_flow(mixed: Path, told: Told) -> None:
    assert told.value(mixed, "--max", "app-limited=1h") == max(of_flows(mixed, Cause.APP_LIMITED)) > 900e6


def test_a_total_is_of_all_flows(mixed: Path, told: Told) -> None:
    assert told.value(mixed, "--max", "total-app-limited=1h") == sum(of_flows(mixed, Cause.APP_LIMITED))


def test_a_share_is_one_of_the_flows_time_together(mixed: Path, told: Told) -> None:
    flows = list(tcpstall.analyze(mixed))
    for name, lost in (("lost", [flow.lost_ns for flow in flows]), ("app-limited", of_flows(mixed, Cause.APP_LIMITED))):
        share = sum(lost) / sum(flow.duration_ns for flow in flows)
        assert told.value(mixed, "--max", f"{name}=100%") == pytest.approx(share)


def test_flows_are_counted_that_have_any_of_it(mixed: Path, told: Told) -> None:
    having = sum(span > 0 for span in of_flows(mixed, Cause.RETRANSMISSION))
    assert told.value(mixed, "--max", "retransmission=3flows") == having == 1


@pytest.mark.parametrize("percentile", [1, 33, 50, 83, 84, 99])
def test_a_percentile_is_the_nearest_rank_over_the_flows(mixed: Path, told: Told, percentile: int) -> None:
    spans = sorted(of_flows(mixed, Cause.APP_LIMITED))
    rank = -(-percentile * len(spans) // 100)
    assert told.value(mixed, "--max", f"p{percentile}-app-limited=1h") == spans[rank - 1]


def test_a_handshakes_percentiles_are_over_those_that_were_captured(tmp_path: Path, told: Told) -> None:
    late = thinking(10)
    whole = played(tmp_path, late, late)
    cut = played(tmp_path / "cut", late)
    begun_before = cut.with_name("cut.pcap")
    data = cut.read_bytes()
    # The first three records of the second file are its handshake: without them nobody knows how long it took.
    at = 24
    for _ in range(3):
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
    begun_before.write_bytes(data[:24] + data[at:])
    (rule,) = told.report(whole, begun_before, "--max", "p50-handshake=1s")["rules"]
    assert (rule["measured"], rule["state"]) == (2, "holds")
    assert rule["value"] == pytest.approx(20e6, rel=0.01)


def test_latency_is_of_exchanges_not_of_flows(mixed: Path, told: Told) -> None:
    latencies = [one.latency_ns for flow in tcpstall.analyze(mixed) for one in flow.exchanges]
    (rule,) = told.report(mixed, "--max", "latency=1h")["rules"]
    assert (rule["value"], rule["measured"]) == (max(latencies), len(latencies))
    assert len(latencies) == 7
    assert told.value(mixed, "--max", "p50-latency=1h") == statistics.median_low(latencies)


def test_outcomes_are_counted_and_shares_are_of_the_flows(mixed: Path, told: Told) -> None:
    for name in ("refused", "unreachable"):
        assert told.value(mixed, "--max", f"{name}=1flow") == 1
        assert told.value(mixed, "--max", f"{name}=100%") == pytest.approx(1 / 6)
        assert told.state(mixed, "--forbid", name) == "broken"
    for name in ("gone", "aborted", "half-open"):
        assert told.state(mixed, "--forbid", name) == "holds"


def test_retransmitted_is_a_share_of_the_bytes(mixed: Path, told: Told) -> None:
    ends = [end for flow in tcpstall.analyze(mixed) for end in flow.directions.values()]
    share = sum(end.retransmitted_bytes for end in ends) / sum(end.bytes for end in ends)
    assert told.value(mixed, "--max", "retransmitted=100%") == pytest.approx(share)
    assert share > 0
    assert told.value(mixed, "--max", "retransmitted=9flows") == 1


def test_a_limit_that_is_just_reached_is_kept(mixed: Path, told: Told) -> None:
    most = max(of_flows(mixed, Cause.APP_LIMITED))
    assert told.state(mixed, "--max", f"app-limited={most}ns") == "holds"
    assert told.state(mixed, "--max", f"app-limited={most - 1}ns") == "broken"
    assert told.state(mixed, "--max", "retransmission=1flow") == "holds"
    assert told.state(mixed, "--max", "retransmission=0flows") == told.state(mixed, "--forbid", "retransmission")


def test_cause_narrows_what_counts_as_lost(mixed: Path, told: Told) -> None:
    narrowed = told.value(mixed, "--max", "total-lost=1h", "--cause", "retransmission", "--cause", "handshake")
    assert narrowed == sum(of_flows(mixed, Cause.RETRANSMISSION)) + sum(of_flows(mixed, Cause.HANDSHAKE))


def test_the_parts_in_which_flows_come_change_nothing(mixed: Path) -> None:
    limits = ["app-limited=1ms", "p50-lost=1ms", "lost=1%", "p95-latency=1ms", "retransmitted=1%", "refused=5%"]
    rules = [rule for several in written(limits, ["retransmission,gone"]).values() for rule in several]
    found = []
    for chunk in (1, 10_000):
        checking = Checking(rules, confidence=0.75)
        _core.analyze([str(mixed)], bursts=False, each=checking.take, chunk=chunk)
        found.append(checking.checked(()))
    assert found[0] == found[1]
    assert [verdict.rule.text for verdict in found[0].verdicts if verdict.state == "holds"] == [
        "max retransmitted=1%",
        "forbid gone",
    ]
    assert len(found[0].those("broken")) == 6


class _Counted:
    """A report that counts how many flows are read as JSON."""

    def __init__(self, report: _core.Report) -> None:
        self._report = report
        self.read = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._report, name)

    def __len__(self) -> int:
        return len(self._report)

    def flow_json(self, index: int) -> str:
        self.read += 1
        return self._report.flow_json(index)


@pytest.mark.parametrize("limit", ["refused=5%", "gone=0flows"])
def test_of_all_flows_at_most_the_worst_are_read_as_json(tmp_path: Path, limit: str) -> None:
    path = played(tmp_path, *[refused] * 12)
    checking = Checking(written([limit], [])[limit.partition("=")[0]], confidence=0.75)
    report = _Counted(_core.analyze([str(path)], bursts=False))
    checking.take(cast(_core.Report, report))
    assert (checking.flows, report.read <= 2) == (12, True)
