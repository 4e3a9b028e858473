"""Stalls as fields of packets: tshark finds them with the dissector, and nothing else of the machine changes."""

import gzip
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tcpstall.packets import dissector, side
from tests.cli.conftest import FIXTURES, Run, environment
from tests.formats.containers import CONTAINERS
from tests.formats.encapsulation import LINKS
from tests.formats.fixture import CHOSEN, datagrams, wrapped
from tests.packets.reader import packets
from tests.scene import Scene

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

CAPTURES = sorted([FIXTURES / "slowstart-rtt7ms-512k.pcap", *FIXTURES.glob("lab/*/sender.pcap")])
ZERO_WINDOW = FIXTURES / "lab" / "zero-window-6s" / "sender.pcap"
NEVER_ENDED = FIXTURES / "lab" / "zero-window-dead" / "sender.pcap"
PLUGIN = Path(".local", "lib", "wireshark", "plugins", "tcpstall.lua")

READ_OTHERWISE = ("pcapng, picoseconds", "pcapng, other blocks between")
"""tshark 4.0 misreads the times of the first and numbers blocks without packets in the second: nothing is shown."""

_COMMENT = re.compile(r"tcpstall: flow (\d+), stall (\d+): .* (?:before|after|until) this packet: ([a-z-]+)")

Shown = Callable[..., list[list[str]]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, which is everybody's in this test."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return folder


@pytest.fixture
def shown(home: Path) -> Shown:
    """`shown(capture, filter, *fields)`: a row for each packet that tshark finds, with the dissector installed."""
    assert main(["wireshark", "--install"]) == 0

    def _shown(
        capture: Path, wanted: str, *fields: str, options: tuple[str, ...] = (), said: str = ""
    ) -> list[list[str]]:
        command = ["tshark", "-n", *options, "-r", str(capture), "-Y", wanted, "-T", "fields"]
        for field in ("frame.number", *fields):
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
        told = [line for line in done.stderr.splitlines() if "tcpstall" in line]
        assert bool(told) == bool(said), done.stderr
        assert said in done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    return _shown


def given(capture: Path, *options: str) -> None:
    assert main(["wireshark", str(capture), *options]) == 0


def side_file(home: Path) -> Path:
    (found,) = (home / ".cache" / "tcpstall" / "wireshark").iterdir()
    return found


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def commented(capture: Path, folder: Path) -> Counter[tuple[str, ...]]:
    """Packet number, flow, stall and cause of each stall, where `annotate` puts it."""
    output = folder / "told.pcapng"
    assert main(["annotate", str(capture), "-o", str(output)]) == 0
    told = ((at, text) for at, packet in enumerate(packets(output), 1) for text in packet.comments)
    return Counter((str(at), *found.groups()) for at, text in told if (found := _COMMENT.match(text)))


@needs_tshark
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.parent.name)
def test_a_filter_finds_exactly_the_packets_of_the_stalls(capture: Path, shown: Shown, tmp_path: Path) -> None:
    given(capture)
    rows = shown(capture, "tcpstall.cause", "tcpstall.flow", "tcpstall.stall", "tcpstall.cause")
    found: Counter[tuple[str, ...]] = Counter()
    for number, *columns in rows:
        values = zip(*(column.split(",") for column in columns), strict=True)
        found.update((number, *each) for each in values)
    assert found == commented(capture, tmp_path)
    analysis = analyze(capture)
    assert Counter(cause for *_, cause in found.elements()) == Counter(
        str(stall.cause) for flow in analysis for stall in flow.stalls
    )
    limited = [int(number) for number, *_ in shown(capture, 'tcpstall.cause == "rwnd-limited"')]
    assert limited == sorted({int(number) for number, *_, cause in found if cause == "rwnd-limited"})


