"""Output of ss is read however it was made, folded and pasted, and nothing in it does harm."""

import dataclasses
import os
import re
import select
import shutil
import socket
import subprocess
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcpstall import Endpoint
from tcpstall.advice.sockets import Paste, Socket, read_paste
from tcpstall.advice.sockets.paste import MOST_BYTES, MOST_SOCKETS
from tcpstall.advice.sockets.words import words

PASTES = sorted((Path(__file__).parents[2] / "fixtures" / "ss").rglob("*.ss"))
MS = 1_000_000
pastes = pytest.mark.parametrize("path", PASTES, ids=lambda path: f"{path.parent.name}-{path.stem}")

OLD = """\
State       Recv-Q Send-Q        Local Address:Port          Peer Address:Port
ESTAB       0      46592             10.77.0.1:5001             10.77.0.2:56634    timer:(on,220ms,0)
\t skmem:(r0,rb131072,t0,tb32768,f3264,w47424,o0,bl0) ts sack cubic wscale:7,10 rto:224 rtt:20.233/0.066 ato:40 \
mss:1448 cwnd:32 ssthresh:20 send 18.3Mbps lastsnd:24 lastrcv:428 lastack:4 pacing_rate 36.6Mbps unacked:12 \
retrans:1/7 rcv_space:14480
"""
"""As iproute2 4.3 prints it: rates with units, no counters."""

OLDER = """\
ESTAB      0      0      ::ffff:10.77.0.1:5001    ::ffff:10.77.0.2:56634
\t mem:(r0,w832,f3264,t0) cubic wscale:7,10 rto:224 rtt:20/0.5 mss:1448 cwnd:32
ESTAB      0      20     fe80::1%eth0:22          fe80::2%eth0:40000
\t cubic rto:201 rtt:1/0.5 cwnd:10
"""
"""As iproute2 3.x does: no brackets, no socket buffers."""


def read(text: str) -> tuple[Socket, ...]:
    return read_paste(text.encode()).sockets


