"""The samples that pictures are drawn from: several flows from one reading, and the round trips that ACKs measured."""

from pathlib import Path

import pytest

import tcpstall
from tcpstall import _core

FIXTURES = Path(__file__).parents[2] / "fixtures"
SLOWSTART = FIXTURES / "slowstart-rtt7ms-512k.pcap"


def test_flows_of_several_captures_come_in_the_order_asked_for() -> None:
    paths = [str(SLOWSTART), str(SLOWSTART)]
    first, second = tcpstall.analyze(paths)

    later, earlier = _core.samples(paths, [second.id, first.id])

    assert len(later) == len(earlier) > 0
    assert later.column("time_ns") == earlier.column("time_ns")


def test_an_id_that_is_none_has_no_rows() -> None:
    (nothing,) = _core.samples([str(SLOWSTART)], [7])

    assert len(nothing) == 0


def test_a_capture_that_cannot_be_read_is_an_error_only_where_no_other_has_rows(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.pcap")

    with pytest.raises(OSError, match=r"none\.pcap"):
        _core.samples([missing], [0])
    assert len(_core.samples([missing, str(SLOWSTART)], [0])[0]) > 0


def test_the_round_trips_are_those_of_the_path() -> None:
    (flow,) = tcpstall.analyze(SLOWSTART)
    (samples,) = _core.samples([str(SLOWSTART)], [flow.id])

    measured = [rtt for rtt in samples.column("rtt_ns") if rtt is not None]

    assert flow.base_rtt_ns is not None
    assert len(measured) > 5
    assert min(measured) >= flow.base_rtt_ns
    assert max(measured) < 2 * flow.base_rtt_ns
