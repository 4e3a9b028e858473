"""The ring keeps the newest packets within its size, in files that are one capture."""

import stat
from pathlib import Path

from tcpstall import analyze
from tcpstall.live import Ring
from tests.formats.containers import pcap
from tests.properties.frames import Frame
from tests.rotated.cutting import of_fixture

FRAMES = of_fixture("lab/rpc-30k/sender.pcap")
SECOND_NS = 10**9


def kept(ring: Ring, frames: list[Frame]) -> None:
    for frame in frames:
        data = pcap([frame])
        ring.keep(data[:24], data[24:])
    ring.close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_its_files_are_read_as_one_capture(tmp_path: Path) -> None:
    kept(Ring(tmp_path, 16 * 1_000), FRAMES)
    capture = tmp_path.parent / "whole.pcap"
    capture.write_bytes(pcap(FRAMES))

    paths = [str(tmp_path / name) for name in names(tmp_path)]

    assert len(paths) > 2
    together, whole = analyze(paths, sets=[0] * len(paths)), analyze(str(capture))
    assert together.time_ns() == whole.time_ns()
    assert sum(one.packets for one in together.captures) == len(FRAMES)


def test_the_oldest_go_where_there_is_no_room_those_of_an_earlier_run_first(tmp_path: Path) -> None:
    kept(Ring(tmp_path, 16 * 200), FRAMES[:9])
    first = names(tmp_path)
    (tmp_path / "other.pcap").write_bytes(b"mine")

    kept(Ring(tmp_path, 16 * 200), FRAMES)

    left = [name for name in names(tmp_path) if name != "other.pcap"]
    assert sum((tmp_path / name).stat().st_size for name in left) <= 16 * 200
    assert not set(first) & set(left)
    assert (tmp_path / "other.pcap").read_bytes() == b"mine"
    assert analyze([str(tmp_path / left[-1])]).captures[0].last_ns == FRAMES[-1].time_ns // 1_000 * 1_000


def test_files_that_hold_a_time_are_found(tmp_path: Path) -> None:
    frames = [Frame(second * SECOND_NS, FRAMES[0].data, FRAMES[0].length, FRAMES[0].link) for second in range(1, 9)]
    ring = Ring(tmp_path, 16 * len(frames[0].data))
    kept(ring, frames)

    every = sorted(tmp_path.iterdir())
    assert len(every) == 8
    assert ring.between(3 * SECOND_NS, 5 * SECOND_NS) == every[2:5]
    assert ring.between(0, 10 * SECOND_NS) == every
    assert ring.between(9 * SECOND_NS, 9 * SECOND_NS) == every[-1:]
    assert ring.between(0, 0) == []


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    kept(Ring(tmp_path, 10**9), FRAMES[:1])

    assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()] == [0o600]
