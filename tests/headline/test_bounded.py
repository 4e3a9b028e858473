"""Findings take bounded memory, and what is beyond their limits is still counted."""

from pathlib import Path

from tcpstall import analyze
from tcpstall.findings import findings, sentence
from tcpstall.findings.finding import read
from tests.crowd.captures import syns

KEPT, LAST = 4_096, 1_000


def test_services_beyond_the_limit_are_counted_with_their_hosts(tmp_path: Path) -> None:
    count = 3 * KEPT
    analysis = analyze(syns(tmp_path / "syns.pcap", count, apart_us=1_000), top=10)
    rows = read(analysis.findings_facts)
    assert len(rows) <= 2 * KEPT + 1
    late = [row for row in rows if row.port is None]
    assert late
    assert sum(row.flows for row in rows) == count - LAST, "the last second is too early to say"
    first, *_ = findings(analysis)
    assert (first.kind, first.flows) == ("unreachable", count - LAST)
    assert "unreachable" in sentence(first)
