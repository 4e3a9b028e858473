"""Labels of flows, read by dpkt in the first bytes that the ends sent: an HTTP request line, a TLS server name."""

import struct
from typing import NamedTuple

__all__ = ["Label", "read_label"]

_LONGEST = 200
"""Characters of a label; a request line may take kilobytes."""

_RECORD_HEADER = 5
_HELLO_HEADER = 4
_TLS_HANDSHAKE = 22
_CLIENT_HELLO = 1
_SERVER_NAME = 0
_PROTOCOLS = 16


class Label(NamedTuple):
    """Content of a flow; names are in lower case and without a port, None where the capture does not hold them."""

    source: str
    """`http` or `tls`."""
    text: str
    """`GET /x HTTP/1.1 host`, `example.org h2`."""
    server_name: str | None = None
    """The name in the TLS hello (RFC 6066 §3)."""
    http_host: str | None = None
    """The Host of the first request."""
    http_method: str | None = None
    http_status: int | None = None
    """The status of the first response."""


def read_label(client: bytes, server: bytes) -> Label | None:
    """None where there is nothing to read.

    `client` and `server` are the first payload bytes of each end, cut where the snap length or tcpstall cut them: what
    is there is read. Which end is the server may be a guess, so the request may be in either.
    """
    for start, answer in ((client, server), (server, client)):
        label = _tls(start) if start[:1] == bytes([_TLS_HANDSHAKE]) else _http(start, answer)
        if label:
            return label
    return None


def _http(start: bytes, answer: bytes) -> Label | None:
    head, ended, _ = start.partition(b"\n")
    words = head.split()
    if len(words) < 2 or not words[0].isalpha():
        return None
    line = head.strip() if ended else b" ".join([*head.split()])
    text = _plain(line) + ("" if ended else "…")
    host = _host(start)
    text = _short(f"{text} {host}" if host else text)
    return Label("http", text, None, _name(host), _short(_plain(words[0])), _status(answer))


def _status(answer: bytes) -> int | None:
    """RFC 9112 §4: the version, a space, three digits."""
    version, _, status = answer[:12].partition(b" ")
    return int(status) if version.startswith(b"HTTP/1.") and len(status) == 3 and status.isdigit() else None


def _name(shown: str) -> str | None:
    """A host name as it is compared: in lower case, without a port and the dot of the root."""
    host, colon, port = shown.rpartition(":")
    name = host if colon and port.isdecimal() else shown
    return _short(name.lower().rstrip(".")) or None


def _host(start: bytes) -> str:
    """The Host field, if the request holds it whole."""
    from dpkt import UnpackError
    from dpkt.http import Request

    whole = start[: start.rfind(b"\n") + 1]
    request = Request()
    try:
        request.unpack(_without_body(whole))
    except (UnpackError, ValueError, AttributeError):
        return ""
    host = request.headers.get("host", "")
    return _plain((host[0] if isinstance(host, list) else host).encode())


def _without_body(request: bytes) -> bytes:
    """The line and the fields, without those that make dpkt look for a body that is not there."""
    head = request.partition(b"\r\n\r\n")[0].split(b"\r\n")
    fields = [line for line in head[1:] if line.partition(b":")[0].strip().lower() == b"host"]
    return b"\r\n".join([head[0], *fields, b"", b""])


def _tls(start: bytes) -> Label | None:
    from dpkt import UnpackError
    from dpkt.ssl import TLSClientHello

    if len(start) <= _RECORD_HEADER + _HELLO_HEADER or start[_RECORD_HEADER] != _CLIENT_HELLO:
        return None
    # A hello that is longer than its first record goes on in the next; the first is enough for what is read here.
    try:
        hello = TLSClientHello(_whole_extensions(start[_RECORD_HEADER + _HELLO_HEADER :]))
    except (UnpackError, struct.error, IndexError, ValueError):
        return None
    extensions = dict(getattr(hello, "extensions", ()))
    name = _server_name(extensions.get(_SERVER_NAME, b""))
    words = [name, *_protocols(extensions.get(_PROTOCOLS, b""))]
    label = " ".join(word for word in words if word)
    return Label("tls", _short(label), _name(name)) if label else None


def _whole_extensions(hello: bytes) -> bytes:
    """The hello up to its last whole extension, with the extensions' length corrected to that."""
    position = 34  # version and random
    for size in (1, 2, 1):  # session, cipher suites, compression methods: each after its length
        position += size + int.from_bytes(hello[position : position + size])
    first = position + 2
    end = last = first
    while last + 4 <= len(hello) and (end := last + 4 + int.from_bytes(hello[last + 2 : last + 4])) <= len(hello):
        last = end
    return hello[:position] + struct.pack("!H", last - first) + hello[first:last]


def _server_name(extension: bytes) -> str:
    """RFC 6066 §3: a list's length, a type, a name's length, the name."""
    size = int.from_bytes(extension[3:5])
    return _plain(extension[5 : 5 + size])


def _protocols(extension: bytes) -> list[str]:
    """RFC 7301 §3.1: a list's length, then each name after its own."""
    names, position = [], 2
    while position < len(extension):
        size = extension[position]
        names.append(_plain(extension[position + 1 : position + 1 + size]))
        position += 1 + size
    return names


def _plain(data: bytes) -> str:
    """Printable ASCII; a capture must not steer the reader's terminal."""
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in data)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
