"""The bench's tables say what was measured, and what could not be."""

import sys
from pathlib import Path

import pytest

from tests.documents import README
from tests.tools.bench import cache, table
from tests.tools.bench.__main__ import PAGE
from tests.tools.bench.cost import Cost, all_cores, cost, piped
from tests.tools.bench.table import MARK, Target


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (Target(20, " M packets/s"), 20.1, "≥ 20 M packets/s: met"),
        (Target(20, " M packets/s"), 19.9, "≥ 20 M packets/s: **missed**"),
        (Target(150, " MB", "≤"), 150, "≤ 150 MB: met"),
        (Target(150, " MB", "≤"), 151, "≤ 150 MB: **missed**"),
    ],
)
def test_a_target_is_met_or_missed(target: Target, value: float, verdict: str) -> None:
    assert target.judge(value) == verdict


def test_a_stopped_peer_can_meet_a_ratio_but_not_miss_it() -> None:
    assert Target(40, " ×").judge(50, at_least=True) == "≥ 40 ×: met"
    assert Target(40, " ×").judge(30, at_least=True) == "≥ 40 ×: not known"


def test_what_was_stopped_is_said_in_words() -> None:
    own, peer = Cost(2, 2, 30, 0), Cost(600, 600, 900, -9, stopped=True)
    assert table.seconds(peer) == "over 600 s"
    assert table.ratio(own, peer) == "> 300 ×"
    assert table.rate(6_000_000, peer) == "< 0.01 M"


def test_what_failed_has_no_figures() -> None:
    failed = Cost(0.1, 0.1, 30, 4)
    assert table.seconds(failed) == "failed (4)"
    assert table.ratio(failed, Cost(1, 1, 1, 0)) == table.rate(5, failed) == "–"


def test_a_slow_command_is_stopped() -> None:
    run = cost([sys.executable, "-c", "import time; time.sleep(60)"], all_cores(), 0.2)
    assert run.stopped
    assert run.exit_code < 0


def test_the_reader_of_a_pipe_is_measured_and_its_exit_code_kept() -> None:
    reader = [sys.executable, "-c", "import sys; sys.exit(len(sys.stdin.buffer.read()) % 256)"]
    run = piped(cache.generator("stalls", 3), reader, all_cores(), 60)
    handshake = 74 + 74 + 66
    assert (run.stopped, run.exit_code) == (False, (24 + 3 * 16 + handshake) % 256)


def test_a_capture_is_made_once_and_outlived_by_its_generators_change(tmp_path: Path) -> None:
    first = cache.capture(tmp_path, "stalls", 100)
    made = first.stat().st_mtime_ns
    assert cache.capture(tmp_path, "stalls", 100).stat().st_mtime_ns == made
    outdated = tmp_path / "stalls-100-00000000.pcap"
    first.rename(outdated)
    assert cache.capture(tmp_path, "stalls", 100) == first
    assert not outdated.exists()


def test_the_readme_has_the_figures_of_the_page() -> None:
    page, readme = PAGE.read_text(), README.read_text()
    assert page.index(MARK[0]) < page.index(MARK[1])
    shown = readme[readme.index(MARK[0]) + len(MARK[0]) : readme.index(MARK[1])]
    assert shown.strip().splitlines() == table.beside(page)


def test_a_command_that_was_not_measured_on_a_capture_has_no_figure_in_the_readme() -> None:
    rows = [
        ["long", "**tcpstall**", "1 s", "1", "1", "10 MB", "1", ""],
        ["", "`cat`", "2 s", "1", "1", "20 MB", "2", ""],
        ["short", "**tcpstall**", "3 s", "1", "1", "30 MB", "1", ""],
        ["", "**tcpstall** on two cores", "4 s", "1", "1", "40 MB", "1", ""],
    ]
    assert table.beside("\n".join(table.table(table.PEERS, rows)))[2:] == [
        "| long | 1 s, 10 MB | 2 s, 20 MB |",
        "| short | 3 s, 30 MB | – |",
    ]
