"""A folder that keeps the newest packets of a capture, within a size."""

import os
import re
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from tcpstall.errors import CannotWrite

__all__ = ["Ring"]

_FILES = 16
"""Of a full ring: with the oldest of them a sixteenth of what is kept goes."""

_NAME = re.compile(r"tcpstall_(\d{5})_(\d{14})\.pcap")
_STAMP = "%Y%m%d%H%M%S"
_NUMBERS = 100_000
_PRIVATE = 0o600
_LITTLE = (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")


class Ring:
    """Files named as dumpcap names a ring's, which tcpstall and Wireshark's tools read as one capture.

    Files that an earlier run left in the folder belong to it too, and go first.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """Makes the folder where there is none. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._most = most_bytes
        found = sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), key=_stamp)
        self._files = deque((path, path.stat().st_size) for path in found)
        self._number = int(found[-1].name.split("_")[1]) if found else 0
        self._file: BinaryIO | None = None

    def keep(self, header: bytes, records: bytes) -> None:
        """Writes whole packets, and removes the oldest files that they leave no room for. Raises CannotWrite."""
        try:
            self._keep(header, records)
        except OSError as error:
            raise CannotWrite(f"cannot write {self.folder}: {error.strerror or error}") from error

    def _keep(self, header: bytes, records: bytes) -> None:
        if self._file is None or self._files[-1][1] + len(records) > self._most // _FILES:
            self.close()
            self._file = self._begun(header, records)
        self._file.write(records)
        self._file.flush()
        path, size = self._files.pop()
        self._files.append((path, size + len(records)))
        while len(self._files) > 1 and sum(size for _, size in self._files) > self._most:
            self._files.popleft()[0].unlink(missing_ok=True)

    def between(self, start_ns: int, end_ns: int) -> list[Path]:
        """The files that hold packets of that time, as far as they are still there, in order."""
        files = [path for path, _ in self._files]
        first, last = (datetime.fromtimestamp(at // 10**9, UTC).strftime(_STAMP) for at in (start_ns, end_ns))
        begun = [path for path in files if _stamp(path) <= last]
        over = sum(_stamp(path) <= first for path in begun[1:])
        return begun[over:]

    def close(self) -> None:
        """Closes the file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begun(self, header: bytes, records: bytes) -> BinaryIO:
        self._number = (self._number + 1) % _NUMBERS
        order = "little" if header.startswith(_LITTLE) else "big"
        second = int.from_bytes(records[:4], order)  # type: ignore[arg-type]
        path = self.folder / f"tcpstall_{self._number:05}_{datetime.fromtimestamp(second, UTC).strftime(_STAMP)}.pcap"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        file = open(os.open(path, flags, _PRIVATE), "wb")  # noqa: PTH123, SIM115 - a descriptor, open until the next
        file.write(header)
        self._files.append((path, len(header)))
        return file


def _stamp(path: Path) -> str:
    """The second of its first packet."""
    return path.stem.rpartition("_")[2]