def folded(text: str, width: int) -> str:
    """As a terminal folds it: anywhere; trailing spaces were not copied."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width))


def test_every_field_of_a_real_socket_is_read() -> None:
    path = next(path for path in PASTES if path.parent.name == "sndbuf-16k" and path.stem == "sender")
    first = read(path.read_text())[1]
    assert first.state == "ESTAB"
    assert first.local == Endpoint("10.77.0.1", 5001)
    assert first.peer.address == "10.77.0.2"
    assert first.send_buffer_bytes == 32_768
    assert first.receive_buffer_bytes == 131_072
    assert first.snd_wscale == first.rcv_wscale == 10
    assert first.mss_bytes == 1_448
    assert first.congestion_control == "cubic"
    assert first.send_memory_bytes
    assert first.busy_ns
    assert first.rtt_ns
    assert first.min_rtt_ns == pytest.approx(20 * MS, abs=MS)
    assert first.rwnd_limited_ns == 0
    assert first.timer == "on"
    assert first.delivery_bytes_per_s
    assert first.retransmitted_segments == 0


@pastes
def test_each_snapshot_counts(path: Path) -> None:
    text = path.read_text()
    assert len(read(text)) == text.count("skmem:")
    assert all(one.send_buffer_bytes and one.cwnd_segments for one in read(text))


@pastes
@pytest.mark.parametrize("width", [72, 80, 100, 132])
def test_lines_that_a_terminal_folded_are_whole_again(path: Path, width: int) -> None:
    text = path.read_text()
    assert read(folded(text, width)) == read(text)


@pastes
@pytest.mark.parametrize("width", [60, 76, 120])
def test_lines_that_a_mail_folded_are_whole_again(path: Path, width: int) -> None:
    text = path.read_text()
    wrapped = "\n".join(textwrap.fill(line, width, break_long_words=False) for line in text.splitlines())
    assert read(wrapped) == read(text)


@pastes
def test_quotes_indents_and_headers_do_not_matter(path: Path) -> None:
    text = path.read_text()
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("State"))
    assert read(bare) == read(text)
    assert read(textwrap.indent(text, "    ")) == read(text)
    assert read(text.replace("\n", "\r\n")) == read(text)
    assert read(f"$ ss -tinmo\n{text}\n$ date\nSat Nov 21\n") == read(text)


def test_one_line_a_socket_is_read() -> None:
    text = PASTES[0].read_text()
    assert read(text.replace("\n\t", " ")) == read(text)


def test_a_column_less_or_more_does_not_matter() -> None:
    (one,) = read(OLD)
    assert read(OLD.replace("ESTAB  ", "")) == (one,)  # ss state established
    assert read(OLD.replace("ESTAB  ", "tcp ESTAB  ")) == (one,)  # ss -in
    assert read(OLD.replace("timer:", 'users:(("Web Content",pid=7,fd=4)) uid:1000 ino:5 sk:1 timer:')) == (one,)


def test_old_versions_are_read() -> None:
    (one,) = read(OLD)
    assert one.send_buffer_bytes == 32_768
    assert one.delivery_bytes_per_s is None
    assert one.pacing_bytes_per_s == 36_600_000 // 8
    assert one.snd_wscale == 7
    assert one.rcv_wscale == 10
    assert one.ssthresh_segments == 20
    assert one.unacked_segments == 12
    assert one.retransmitted_segments == 7
    assert one.busy_ns is None
    assert one.rwnd_limited_ns is None


def test_old_addresses_are_read() -> None:
    first, second = read(OLDER)
    assert (first.local, first.peer) == (Endpoint("10.77.0.1", 5001), Endpoint("10.77.0.2", 56_634))
    assert first.send_buffer_bytes is None
    assert (second.local, second.peer) == (Endpoint("fe80::1", 22), Endpoint("fe80::2", 40_000))
    assert second.send_q == 20


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("[fe80::1]%eth0:80", "fe80::1"),
        ("[fe80::1%eth0]:80", "fe80::1"),
        ("10.0.0.1%eth0:80", "10.0.0.1"),
        ("[::ffff:10.0.0.1]:80", "10.0.0.1"),
        ("[2001:DB8::1]:80", "2001:db8::1"),
    ],
)
def test_addresses_are_read_in_every_spelling(word: str, address: str) -> None:
    (one,) = read(f"ESTAB 0 0 {word} 192.0.2.9:5\n cwnd:10")
    assert one.local == Endpoint(address, 80)


def test_listeners_are_no_connections() -> None:
    paste = read_paste(
        b"LISTEN 0 128 *:80 *:*\n\t cubic cwnd:10\nLISTEN 0 128 0.0.0.0:22 0.0.0.0:*\nLISTEN 0 9 [::]:22 [::]:*"
    )
    assert paste == Paste(())


def test_names_for_ports_are_counted_not_guessed() -> None:
    paste = read_paste(b"ESTAB 0 0 10.0.0.1:http 10.0.0.2:40000\n\t cubic cwnd:10")
    assert paste == Paste((), unnamed=1)


def test_a_busy_socket_without_a_limit_was_not_limited() -> None:
    (one,) = read("ESTAB 0 0 10.0.0.1:80 10.0.0.2:5 \n busy:40ms rwnd_limited:12ms(30.0%)")
    assert one.busy_ns == 40 * MS
    assert one.rwnd_limited_ns == 12 * MS
    assert one.sndbuf_limited_ns == 0
    assert one.notsent_bytes == 0


def test_what_is_beyond_any_list_of_sockets_is_not_read() -> None:
    line = b"ESTAB 0 0 10.0.0.1:80 10.0.0.2:5 cwnd:10\n"
    paste = read_paste(line + b" " * MOST_BYTES + line)
    assert paste.cut
    assert len(paste.sockets) == 1


def test_no_more_sockets_than_a_host_has_are_read() -> None:
    paste = read_paste(b"10.0.0.1:80 10.0.0.2:5 " * (MOST_SOCKETS + 1))
    assert paste.cut
    assert len(paste.sockets) == MOST_SOCKETS


def test_what_never_ends_is_not_joined_for_ever() -> None:
    assert max(map(len, words(("(" * 70 + "\n") * 10_000))) < 5_000


tokens = st.sampled_from(
    [
        "ESTAB", "LISTEN", "tcp", "0", "128", "10.0.0.1:80", "[::1]:80", "*:*", "[fe80::1]%eth0:9", "1.2.3.4:99999",
        "skmem:(r0,rb1,t0,tb2,f0,w0,o0,bl0,d0)", "skmem:(rb,tb)", "cwnd:10", "cwnd:", "cwnd:-1", "cwnd:9" + "9" * 40,
        "rtt:1/2", "rtt:nan", "wscale:7,7", "wscale:,", "send", "delivery_rate", "1Mbps", "Mbps", "busy:1ms", "cubic",
        "rwnd_limited:1ms(99.9%)", "timer:(on,1min2sec,3)", "timer:", "\x1b[2J", "\u202e", "users:((", "x" * 5_000,
        "bytes_acked:18446744073709551615", "retrans:0/", "retrans:1/2", ":", "::", ":80", "app_limited", "\x00",
    ]
)  # fmt: skip
hostile = st.lists(st.tuples(tokens, st.sampled_from([" ", "\n", "\n\t", "\r\n", "\x85", "\u2028"])), max_size=60).map(
    lambda parts: "".join(token + gap for token, gap in parts)
)


def bounded(one: Socket) -> Iterator[int]:
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        if isinstance(value, int):
            yield value


@given(hostile)
@example("ESTAB 0 0 10.0.0.1:80 10.0.0.2:80 10.0.0.3:80 10.0.0.4:80")
@example("ESTAB 0 0 10.0.0.1:80\n10.0.0.2:80")
def test_no_paste_does_harm(text: str) -> None:
    for one in read_paste(text.encode("utf-8", "surrogateescape")).sockets:
        assert all(0 <= value < 2**63 for value in bounded(one))
        assert one.congestion_control is None or re.fullmatch(r"[a-z][a-z0-9_]{1,15}", one.congestion_control)
        assert one.timer is None or one.timer.isalpha()
        assert 0 <= one.local.port < 65_536


@given(st.binary(max_size=300))
def test_no_bytes_do_harm(data: bytes) -> None:
    read_paste(data)


@given(at=st.integers(min_value=0), junk=st.sampled_from(["", "\n", " ", "\x00", "9", ":", "ESTAB 0 0 ", "\t skmem:("]))
def test_a_damaged_paste_is_read_as_far_as_it_goes(at: int, junk: str) -> None:
    text = PASTES[-1].read_text()
    at %= len(text)
    for one in read(text[:at] + junk + text[at:][:2_000]):
        assert all(0 <= value < 2**63 for value in bounded(one))


@pytest.fixture
def blocked() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two sockets over loopback; the first one's writer is blocked in write()."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.socket() as writer:
            writer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
            writer.connect(listener.getsockname())
            reader, _ = listener.accept()
            with reader:

                def write() -> None:
                    try:
                        writer.sendall(b"x" * 50_000_000)
                    except OSError:
                        return

                thread = threading.Thread(target=write, daemon=True)
                thread.start()
                yield writer, reader
                reader.close()
                thread.join(10)


def shown(*options: str) -> str:
    if shutil.which("ss") is None:
        pytest.skip("ss is not installed")
    return subprocess.run(["ss", *options], capture_output=True, text=True, check=True).stdout


def filled(writer: socket.socket) -> Socket:
    """The writer's socket once its buffer is full and stays so: its reader's is full too, and takes nothing more."""
    ends = writer.getsockname()[1], writer.getpeername()[1]
    for _ in range(200):
        time.sleep(0.02)
        if select.select([], [writer], [], 0.3)[1]:
            continue
        for one in read(shown("-tinmo")):
            if (one.local.port, one.peer.port) == ends and (one.send_memory_bytes or 0) * 3 > 2 * 32_768:
                return one
    raise AssertionError("the buffer never filled up")


def test_a_real_socket_with_a_full_buffer_is_read(blocked: tuple[socket.socket, socket.socket]) -> None:
    writer, reader = blocked
    one = filled(writer)
    assert one.send_buffer_bytes == writer.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 32_768
    assert one.local.address == one.peer.address == "127.0.0.1"
    assert one.state == "ESTAB"
    other = next(it for it in read(shown("-tinm")) if (it.local.port, it.peer.port) == (one.peer.port, one.local.port))
    assert other.recv_q > 0
    assert other.receive_buffer_bytes == reader.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)


@pytest.mark.parametrize("options", ["-tin", "-tinm", "-tinmo", "-Htinmo", "-tinmoe", "-tinmop", "-tinmoO", "-inmo"])
def test_every_way_to_call_ss_is_read(options: str, blocked: tuple[socket.socket, socket.socket]) -> None:
    writer, _ = blocked
    full = filled(writer)
    one = next(one for one in read(shown(options)) if one.local == full.local)
    assert one.mss_bytes == full.mss_bytes
    assert one.congestion_control == full.congestion_control
    assert (one.send_buffer_bytes is None) == ("m" not in options)
    assert one.send_q > 0


def test_a_blocked_writer_is_where_the_confirmation_looks(blocked: tuple[socket.socket, socket.socket]) -> None:
    filled(blocked[0])
    if os.geteuid() != 0:
        pytest.skip("reading a thread's kernel stack needs root")
    stacks = []
    for task in Path("/proc/self/task").iterdir():
        try:
            stacks.append((task / "stack").read_text())
        except OSError:
            pytest.skip("this kernel shows no stacks")
    assert any("sk_stream_wait_memory" in stack for stack in stacks)
