"""A flow of more segments than are kept is refused in words that name the limit."""

import re
from pathlib import Path

import numpy as np

from tcpstall import _core
from tcpstall.units import number
from tcpstall.whatif import Change, whatif
from tests.cli.conftest import Run, here
from tests.documents import REPOSITORY

__all__ = ["here"]

MOST_KEPT = 1_000_000
"""SECURITY.md: segments of a flow that are replayed."""

MOST_EXCHANGES = 10_000
"""Exchanges that are kept of a flow."""


def long_capture(path: Path, segments: int, *, answered: bool = False) -> Path:
    """A handshake, then so many segments of one byte, each acknowledged or answered by a byte, headers only."""
    kind = [("s", "<u4"), ("us", "<u4"), ("kept", "<u4"), ("long", "<u4"), ("version", "u1"), ("tos", "u1")]
    kind += [("total", ">u2"), ("id", ">u4"), ("ttl", "u1"), ("protocol", "u1"), ("sum", ">u2")]
    kind += [("from", ">u4"), ("to", ">u4"), ("source", ">u2"), ("target", ">u2"), ("seq", ">u4"), ("ack", ">u4")]
    kind += [("offset", "u1"), ("flags", "u1"), ("window", ">u2"), ("rest", ">u4")]
    packets = np.zeros(3 + 2 * segments, np.dtype(kind))
    client = np.arange(len(packets)) % 2 == 1
    client[0], client[1], client[2] = True, False, True
    data = client | answered
    data[:3] = False
    packets["kept"] = 40
    packets["total"] = packets["long"] = 40 + data
    packets["version"], packets["ttl"], packets["protocol"] = 0x45, 64, 6
    hosts, ports = (0xC0000201, 0xC0000202), (40_000, 80)
    packets["from"], packets["to"] = np.where(client, *hosts), np.where(client, *hosts[::-1])
    packets["source"], packets["target"] = np.where(client, *ports), np.where(client, *ports[::-1])
    asked, replied = (np.cumsum(data & own) - (data & own) for own in (client, ~client))
    packets["seq"] = 1 + np.where(client, asked, replied)
    packets["ack"] = 1 + np.where(client, replied, asked)
    packets["seq"][:2], packets["ack"][0], packets["ack"][1] = 0, 0, 1
    packets["offset"], packets["flags"], packets["window"] = 5 << 4, 0x10, 65_535
    packets["flags"][:2] = 2, 0x12
    clock = np.arange(len(packets)) * 10
    packets["s"], packets["us"] = clock // 1_000_000, clock % 1_000_000
    header = np.array([0xA1B2C3D4, 0x00040002, 0, 0, 65_535, 101], "<u4")
    path.write_bytes(header.tobytes() + packets.tobytes())
    return path


def test_a_flow_of_more_segments_than_are_kept_is_refused_by_name(tmp_path: Path, here: Run) -> None:
    capture = long_capture(tmp_path / "long.pcap", MOST_KEPT // 2 + 10)
    done = here("whatif", capture)
    assert done.returncode == 0, done.stderr
    shown = re.sub(r"\s+", " ", done.stdout)
    assert "no prediction: it is longer than what is replayed: 1,000,000 segments of one flow" in shown


def test_a_shorter_one_of_its_kind_is_not_called_too_long(tmp_path: Path) -> None:
    capture = long_capture(tmp_path / "short.pcap", 500)
    (forecast,) = whatif(capture).forecasts
    assert forecast.refused != "too-long"
    assert forecast.replayed is not None


def test_exchanges_beyond_those_that_are_kept_are_counted(tmp_path: Path, here: Run) -> None:
    capture = long_capture(tmp_path / "asked.pcap", MOST_EXCHANGES + 25, answered=True)
    (forecast,) = whatif(capture, changes=[[Change("nodelay", 1)]]).forecasts
    assert forecast.refused is None
    assert forecast.captured is not None
    assert len(forecast.captured.exchanges_ns) == MOST_EXCHANGES
    assert forecast.exchanges_left_out == 25
    shown = re.sub(r"\s+", " ", here("whatif", capture, "--set", "nodelay=1").stdout)
    assert "only its first 10,000 exchanges are kept" in shown
    assert "25 more exchanges are in the transfer alone" in shown


def test_the_limits_are_those_of_the_page() -> None:
    page = (REPOSITORY / ".github" / "SECURITY.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if "`whatif` and `report` replay" in line)
    assert re.findall(r"\d+(?:,\d{3})+", row) == [number(limit) for limit in _core.replay_limits()]
