"""Members of a tar archive, read from its headers alone, so that captures are read where they lie.

The standard library's reader holds what a header claims in memory and stops at the first surprise; archives, too, are
strangers'. Formats: ustar and pax (POSIX.1-2017, pax, "ustar Interchange Format"), GNU (long names, large numbers). Not
read are sparse files and the v7 format, which has no magic.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import SEEK_CUR, SEEK_END, SEEK_SET, RawIOBase, UnsupportedOperation
from typing import Protocol

__all__ = ["Archive", "DamagedArchive", "Member", "Readable", "Tape", "is_tar"]

BLOCK = 512
"""Headers and contents begin at multiples of it."""

_MOST_EXTRA = 1 << 20
"""Bytes of a pax header or a long name. Names of a megabyte are an attack; PATH_MAX is 4 KiB."""

_LARGEST = 1 << 62
"""Beyond what any file holds: offsets stay within 64 bits."""

_READ_PAST = 1 << 20
"""Bytes read at once where contents are passed over."""

_REGULAR = frozenset(b"0\x007")
_WITHOUT_CONTENT = frozenset(b"123456")
_GNU_LONG_NAME, _GNU_LONG_LINK, _GNU_SPARSE = b"LKS"
_PAX, _PAX_GLOBAL = b"xg"
_NO_FILES = frozenset(b"KgVMDN")
"""GNU's long links, volume labels, continued files and folder listings; pax's defaults for all."""


class DamagedArchive(ValueError):
    """The archive cannot be read further; its text says where and why."""


class Readable(Protocol):
    """Source of bytes; fewer bytes than asked for are no end, no bytes are."""

    def read(self, size: int, /) -> bytes | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: where its content lies, or why it cannot be read."""

    name: str
    offset: int
    size: int
    problem: str | None = None


def is_tar(head: bytes) -> bool:
    """True if these first bytes, 512 of them, are a tar header: its magic and its checksum."""
    return len(head) >= BLOCK and head[257:262] == b"ustar" and _sums_up(head[:BLOCK])


