"""A file that changes while it is read: the flows so far are reported, and an error says what happened."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall import _core
from tcpstall.errors import ExitCode

RECORD = struct.pack("<IIII", 1, 0, 0, 60)
"""A packet of which nothing was kept."""

RECORDS = 300_000
"""The core tells of its progress every 2¹⁸ packets: then the file is changed."""


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "long.pcap"
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + RECORDS * RECORD)
    return path


def read_while(capture: Path, change: Callable[[], None]) -> _core.CaptureStatus:
    changed = False

    def progress(_read: int, _size: int | None) -> None:
        nonlocal changed
        if not changed:
            changed = True
            change()

    (status,) = _core.analyze([str(capture)], progress=progress).captures
    assert changed
    return status


def test_a_file_that_shrinks_is_an_error_that_says_so(capture: Path) -> None:
    size = capture.stat().st_size
    status = read_while(capture, lambda: os.truncate(capture, 1000))
    assert status.exit_code == ExitCode.DAMAGED
    assert f"the file shrank from {size} to 1000 bytes while it was read" in (status.error or "")


def test_a_file_that_is_written_over_is_an_error_that_says_so(capture: Path) -> None:
    status = read_while(capture, lambda: os.utime(capture, (1, 1)))
    assert status.exit_code == ExitCode.DAMAGED
    assert "the file was written to while it was read" in (status.error or "")


def test_a_file_that_grows_is_a_capture_still_being_written(capture: Path) -> None:
    def grow() -> None:
        with capture.open("ab") as file:
            file.write(RECORD)

    status = read_while(capture, grow)
    assert (status.exit_code, status.error) == (ExitCode.COMPLETE, None)


def other_bytes(size: int) -> bytes:
    """A capture of other packets, as long as wished."""
    record = struct.pack("<IIII", 2, 0, 0, 80)
    header = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    return (header + record * (size // len(record) + 1))[:size]


def in_place(capture: Path, packets: int) -> None:
    """Writes another capture of so many packets over it."""
    with capture.open("r+b") as file:
        file.write(other_bytes(24 + packets * len(RECORD)))


def copied_over(capture: Path) -> None:
    """As `cp` does it: the file is emptied, then filled."""
    capture.write_bytes(other_bytes(24 + 2 * RECORDS * len(RECORD)))


def put_back(capture: Path) -> None:
    """The file's length and time are as they were."""
    before = capture.stat()
    in_place(capture, RECORDS)
    os.utime(capture, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda capture: in_place(capture, 2 * RECORDS), id="in place by a larger one"),
        pytest.param(copied_over, id="emptied, then by a larger one"),
        pytest.param(lambda capture: in_place(capture, RECORDS), id="by one as long"),
        pytest.param(put_back, id="by one as long, and its time is put back"),
    ],
)
def test_a_file_that_is_rewritten_never_passes_for_one_that_grows(
    capture: Path, change: Callable[[Path], None]
) -> None:
    status = read_while(capture, lambda: change(capture))
    assert status.exit_code == ExitCode.DAMAGED
    assert "the file was written to while it was read" in (status.error or "")


def test_a_file_that_only_gets_other_permissions_is_read_to_its_end(capture: Path) -> None:
    status = read_while(capture, lambda: capture.chmod(0o600))
    assert (status.exit_code, status.error) == (ExitCode.COMPLETE, None)
