"""Whatever bytes there are in a file: one line on standard error, a documented exit code, and never a traceback."""

import contextlib
import io
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstall import _core
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.hostile.seeds import FIXTURES

READ = {ExitCode.COMPLETE, ExitCode.NOT_A_CAPTURE, ExitCode.DAMAGED}

SEEDS = [
    path.read_bytes()[:4096] for path in (FIXTURES / "slowstart-rtt7ms-512k.pcap", *sorted(FIXTURES.glob("*.txt")))
]

HEADS = [
    b"",
    struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101),
    struct.pack(">IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1),
    struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28) + struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20),
    b"10:00:00.000000 IP ",
]

any_bytes = st.builds(bytes.__add__, st.sampled_from(HEADS), st.binary(max_size=400))


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A capture with some bytes changed, and cut."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for at, value in draw(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=20)):
        data[at] = value
    return bytes(data[: draw(st.integers(0, len(data)))])


number = st.integers(0, 2**32 - 1)
near = st.integers(-3000, 3000)


@st.composite
def conversations(draw: st.DrawFn) -> bytes:
    """Well-formed frames with any contents, often near one another: what only the state machines can object to."""
    start = draw(number)
    frames = bytearray(HEADS[1])
    for _ in range(draw(st.integers(1, 12))):
        seq, ack = (draw(near | number) + start & 0xFFFFFFFF for _ in range(2))
        options = draw(st.binary(max_size=10).map(lambda data: data.ljust(-(-len(data) // 4) * 4, b"\1")))
        ports = draw(st.sampled_from([(443, 40_000), (40_000, 443)]))
        words = (*ports, seq, ack, 5 + len(options) // 4 << 4, draw(st.integers(0, 255)), draw(st.integers(0, 65535)))
        tcp = struct.pack(">HHIIBBHHH", *words, 0, 0) + options
        length = draw(st.sampled_from([0, 40, 1500, 65535]) | st.integers(0, 65535))
        ends = (b"\n\0\0\1\n\0\0\2", b"\n\0\0\2\n\0\0\1")[ports[0] == 443]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, length, draw(st.integers(0, 9)), 0, 64, 6, 0) + ends
        clock = draw(st.integers(0, 10) | number)
        wire = draw(st.just(length) | number)
        frames += struct.pack("<IIII", clock, draw(st.integers(0, 999_999)), len(ip + tcp), wire) + ip + tcp
    return bytes(frames)


def ended(*arguments: str) -> tuple[int, bytes, str]:
    """Exit code, output, error output of one command."""
    page, error = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(page, encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(arguments)
    out.flush()
    return code, page.getvalue(), error.getvalue()


def is_orderly(error: str) -> bool:
    """At most a line, and none of a defect."""
    return error.count("\n") <= 1 and "defect" not in error and "Traceback" not in error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytes")


@settings(max_examples=150)
@given(data=any_bytes | spoilt() | conversations())
def test_analyze_reports_or_refuses(folder: Path, data: bytes) -> None:
    path = folder / "a.bin"
    path.write_bytes(data)
    code, page, error = ended("analyze", str(path))
    assert code in READ
    assert is_orderly(error)
    assert all(line.isprintable() for line in page.decode().split("\n"))
    assert (code == ExitCode.COMPLETE) == (error == "")


@settings(max_examples=80)
@given(data=spoilt() | conversations())
def test_convert_writes_or_refuses(folder: Path, data: bytes) -> None:
    path, output = folder / "a.bin", folder / "out.pcap"
    path.write_bytes(data)
    code, _, error = ended("convert", str(path), "-o", str(output))
    assert code in READ | {ExitCode.NOTHING_FITS}  # nothing to convert
    written = f"written to {output}\n"
    assert is_orderly(error.partition(written)[2] or error)
    assert (written in error) == (code in {ExitCode.COMPLETE, ExitCode.DAMAGED})
    if written in error:
        assert ended("analyze", str(output))[0] == ExitCode.COMPLETE


@settings(max_examples=10)
@given(data=conversations())
def test_plot_draws_or_says_why_not(folder: Path, data: bytes) -> None:
    path, output = folder / "a.bin", folder / "out.svg"
    path.write_bytes(data)
    code, _, error = ended("plot", str(path), "-o", str(output))
    assert code in READ | {ExitCode.NOTHING_FITS}  # no flow, or nothing in it to draw
    assert is_orderly(error)


@settings(max_examples=20)
@given(one=conversations() | spoilt(), other=conversations() | spoilt())
def test_two_captures_are_compared_and_paired_or_refused_in_a_line(folder: Path, one: bytes, other: bytes) -> None:
    paths = [folder / "a.bin", folder / "b.bin"]
    for path, data in zip(paths, (one, other), strict=True):
        path.write_bytes(data)
    for command in ("diff", "pair"):
        for second in paths:
            code, _, error = ended(command, str(paths[0]), str(second))
            assert code in READ | {ExitCode.NOTHING_FITS}  # no flow in common
            assert all(map(is_orderly, error.splitlines(keepends=True)))
            assert error.count("\n") <= 2


def frame(source: bytes, destination: bytes, *, options: bytes = b"", wire: int = 0, flags: int = 0x10) -> bytes:
    """One record of raw IPv6, whose length field leaves the payload's to the record: segmentation offload."""
    tcp = struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 5 + len(options) // 4 << 4, flags, 6, 0, 0) + options
    packet = struct.pack(">IHBB", 6 << 28, 0, 6, 64) + source + destination + tcp
    return struct.pack("<IIII", 1, 0, len(packet), wire or len(packet)) + packet


MAPPED, OTHER = bytes(10) + b"\xff\xff\n\0\0\1", bytes(15) + b"\2"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(frame(MAPPED, OTHER), id="an-ipv4-mapped-address-among-ipv6-ones"),
        pytest.param(frame(OTHER, MAPPED, wire=2**32 - 1), id="a-payload-of-four-gigabytes"),
        pytest.param(
            frame(OTHER, MAPPED, options=b"\x08\x0a" + bytes(8) + b"\5\x1a" + bytes(24) + b"\3\3\7\0", flags=2),
            id="options-that-need-every-byte-there-is",
        ),
    ],
)
def test_convert_writes_what_strangers_claim(folder: Path, record: bytes) -> None:
    path, output = folder / "a.bin", folder / "out.pcap"
    path.write_bytes(HEADS[1] + record)
    assert ended("convert", str(path), "-o", str(output)) == (0, b"", f"tcpstall: 1 packet written to {output}\n")
    code, page, error = ended("analyze", str(output))
    assert (code, error) == (ExitCode.COMPLETE, "")
    assert b"1 TCP segment" in b" ".join(page.split())


def test_convert_writes_what_could_be_read_and_says_what_could_not(folder: Path) -> None:
    path, output = folder / "a.bin", folder / "out.pcap"
    path.write_bytes(HEADS[1] + frame(MAPPED, OTHER) + frame(OTHER, MAPPED)[:-1])
    code, _, error = ended("convert", str(path), "-o", str(output))
    assert code == ExitCode.DAMAGED
    done, damage = error.splitlines()
    assert done == f"tcpstall: 1 packet written to {output}"
    assert damage.startswith(f"tcpstall: {path}: capture ends early, in packet 2 ")


def test_a_flow_that_only_shook_hands_cannot_be_drawn(folder: Path) -> None:
    path = folder / "a.bin"
    path.write_bytes(HEADS[1] + frame(MAPPED, OTHER, flags=2))
    code, _, error = ended("plot", str(path), "-o", str(folder / "out.svg"))
    assert code == ExitCode.NOTHING_FITS
    assert error == f"tcpstall: {path}: flow 0 only shook hands; there is nothing to draw\n"


def test_an_argument_cannot_steer_the_terminal_even_as_a_name_that_a_shell_put_there() -> None:
    code, _, error = ended("analyze", "--\x1b]0;owned\x07")
    assert code == ExitCode.USAGE
    assert all(line.isprintable() for line in error.split("\n"))


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_data_quotes_names_so_that_no_terminal_obeys_them(folder: Path, form: str) -> None:
    path = folder / "\x1b]0;owned\x07\x9b31m\u202efdp.pcap"
    path.write_bytes(HEADS[1] + frame(MAPPED, OTHER) + b"cut")
    written = folder / "written"
    with written.open("wb") as file:
        (status,) = _core.write([str(path)], file.fileno(), format=form).captures
    assert status.exit_code == ExitCode.DAMAGED
    text = written.read_text()
    assert all(line.isprintable() for line in text.split("\n"))
    if form == "json":
        assert json.loads(text)["captures"][0]["path"] == str(path)