class Tape:
    """Bytes by offset, of what can be sought in or can only be read forward and opened again; several may read it."""

    def __init__(
        self, source: Callable[[], Readable], *, length: int | None = None, failed: Callable[[], bool] = lambda: False
    ) -> None:
        """`length`: of what can be sought in; None where it can only be read forward. `failed`: see the property."""
        self._source = source
        self._length = length
        self._has_failed = failed
        self._stream = source()
        self._at = 0
        self._holders = 1
        self._lock = threading.Lock()

    @property
    def failed(self) -> bool:
        """The file could not be read, which says nothing of what is in it; this tape is of no more use."""
        return self._has_failed()

    def read(self, offset: int, size: int) -> bytes:
        """Reads `size` bytes from `offset`, fewer only at the end."""
        with self._lock:
            if not self._goes_to(offset):
                return b""
            pieces = []
            while size > 0 and (piece := self._stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
                self._at += len(piece)
            return b"".join(pieces)

    def reaches(self, offset: int) -> bool:
        """True if there are at least `offset` bytes; a tape that can only be read forward is read up to there."""
        with self._lock:
            return self._goes_to(offset)

    def held(self) -> "Tape":
        """For one more reader, who lets go of it in the end."""
        with self._lock:
            self._holders += 1
        return self

    def let_go(self) -> None:
        """Gives the source back once nobody holds it: whoever made it does."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                _closed(self._stream)

    def _goes_to(self, offset: int) -> bool:
        if self._length is not None:
            if offset != self._at:
                self._stream.seek(offset)  # type: ignore[attr-defined]
                self._at = offset
            return offset <= self._length
        if offset < self._at:
            _closed(self._stream)
            self._stream = self._source()
            self._at = 0
        while self._at < offset:
            piece = self._stream.read(min(offset - self._at, _READ_PAST))
            if not piece:
                return False
            self._at += len(piece)
        return True


class Archive:
    """The members of a tape in their order, found as far as somebody asks."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._members: list[Member] = []
        self._known: dict[str, Member] = {}
        self._next = 0
        self._ended = False
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Member]:
        """Every regular file; raises DamagedArchive where the archive is cut or no archive any more."""
        given = 0
        while given < len(self._members) or self._found_another(given):
            yield self._members[given]
            given += 1

    def member(self, name: str) -> Member | None:
        """The one of that name, as the iteration gives it."""
        while name not in self._known and self._found_another(len(self._members)):
            pass
        return self._known.get(name)

    def window(self, member: Member) -> "Window":
        """Its content as a file."""
        return Window(self.tape, member)

    def _found_another(self, beyond: int) -> bool:
        """True if there are more than `beyond` members."""
        with self._lock:
            return len(self._members) > beyond or self._further() is not None

    def _further(self) -> Member | None:
        """The next regular file, which is remembered; None at the end."""
        name: str | None = None
        size: int | None = None
        problem: str | None = None
        while not self._ended:
            at = self._next
            header = self._header(at)
            if header is None:
                break
            kind = header[156]
            extra = kind in (_GNU_LONG_NAME, _GNU_LONG_LINK, _PAX, _PAX_GLOBAL)
            length = _number(header[124:136], at) if size is None or extra else size
            content = at + BLOCK
            if kind == _GNU_SPARSE:
                content = self._after_sparse_map(header, content)
            self._next = content + (0 if kind in _WITHOUT_CONTENT else -(-length // BLOCK) * BLOCK)
            if kind == _GNU_LONG_NAME:
                name = _text(self._extra(content, length, at).split(b"\0")[0])
            elif kind == _PAX:
                path, size, sparse = _pax(self._extra(content, length, at), at)
                name = path or name
                problem = "a sparse file of GNU tar" if sparse else None
            elif kind not in _NO_FILES:
                own = name if name is not None else _own_name(header)
                if kind == _GNU_SPARSE:
                    problem = "a sparse file of GNU tar"
                if kind in _REGULAR | {_GNU_SPARSE} and not own.endswith("/"):
                    return self._remembered(Member(own.removeprefix("./"), content, length, problem))
                name, size, problem = None, None, None
        return None

    def _remembered(self, member: Member) -> Member:
        """Under a name that no earlier one has: an archive may hold a file twice."""
        name, copy = member.name, 1
        while name in self._known:
            copy += 1
            name = f"{member.name} ({copy})"
        member = Member(name, member.offset, member.size, member.problem)
        self._known[name] = member
        self._members.append(member)
        return member

    def _header(self, at: int) -> bytes | None:
        if not self.tape.reaches(at):
            self._ended = True
            raise DamagedArchive(f"the archive is cut before offset {at}, in the middle of a file")
        header = self.tape.read(at, BLOCK)
        if len(header) == BLOCK and any(header):
            if _sums_up(header):
                return header
            self._ended = True
            raise DamagedArchive(f"offset {at}: a tar header is expected here, and its checksum is wrong")
        self._ended = True
        if header and len(header) < BLOCK:
            raise DamagedArchive(f"the archive is cut at offset {at + len(header)}, in the middle of a header")
        return None

    def _extra(self, offset: int, length: int, at: int) -> bytes:
        if length > _MOST_EXTRA:
            self._ended = True
            raise DamagedArchive(f"offset {at}: a name or pax header of {length} bytes; at most {_MOST_EXTRA} are read")
        return self.tape.read(offset, length)

    def _after_sparse_map(self, header: bytes, content: int) -> int:
        """GNU's old sparse format: more of the map stands between header and content while a flag says so."""
        more = header[482]
        while more and len(block := self.tape.read(content, BLOCK)) == BLOCK:
            content += BLOCK
            more = block[504]
        return content


class Window(RawIOBase):
    """The content of one member, read through the archive's tape at a position of its own."""

    def __init__(self, tape: Tape, member: Member) -> None:
        super().__init__()
        self._tape = tape.held()
        self._member = member
        self._at = 0

    @property
    def size(self) -> int:
        """Bytes in all, as the archive says."""
        return self._member.size

    @property
    def failed(self) -> bool:
        """See the tape's: the archive could not be read, which says nothing of what is in it."""
        return self._tape.failed

    def close(self) -> None:
        if not self.closed:
            self._tape.let_go()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        base = {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self.size}[whence]
        if base + offset < 0:
            raise UnsupportedOperation("before the beginning")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        left = max(self.size - self._at, 0)
        wanted = left if size is None or size < 0 else min(size, left)
        piece = self._tape.read(self._member.offset + self._at, wanted) if wanted else b""
        self._at += len(piece)
        return piece

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _closed(stream: Readable) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def _sums_up(header: bytes) -> bool:
    """The checksum is taken with its own field as spaces."""
    try:
        told = int(header[148:156].split(b"\0")[0].strip() or b"-1", 8)
    except ValueError:
        return False
    return told == sum(header) - sum(header[148:156]) + 8 * 0x20


def _number(field: bytes, at: int) -> int:
    """Octal digits, or GNU's base 256 where the first bit is set."""
    try:
        value = int.from_bytes(field[1:], "big") if field[0] == 0x80 else int(field.split(b"\0")[0].strip() or b"0", 8)
    except ValueError:
        value = -1
    if not 0 <= value < _LARGEST:
        raise DamagedArchive(f"offset {at}: a tar header without a size")
    return value


def _own_name(header: bytes) -> str:
    name = header[:100].split(b"\0")[0]
    prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return _text(prefix + b"/" + name if prefix else name)


def _text(name: bytes) -> str:
    """As text that can be written anywhere: bytes that are not UTF-8 are spelled out."""
    return name.decode("utf-8", "backslashreplace")


def _pax(records: bytes, at: int) -> tuple[str | None, int | None, bool]:
    """Path, size and whether it is sparse, of records like `15 path=a.pcap` and a line end, which count themselves."""
    path: str | None = None
    size: int | None = None
    sparse = False
    while records.strip(b"\0"):
        told, _, _ = records.partition(b" ")
        length = int(told) if told.isdigit() and len(told) < 9 else 0
        key, equals, value = records[len(told) + 1 : max(length - 1, 0)].partition(b"=")
        if not equals or records[length - 1 : length] != b"\n":
            raise DamagedArchive(f"offset {at}: a pax header that cannot be understood")
        if key == b"path":
            path = _text(value)
        elif key == b"size" and value.isdigit() and len(value) < 20:
            size = min(int(value), _LARGEST)
        sparse = sparse or key.startswith(b"GNU.sparse.")
        records = records[length:]
    return path, size, sparse