@needs_tshark
@pytest.mark.parametrize("container", CONTAINERS)
def test_files_of_every_kind_and_clock_show_their_stalls(container: str, shown: Shown, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(CONTAINERS[container](wrapped(datagrams(CHOSEN[0]), LINKS["Ethernet"])))
    given(source)
    wanted = commented(source, tmp_path)
    assert wanted
    rows = shown(source, "tcpstall.cause", "tcpstall.flow", "tcpstall.stall", "tcpstall.cause")
    assert Counter(map(tuple, rows)) == (Counter() if container in READ_OTHERWISE else wanted)


@needs_tshark
def test_fields_have_the_stall_s_figures_and_lead_to_where_it_began(shown: Shown) -> None:
    given(ZERO_WINDOW)
    names = ("cause", "detail", "duration", "confidence", "sender", "flow", "stall", "since", "advice")
    (stall,) = (stall for flow in analyze(ZERO_WINDOW) for stall in flow.stalls if stall.detail == "initial-window")
    after, before = str(stall.evidence["next_packet"]), str(stall.evidence["last_packet"])
    rows = shown(ZERO_WINDOW, 'tcpstall.detail == "initial-window"', *(f"tcpstall.{name}" for name in names))
    duration = f"{stall.duration_ns / 1e9:.9f}"
    figures = [duration, f"{stall.confidence:.2f}", "server", "0", str(stall.number), before]
    assert rows == [[after, "cwnd-limited", "initial-window", *figures, stall.advice]]
    assert [before, after] in shown(ZERO_WINDOW, "tcpstall.until", "tcpstall.until")


@needs_tshark
def test_a_packet_that_ends_two_stalls_has_both(shown: Shown) -> None:
    given(ZERO_WINDOW)
    (row,) = shown(ZERO_WINDOW, "tcpstall.duration > 5", "tcpstall.cause", "tcpstall.confidence")
    assert row[1:] == ["rwnd-limited,zero-window", "0.97,0.95"]


@needs_tshark
def test_a_wait_that_never_ended_is_at_the_last_packet_before_it(shown: Shown) -> None:
    given(NEVER_ENDED)
    (flow,) = analyze(NEVER_ENDED)
    last = flow.stalls[-1]
    assert not last.ended
    rows = shown(NEVER_ENDED, f"tcpstall.stall == {last.number}", "tcpstall.since")
    assert rows == [[str(last.evidence["last_packet"]), ""]]


@needs_tshark
def test_a_capture_that_was_moved_compressed_or_annotated_keeps_its_stalls(shown: Shown, tmp_path: Path) -> None:
    given(ZERO_WINDOW)
    wanted = shown(ZERO_WINDOW, "tcpstall", "tcpstall.cause", "tcpstall.until")
    packed, told = tmp_path / "x.pcap.gz", tmp_path / "told.pcapng"
    packed.write_bytes(gzip.compress(ZERO_WINDOW.read_bytes()))
    assert main(["annotate", str(ZERO_WINDOW), "-o", str(told)]) == 0
    for copy in (packed, told):
        assert shown(copy, "tcpstall", "tcpstall.cause", "tcpstall.until") == wanted != []


@needs_tshark
def test_other_captures_show_nothing(shown: Shown, home: Path) -> None:
    given(ZERO_WINDOW)
    assert shown(NEVER_ENDED, "tcpstall") == []
    found = side_file(home)
    first = str(analyze(NEVER_ENDED).captures[0].first_ns)
    same = found.with_name(f"{first[:-9]}.{first[-9:]}.tcpstall")
    found.rename(same)
    assert shown(NEVER_ENDED, "tcpstall") == []
    same.write_text(same.read_text().replace(found.stem, same.stem))
    assert shown(NEVER_ENDED, "tcpstall") == [], "each stall has its own packet's time too"
    given(NEVER_ENDED)
    assert side_file(home) == same
    assert shown(NEVER_ENDED, "tcpstall") != []


@needs_tshark
def test_a_side_file_is_handed_on_by_a_preference(shown: Shown, home: Path, tmp_path: Path) -> None:
    handed = tmp_path / "handed.tcpstall"
    given(ZERO_WINDOW, "-o", str(handed))
    assert not (home / ".cache").exists()
    assert shown(ZERO_WINDOW, "tcpstall") == []
    assert shown(ZERO_WINDOW, "tcpstall", options=("-o", f"tcpstall.file:{handed}"))
    assert shown(NEVER_ENDED, "tcpstall", options=("-o", f"tcpstall.file:{handed}")) == []
    gone = ("-o", f"tcpstall.file:{handed}.gone")
    assert shown(ZERO_WINDOW, "tcpstall", options=gone, said="cannot use") == []


@needs_tshark
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("tcpstall\t1", "tcpstall\t0", 1), "another version of tcpstall wrote it"),
        (lambda text: "os.execute('touch ran')\n" + text, "it is no side file of tcpstall"),
        (lambda text: text + "os.execute('touch ran')\n", "it is damaged"),
        (lambda text: text[: text.rindex("\t", 0, text.rindex("\t"))], "it is damaged"),
        (lambda text: "".join(text.splitlines(keepends=True)[:-1]), "it is damaged"),
        (lambda text: re.sub(r"(?m)^(\d+)\t", r"\1)\t", text), "it is damaged"),
        (lambda text: "\0" * 100, "it is no side file of tcpstall"),
        (lambda text: "", "it is no side file of tcpstall"),
        (lambda text: text + "x" * (64 << 20), "it is too large"),
    ],
    ids=[
        "version",
        "code first",
        "code last",
        "cut in a line",
        "cut between lines",
        "no number",
        "zeros",
        "empty",
        "large",
    ],
)
def test_a_side_file_that_is_none_is_refused_in_a_line_and_never_run(
    change: Callable[[str], str], said: str, shown: Shown, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    given(ZERO_WINDOW)
    found = side_file(home)
    found.write_text(change(found.read_text()))
    assert shown(ZERO_WINDOW, "tcpstall", said=said) == []
    assert len(shown(ZERO_WINDOW, "tcp", said=said)) == analyze(ZERO_WINDOW).captures[0].packets
    assert not (home / "ran").exists()


@needs_tshark
def test_short_stalls_can_be_left_out(shown: Shown) -> None:
    given(ZERO_WINDOW, "--min-stall", "1s")
    assert [cause for _, cause in shown(ZERO_WINDOW, "tcpstall.cause", "tcpstall.cause")] == ["zero-window"]


@needs_tshark
def test_handshakes_at_one_moment_are_each_at_their_own_connection(shown: Shown, tmp_path: Path) -> None:
    capture = FIXTURES / "lab" / "rpc-30k" / "sender.pcap"
    given(capture)
    rows = shown(capture, 'tcpstall.cause == "handshake"', "tcp.stream", "tcpstall.flow")
    assert rows
    assert all(stream == flow for _, stream, flow in rows)


def test_installation_and_removal_leave_no_trace(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = home / ".local" / "lib" / "wireshark" / "plugins" / "other.lua"
    for before in (False, True):
        if before:
            kept.parent.mkdir(parents=True)
            kept.write_text("-- somebody's")
        found = tree(home)
        assert main(["wireshark", "--install"]) == 0
        given(ZERO_WINDOW)
        assert set(tree(home)) > set(found)
        assert main(["wireshark", "--remove"]) == 0
        assert tree(home) == found
    capsys.readouterr()
    assert main(["wireshark", "--remove"]) == 0
    assert capsys.readouterr().err == f"tcpstall: {home / PLUGIN} is not there: nothing to remove\n"


def test_installing_twice_changes_nothing_and_another_version_is_replaced(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wireshark", "--install"]) == 0
    content, made = (home / PLUGIN).read_bytes(), (home / PLUGIN).stat()
    assert main(["wireshark", "--install"]) == 0
    assert (home / PLUGIN).stat() == made
    assert "is there already" in capsys.readouterr().err
    (home / PLUGIN).write_bytes(content.splitlines()[0] + b"\n-- an older one\n")
    assert main(["wireshark", "--install"]) == 0
    assert (home / PLUGIN).read_bytes() == content


@pytest.mark.parametrize("option", ["--install", "--remove"])
def test_a_stranger_s_file_of_that_name_stays(option: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = home / "plugins" / "tcpstall.lua"
    target.parent.mkdir()
    target.write_text("-- mine")
    assert main(["wireshark", option, "--dir", str(target.parent)]) == ExitCode.DEFECT
    assert target.read_text() == "-- mine"
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"tcpstall: {target} is not tcpstall's: move it away, or choose another folder with --dir"


def test_another_folder_can_be_named(home: Path) -> None:
    folder = home / "here" / "plugins"
    assert main(["wireshark", "--install", "--dir", str(folder)]) == 0
    assert [*tree(home)] == ["here", "here/plugins", "here/plugins/tcpstall.lua"]
    assert main(["wireshark", "--remove", "--dir", str(folder)]) == 0
    assert [*tree(home)] == ["here", "here/plugins"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--install", "--remove"),
        ("{capture}", "--install"),
        ("{capture}", "--dir", "."),
        ("--install", "-o", "x.tcpstall"),
        ("--remove", "--min-stall", "1s"),
        ("{capture}", "-o", "x.pcap"),
        ("-",),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...], home: Path) -> None:
    filled = [part.format(capture=ZERO_WINDOW) for part in arguments]
    assert main(["wireshark", *filled]) == ExitCode.USAGE
    assert tree(home) == {}


def test_more_stalls_than_the_dissector_reads_are_not_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(side, "_MOST_BYTES", 1_000)
    assert main(["wireshark", str(ZERO_WINDOW)]) == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("leave short ones out with --min-stall, or cut the capture")
    assert tree(home) == {}
    given(ZERO_WINDOW, "--min-stall", "1s")


def test_the_dissector_and_the_writer_agree_on_version_and_size() -> None:
    text = Path(dissector.__file__).with_name("tcpstall.lua").read_text()
    assert f'local VERSION = "{side._VERSION}"\n' in text
    assert f"local MOST_BYTES = {side._MOST_BYTES >> 20} * 1024 * 1024 " in text
    assert text.encode().startswith(dissector._MARK)


def test_names_of_captures_cannot_break_lines_or_a_terminal(scene: Scene, home: Path, tmp_path: Path) -> None:
    scene.handshake(rtt_ms=20)
    named = shutil.copy(scene.capture(), tmp_path / "a\tb\n\x1b[31m.pcap")
    given(Path(named))
    header, *_ = side_file(home).read_text().splitlines()
    assert header.split("\t")[4:] == [str(tmp_path / r"a\tb\n\x1b[31m.pcap")]


def test_damage_is_told_and_what_could_be_read_is_written(here: Run, cut_capture: Path, home: Path) -> None:
    done = here("wireshark", cut_capture)
    assert done.returncode == ExitCode.DAMAGED
    assert "stalls for Wireshark written to" in done.stderr
    assert "Wireshark shows them after `tcpstall wireshark --install`" in done.stderr
    assert len(side_file(home).read_text().splitlines()) > 5


def test_a_capture_is_read_and_not_changed(home: Path, tmp_path: Path) -> None:
    capture = Path(shutil.copy(ZERO_WINDOW, tmp_path / "in.pcap"))
    capture.chmod(0o400)
    given(capture)
    assert capture.read_bytes() == ZERO_WINDOW.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "in.pcap"]
