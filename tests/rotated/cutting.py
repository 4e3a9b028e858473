"""Captures cut into files as a rotation cuts them, and the flows of the files read as one."""

import gzip
import json
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tcpstall import _core
from tests.conftest import FIXTURES
from tests.formats.containers import Frames, pcap, pcapng, zstd
from tests.properties.frames import Frame, read_frames

KINDS: dict[str, Callable[[Frames], bytes]] = {
    "pcap": lambda frames: pcap(frames, nanoseconds=True),
    "pcapng": lambda frames: pcapng(frames, resolution=9),
    "pcap.gz": lambda frames: gzip.compress(pcap(frames, nanoseconds=True), mtime=0),
    "pcapng.zst": lambda frames: zstd(pcapng(frames, resolution=9)),
}

CAPTURES = (
    "lab/zero-window-6s/sender.pcap",
    "lab/rpc-30k/sender.pcap",
    "lab/idle-restart-on/receiver.pcap",
    "lab/edge-14480/sender.pcap",
    "slowstart-rtt7ms-512k.pcap",
)
"""The last of another link type than the others."""


def of_fixture(name: str) -> list[Frame]:
    return read_frames(FIXTURES / name)


def of_many_flows() -> list[Frame]:
    """Fixtures laid over each other, a third of a second apart."""
    frames: list[Frame] = []
    for place, name in enumerate(CAPTURES[:-1]):
        own = of_fixture(name)
        shift = 10**18 + place * 333_333_333 - own[0].time_ns
        frames += [Frame(frame.time_ns + shift, frame.data, frame.length, own[0].link) for frame in own]
    return sorted(frames, key=lambda frame: frame.time_ns)


def a_little_out_of_order(frames: Sequence[Frame]) -> st.SearchStrategy[list[Frame]]:
    """The frames with earlier times, each by up to 300 µs, where they stand."""
    late = st.lists(st.integers(0, 300_000), min_size=len(frames), max_size=len(frames))
    return late.map(
        lambda late: [
            Frame(frame.time_ns - by, frame.data, frame.length, frame.link)
            for frame, by in zip(frames, late, strict=True)
        ]
    )


def write(path: Path, frames: Sequence[Frame], kind: str = "pcap") -> str:
    path.write_bytes(KINDS[kind](frames))
    return str(path)


def cut(folder: Path, frames: Sequence[Frame], cuts: Sequence[int], kinds: Sequence[str] = ("pcap",)) -> list[str]:
    """Files that follow each other, cut before these frames, in these formats by turns."""
    bounds = [0, *sorted({at for at in cuts if 0 < at < len(frames)}), len(frames)]
    return [
        write(folder / f"part-{number:03}", frames[start:end], kinds[number % len(kinds)])
        for number, (start, end) in enumerate(pairwise(bounds))
    ]


def as_one(paths: Sequence[str], **options: Any) -> _core.Report:
    return _core.analyze(paths, sets=[0] * len(paths), **options)


def one_by_one(paths: Sequence[str], **options: Any) -> list[str]:
    """The flows of files that are read one after the other, each behind what those before it left open."""
    told: dict[int, str] = {}
    stream: bytes | None = None
    for path in paths:
        before = _core.stream_captures(stream) if stream is not None else []
        sets = [0] * (len(before) + 1)
        read = _core.analyze([*before, path], sets=sets, new_from=len(before), stream=stream, puts_down=True, **options)
        told |= {json.loads(flow)["id"]: flow for flow in flows(read)}
        stream = read.stream
    return [told[number] for number in sorted(told)]


def flows(report: _core.Report) -> list[str]:
    """Each flow's JSON, without the number of its capture."""
    texts = [report.flow_json(row) for row in range(len(report))]
    return [re.sub(r'"capture":\d+', '"capture":0', text, count=1) for text in texts]


def warned(report: _core.Report) -> list[dict[str, int]]:
    """The warnings of each capture, by code."""
    rows = [json.loads(status.json) for status in report.captures]
    return [{warning["code"]: warning["count"] for warning in row["warnings"]} for row in rows]


def stalls(report: _core.Report) -> list[tuple[int, str]]:
    """(milliseconds, cause) of each stall."""
    table = report.stalls
    durations = [duration // 1_000_000 for duration in table.column("duration_ns")]
    return list(zip(durations, table.column("cause"), strict=True))
