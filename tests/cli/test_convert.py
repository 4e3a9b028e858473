"""`tcpstall convert` writes a pcap that an independent reader understands."""

import json
from pathlib import Path
from typing import Any

import dpkt
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def converted(here: Run, paste: Path, tmp_path: Path) -> Path:
    output = tmp_path / "out.pcap"
    done = here("convert", paste, "-o", output)
    assert done.returncode == 0, done.stderr
    assert "58 packets" in done.stderr
    return output


def _packets(path: Path) -> list[tuple[float, bytes]]:
    with path.open("rb") as file:
        return list(dpkt.pcap.Reader(file))


def _wire_lengths(path: Path) -> list[int]:
    data, offset, lengths = path.read_bytes(), 24, []
    while offset < len(data):
        kept, whole = (int.from_bytes(data[offset + at : offset + at + 4], "little") for at in (8, 12))
        lengths.append(whole)
        offset += 16 + kept
    return lengths


def test_sequence_numbers_are_absolute_and_options_are_kept(converted: Path) -> None:
    (_, first), (_, second), (_, third), *_ = _packets(converted)
    syn, syn_ack, ack = (dpkt.ip.IP(packet).data for packet in (first, second, third))
    assert (syn.seq, syn.win, syn.flags) == (2185246534, 64240, dpkt.tcp.TH_SYN)
    assert (syn_ack.seq, syn_ack.ack) == (1670507718, 2185246535)
    assert (ack.seq, ack.ack) == (2185246535, 1670507719)
    options = dict(dpkt.tcp.parse_opts(syn.opts))
    assert options[dpkt.tcp.TCP_OPT_MSS] == (1460).to_bytes(2)
    assert options[dpkt.tcp.TCP_OPT_WSCALE] == b"\x07"
    assert options[dpkt.tcp.TCP_OPT_TIMESTAMP][:4] == (997937981).to_bytes(4)


def test_payload_is_cut_but_lengths_are_those_of_the_wire(converted: Path) -> None:
    packets = _packets(converted)
    assert max(len(packet) for _, packet in packets) == 128
    ip = dpkt.ip.IP(packets[3][1])
    assert ip.len - 20 - ip.data.off * 4 == 147
    assert _wire_lengths(converted) == [dpkt.ip.IP(packet).len for _, packet in packets]


def test_times_are_those_of_the_paste(converted: Path) -> None:
    packets = _packets(converted)
    assert [f"{time % 60:.6f}" for time, _ in (packets[0], packets[-1])] == ["49.051409", "49.114472"]


def test_the_capture_gets_the_same_diagnosis_as_the_paste(here: Run, paste: Path, converted: Path) -> None:
    one, other = (_flow(here, path) for path in (paste, converted))
    assert one["stalls"] == other["stalls"]
    assert one["time_ns"] == other["time_ns"]


def test_a_failure_leaves_no_file_behind(here: Run, paste: Path, tmp_path: Path) -> None:
    done = here("convert", paste, "-o", tmp_path / "missing" / "out.pcap")
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert list(tmp_path.iterdir()) == []


def _flow(here: Run, path: Path) -> dict[str, Any]:
    (flow,) = json.loads(here("analyze", path, "--format", "json").stdout)["flows"]
    assert isinstance(flow, dict)
    return flow
