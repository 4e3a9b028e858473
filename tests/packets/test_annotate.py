"""Annotated captures hold what they held, and a comment at each stall that other readers find."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tcpstall import Analysis, __version__, analyze
from tests.cli.conftest import Run
from tests.formats.containers import COMPRESSIONS, CONTAINERS, block, option, section
from tests.formats.encapsulation import LINKS
from tests.formats.fixture import CHOSEN, datagrams, wrapped
from tests.packets.reader import Packet, blocks, packets
from tests.properties.frames import Frame
from tests.scene import Scene

SLOW_START, IDLE_RESTART = CHOSEN
FIXTURES = Path(__file__).parents[2] / "fixtures"
OURS = "tcpstall: "


def frames(name: str = IDLE_RESTART) -> list[Frame]:
    return wrapped(datagrams(name), LINKS["Ethernet"])


def annotated(here: Run, source: Path, *options: str, code: int = 0) -> Path:
    output = source.with_name("told.pcapng")
    done = here("annotate", source, "-o", output, *options)
    assert done.returncode == code, done.stderr
    return output


def added(written: list[Packet]) -> list[tuple[int, str]]:
    """Packet number and text of each comment of ours."""
    return [(at, text) for at, packet in enumerate(written, 1) for text in packet.comments if text.startswith(OURS)]


def wanted(analysis: Analysis) -> list[tuple[int, str]]:
    """Packet number and how the comment begins, of each that stalls with packet numbers call for."""
    out = []
    for flow in analysis:
        for stall in flow.stalls:
            before, after = stall.evidence["last_packet"], stall.evidence["next_packet"]
            name = f"{OURS}flow {flow.id}, stall {stall.number}"
            out += [(after, f"{name}: ")] if after is not None else []
            out += [(before, f"{name} begins" if after is not None else f"{name}: ")] if before is not None else []
    return out


def expect_told(source: Path, output: Path) -> None:
    written = packets(output)
    assert [packet.bare for packet in written] == [packet.bare for packet in packets(source)]
    said = added(written)
    for number, beginning in wanted(analyze(source)):
        assert any(at == number and text.startswith(beginning) for at, text in said), (number, beginning)


@pytest.mark.parametrize("container", CONTAINERS)
def test_packets_of_every_kind_of_file_stay_as_they_are(here: Run, container: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(CONTAINERS[container](frames()))
    before = [packet.comments for packet in packets(source)]
    output = annotated(here, source)
    expect_told(source, output)
    after = [tuple(text for text in each.comments if not text.startswith(OURS)) for each in packets(output)]
    assert after == before


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "xz"])
def test_compressed_captures_are_written_unpacked(here: Run, compression: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(COMPRESSIONS[compression](CONTAINERS["pcap, nanoseconds"](frames())))
    expect_told(source, annotated(here, source))


def test_every_fixture_is_annotated_and_read_back(here: Run, fixture_capture: Path, tmp_path: Path) -> None:
    if fixture_capture.suffix == ".txt":
        pytest.skip("holds no packets")
    source = Path(shutil.copy(fixture_capture, tmp_path / "in.pcap"))
    output = annotated(here, source)
    expect_told(source, output)
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    command = ["tshark", "-r", str(output), "-Y", "frame.comment", "-T", "fields"]
    fields = ["-E", "aggregator=|", "-e", "frame.number", "-e", "frame.comment"]
    shown = subprocess.run([*command, *fields], capture_output=True, text=True, check=True).stdout
    by_tshark = {int(line.split("\t")[0]): line.count(OURS) for line in shown.splitlines()}
    ours = [at for at, _ in added(packets(output))]
    assert by_tshark == {at: ours.count(at) for at in ours}


def test_the_comment_says_cause_figures_confidence_and_what_to_change(here: Run, tmp_path: Path) -> None:
    source = Path(shutil.copy(FIXTURES / "lab" / "zero-window-6s" / "sender.pcap", tmp_path))
    (said,) = (text for _, text in added(packets(annotated(here, source))) if "zero-window" in text and "\n" in text)
    assert "the server waited 5.912 s before this packet: zero-window" in said
    assert "bytes in flight" in said
    assert "confidence 95 %" in said
    assert "→ make the receiving application read" in said


def test_a_comment_has_its_own_wait_s_figures_and_the_flow_s_sum_stands_once(here: Run, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.handshake(rtt_ms=20)
    scene.download(200_000, lose=(30_000, 150_000))
    source = scene.capture("server")
    (flow,) = analyze(source)
    again = f"{sum(way.retransmitted_bytes for way in flow.directions.values()):,} bytes sent again"
    output = annotated(here, source)
    repaired = [text for _, text in added(packets(output)) if "lost data had to be repaired" in text]
    assert len(repaired) == sum(stall.cause == "retransmission" for stall in flow.stalls) > 1
    assert all("repaired once" in text and again not in text for text in repaired)
    assert " ".join(output.read_bytes().decode("utf-8", "replace").split()).count(again) == 1


def test_a_wait_that_never_ends_is_told_at_the_last_packet_before_it(here: Run, tmp_path: Path) -> None:
    source = Path(shutil.copy(FIXTURES / "lab" / "zero-window-dead" / "sender.pcap", tmp_path))
    (flow,) = analyze(source)
    last = flow.stalls[-1]
    assert not last.ended
    output = annotated(here, source)
    at = [number for number, text in added(packets(output)) if f"stall {last.number}: " in text]
    assert at == [last.evidence["last_packet"]]


def test_the_handshake_is_told_at_the_packet_that_ends_it(here: Run, tmp_path: Path) -> None:
    source = Path(shutil.copy(FIXTURES / SLOW_START, tmp_path))
    first = added(packets(annotated(here, source)))[0]
    assert first[0] == 3
    assert "handshake" in first[1]


def test_the_whole_has_a_comment_with_version_and_answer(here: Run, tmp_path: Path) -> None:
    source = Path(shutil.copy(FIXTURES / SLOW_START, tmp_path))
    header = next(blocks(annotated(here, source).read_bytes()))
    (said,) = (value.decode() for code, value in header.options(16) if code == 1)
    assert said.startswith(f"tcpstall {__version__}\n")
    assert "cwnd-limited" in said
    assert "lost 49.4 ms (78 %), 6 stalls" in said


def test_other_blocks_stay_where_they_are(here: Run, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(CONTAINERS["pcapng, other blocks between"](frames()))
    of = [[(each.kind, each.body) for each in blocks(path.read_bytes())] for path in (source, annotated(here, source))]
    changed = {0x0A0D0D0A, 6}
    assert [kind for kind, _ in of[0]] == [kind for kind, _ in of[1]]
    assert [each for each in of[0] if each[0] not in changed] == [each for each in of[1] if each[0] not in changed]


def test_what_the_section_and_its_packets_say_of_themselves_stays(here: Run, tmp_path: Path) -> None:
    fields = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, 4_711)
    options = option("<", 1, b"from the client") + option("<", 3, b"Linux") + option("<", 0, b"")
    source = tmp_path / "in"
    body = CONTAINERS["pcapng"](frames())
    source.write_bytes(block("<", 0x0A0D0D0A, fields + options) + body[len(section()) :])
    header = next(blocks(annotated(here, source).read_bytes()))
    assert struct.unpack_from("<q", header.body, 8) == (-1,)  # blocks grew
    assert dict(header.options(16))[3] == b"Linux"
    assert next(value for code, value in header.options(16) if code == 1) == b"from the client"


def test_simple_packet_blocks_hold_no_comment_and_that_is_said(here: Run, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(CONTAINERS["pcapng"](frames()))
    most = max(len(packet.data) for packet in packets(source))
    plain = {number for number, _ in wanted(analyze(source))}
    out = section() + block("<", 1, struct.pack("<HHI", 1, 0, most))
    for number, (each, packet) in enumerate(
        zip(list(blocks(source.read_bytes()))[2:], packets(source), strict=True), 1
    ):
        simple = number in plain and len(packet.data) == min(packet.length, most)
        out += block("<", 3, struct.pack("<I", packet.length) + packet.data) if simple else block("<", 6, each.body)
    source.write_bytes(out)
    output = source.with_name("told.pcapng")
    done = here("annotate", source, "-o", output)
    assert done.returncode == 0
    assert "found no packet that can hold one" in done.stderr
    assert [packet.bare for packet in packets(output)] == [packet.bare for packet in packets(source)]


def test_only_the_stalls_that_are_asked_for(here: Run, tmp_path: Path) -> None:
    source = Path(shutil.copy(FIXTURES / "lab" / "zero-window-6s" / "sender.pcap", tmp_path))
    said = added(packets(annotated(here, source, "--min-stall", "1s")))
    assert {text.partition(":")[2].split()[3].rstrip(":") for _, text in said} == {"8"}
    assert here("annotate", source, "-o", tmp_path / "none.pcapng", "--flow", "7").returncode == 7
    assert not (tmp_path / "none.pcapng").exists()


def test_text_is_refused_with_what_to_do(here: Run, paste: Path, tmp_path: Path) -> None:
    done = here("annotate", paste, "-o", tmp_path / "out.pcapng")
    assert done.returncode == 4
    assert "tcpstall convert" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_of_a_damaged_capture_what_could_be_read_is_written(here: Run, cut_capture: Path) -> None:
    output = annotated(here, cut_capture, code=5)
    written = packets(output)
    assert len(written) == 57
    assert added(written)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-", "-o", "out.pcapng"], 2, "must be a file"),
        (["in.pcap", "-o", "out.pcap"], 2, "must end in .pcapng"),
        (["missing.pcap", "-o", "out.pcapng"], 3, "no such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(here: Run, arguments: list[str], code: int, said: str) -> None:
    done = here("annotate", *arguments)
    assert done.returncode == code
    assert said in done.stderr


def test_a_failure_leaves_no_file(here: Run, capture: Path, tmp_path: Path) -> None:
    done = here("annotate", capture, "-o", tmp_path / "missing" / "out.pcapng")
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert list(tmp_path.iterdir()) == []
