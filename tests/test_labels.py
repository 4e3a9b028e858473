"""Labels of flows are read in their first payload, as far as the capture holds it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tcpstall
from tcpstall.labels import read_label
from tests.scene import Scene

REQUEST = (
    b"GET /reports/2026?page=2 HTTP/1.1\r\nAccept: */*\r\nHost: reports.example.org\r\n"
    b"Content-Length: 5000\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def hello(name: str = "www.example.org", *, protocols: tuple[str, ...] = ("h2", "http/1.1"), before: int = 0) -> bytes:
    """A TLS ClientHello; `before` bytes of padding precede the server name."""
    entry = b"\0" + struct.pack("!H", len(name)) + name.encode()
    names = struct.pack("!H", len(entry)) + entry
    listed = b"".join(bytes([len(protocol)]) + protocol.encode() for protocol in protocols)
    known = [(21, bytes(before))] if before else []
    known += [(0, names)] if name else []
    known += [(16, struct.pack("!H", len(listed)) + listed)] if protocols else []
    extensions = b"".join(struct.pack("!HH", kind, len(body)) + body for kind, body in known)
    body = struct.pack("!H", 0x0303) + bytes(32) + b"\x20" + bytes(32) + b"\0\4\x13\x01\x13\x02" + b"\1\0"
    body += struct.pack("!H", len(extensions)) + extensions
    message = b"\1" + len(body).to_bytes(3) + body
    return b"\x16\x03\x01" + struct.pack("!H", len(message)) + message


def text(client: bytes, server: bytes = b"") -> tuple[str, str] | None:
    label = read_label(client, server)
    return label and label[:2]


def test_a_request_line_comes_with_its_host() -> None:
    assert text(REQUEST) == ("http", "GET /reports/2026?page=2 HTTP/1.1 reports.example.org")


def test_a_cut_request_gives_as_much_as_there_is() -> None:
    assert text(REQUEST[:20]) == ("http", "GET /reports/2026?pa…")
    assert text(REQUEST[:40]) == ("http", "GET /reports/2026?page=2 HTTP/1.1")
    assert text(REQUEST[:60]) == ("http", "GET /reports/2026?page=2 HTTP/1.1")


def test_a_hello_gives_its_server_name_and_protocols() -> None:
    assert text(hello()) == ("tls", "www.example.org h2 http/1.1")


def test_a_cut_hello_gives_what_comes_before_the_cut() -> None:
    whole = hello()
    assert text(whole[: len(whole) - 3]) == ("tls", "www.example.org")
    assert read_label(whole[:60], b"") is None
    assert read_label(hello(before=900)[:512], b"") is None


def test_a_hello_without_a_name_has_its_protocols_or_nothing() -> None:
    assert text(hello("")) == ("tls", "h2 http/1.1")
    assert read_label(hello("", protocols=()), b"") is None


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("www.Example.org:8080", "www.example.org"),
        ("localhost", "localhost"),
        ("example.org.", "example.org"),
        ("[2001:db8::1]:443", "[2001:db8::1]"),
        ("", None),
    ],
)
def test_a_host_is_told_as_it_is_compared(shown: str, name: str | None) -> None:
    label = read_label(b"GET / HTTP/1.1\r\nHost: " + shown.encode() + b"\r\n\r\n", b"")
    assert label is not None
    assert label.http_host == name


def test_the_parts_of_a_label_stand_for_themselves() -> None:
    assert read_label(REQUEST, b"HTTP/1.1 404")[2:] == (None, "reports.example.org", "GET", 404)  # type: ignore[index]
    assert read_label(b"HTTP/1.0 200", REQUEST)[2:] == (None, "reports.example.org", "GET", 200)  # type: ignore[index]
    assert read_label(hello(), b"")[2:] == ("www.example.org", None, None, None)  # type: ignore[index]
    assert read_label(hello(""), b"")[2:] == (None, None, None, None)  # type: ignore[index]


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 20", b"HTTP/1.1 2x0", b"HTTP/2.0 200", b"+200 OK HTTP"])
def test_what_is_no_status_is_none(answer: bytes) -> None:
    label = read_label(REQUEST, answer)
    assert label is not None
    assert label.http_status is None


def test_the_request_may_come_from_the_end_that_was_taken_for_the_server() -> None:
    assert text(b"", hello()) == ("tls", "www.example.org h2 http/1.1")


def test_a_label_cannot_steer_a_terminal_and_stays_short() -> None:
    found = read_label(b"GET /\x1b[2J" + b"x" * 900 + b" HTTP/1.1\r\n", b"")
    assert found is not None
    assert "\x1b" not in found[1]
    assert len(found[1]) == 200


@given(st.binary(max_size=200), st.integers(0, 300), st.sampled_from([b"", REQUEST, hello()]), st.integers(0, 300))
def test_nothing_makes_it_raise(noise: bytes, at: int, start: bytes, cut: int) -> None:
    read_label((start[:at] + noise + start[at:])[: len(noise) + cut], noise)


def begin_with(scene: Scene, content: bytes) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(len(content), content=content)
    scene.server_acks()
    scene.server_transfers(5_000)
    scene.closes()


@pytest.mark.parametrize("content", [REQUEST, hello()], ids=["http", "tls"])
def test_a_capture_shows_its_label(scene: Scene, content: bytes) -> None:
    begin_with(scene, content)
    flow = tcpstall.analyze(scene.capture())[0]
    assert (flow.label_source, flow.label) == text(content)


def test_snap_length_96_holds_a_request_line(scene: Scene) -> None:
    begin_with(scene, REQUEST)
    flow = tcpstall.analyze(scene.capture(snap=96))[0]
    assert flow.label == "GET /reports/2026?page=2 HTTP/…"


def test_a_flow_of_something_else_has_none(scene: Scene) -> None:
    begin_with(scene, b"\0" * 100)
    flow = tcpstall.analyze(scene.capture())[0]
    assert (flow.label, flow.label_source) == (None, None)
    assert tcpstall.analyze(scene.capture()).flows.column("label") == [None]


def test_a_label_is_read_where_the_first_payload_is_not_one(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(30)
    scene.client_sends(8, content=b"STARTTLS")
    scene.server_sends(10)
    scene.client_sends(len(hello()), content=hello())
    assert scene.flow()["label"] is None  # without a reader the core has none
    assert tcpstall.analyze(scene.capture())[0].label == "www.example.org h2 http/1.1"
