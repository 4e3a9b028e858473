"""State of open connections at the end of rotated files, kept in the store: the next scan reads on from there."""

from collections.abc import Mapping
from functools import lru_cache, partial

from tcpstall import _core
from tcpstall.archive.storing.names import digest_in, new_digest, streams_name
from tcpstall.archive.storing.records import Stream
from tcpstall.archive.storing.storage import Place
from tcpstall.errors import CannotOpen

__all__ = ["Streams", "kept"]


def kept(place: Place, streams: Mapping[str, bytes]) -> list[Stream]:
    """Writes what these scans left open into one file. Raises CannotWrite."""
    if not streams:
        return []
    content = b"".join(streams.values())
    name = streams_name(content)
    place.put(name, content)
    found, start = [], 0
    for scan, stream in streams.items():
        found.append(Stream(scan, name, start, len(stream)))
        start += len(stream)
    return found


class Streams:
    """Reads them; many stand in one file."""

    def __init__(self, place: Place) -> None:
        # Not of a method of its own: Python would find out late that nobody has the place and its DuckDB any more.
        self._content = lru_cache(maxsize=2)(partial(_read, place))

    def read(self, stream: Stream) -> tuple[bytes, list[str]] | None:
        """As the core takes it, and the captures that it names; None where it is lost, or of another version."""
        content = self._content(stream.name)[stream.start :][: stream.bytes]
        try:
            return content, _core.stream_captures(content)
        except ValueError:
            return None


def _read(place: Place, name: str) -> bytes:
    try:
        content = place.read(name) or b""
    except CannotOpen:
        return b""
    digest = new_digest()
    digest.update(content)
    return content if digest.hexdigest() == digest_in(name) else b""
