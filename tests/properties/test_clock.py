"""Clocks that step back must not break what is always true."""

import io
from itertools import pairwise
from pathlib import Path

import dpkt
import pytest

import tcpstall

CAPTURE = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"


@pytest.mark.parametrize("step_s", [0.02, 0.5, 3600.0])
@pytest.mark.parametrize("at", [3, 20, 45, 57])
def test_a_step_back_leaves_one_owner_a_nanosecond_and_no_overlap(tmp_path: Path, step_s: float, at: int) -> None:
    reader = dpkt.pcap.Reader(io.BytesIO(CAPTURE.read_bytes()))
    stepped = tmp_path / "stepped.pcap"
    with stepped.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=reader.datalink())
        for number, (time, frame) in enumerate(reader):
            writer.writepkt(frame, float(time) + 7200 - (step_s if number >= at else 0))
    (flow,) = tcpstall.analyze(str(stepped))
    assert sum(flow.time_ns.values()) == flow.end_ns - flow.start_ns
    for sender in ("client", "server"):
        own = [(s.start_ns, s.end_ns) for s in flow.stalls if s.sender == sender and s.cause != "handshake"]
        assert all(start <= end for start, end in own)
        assert all(earlier[1] <= later[0] for earlier, later in pairwise(own))
    assert "time-went-back" in flow.notes
