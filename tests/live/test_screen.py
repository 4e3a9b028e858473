"""The view on a terminal: what is drawn from a state, what keys do, and a session on a pseudo-terminal."""

import os
import pty
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tcpstall import analyze
from tcpstall.cli.process.screen import pressed
from tcpstall.errors import ExitCode
from tcpstall.live import State
from tcpstall.report.live.picture import ORDERS, Look, picture
from tcpstall.report.text import whole
from tests.headline.test_width import faults
from tests.live import tcpdumps
from tests.live.played import Played, parts_of, states


@pytest.fixture(scope="session")
def state(many: Path) -> State:
    """In the middle of the capture."""
    return states(Played(parts_of(many, 40_000)))[1]


def drawn(state: State, look: Look, width: int = 100, height: int = 40) -> str:
    screen = Console(width=width, color_system=None, markup=False, highlight=False, emoji=False)
    with screen.capture() as text:
        for part in picture(state, look, width=width, height=height):
            screen.print(whole(part), crop=False)
    return text.get()


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("look", [Look(), Look(order="bytes", keeps=True), Look(opened=0), Look(said="x" * 300)])
def test_it_fits_its_terminal(state: State, look: Look, width: int) -> None:
    text = drawn(state, look, width)

    assert not [*faults(text, width)]
    assert look.opened is not None or len(text.splitlines()) <= 40


def test_it_shows_services_causes_the_worst_flow_and_drops(state: State) -> None:
    text = drawn(state, Look(), 120)

    worst = state.flows[0]
    assert "0 dropped" in text
    assert "services by time lost now" in text
    assert f"▸1  {worst.id:>4}  {worst.client} → {worst.server}" in text
    assert all(f"{one.address}:{one.port}" in text for one in state.services)
    assert max(worst.time_ns, key=lambda owner: worst.time_ns[owner]) in text


def test_services_are_in_the_order_that_was_chosen_and_those_without_room_are_counted(state: State) -> None:
    names = [f"{one.address}:{one.port}" for one in sorted(state.services, key=lambda one: -one.bytes)]
    lines = drawn(state, Look(order="bytes")).splitlines()
    rows = [line.split()[0] for line in lines if line.startswith("10.")]
    assert rows == names

    assert f"and {len(names) - 1} more service" in drawn(state, Look(), height=5)


def test_an_opened_flow_is_told_whole(state: State) -> None:
    flow = state.flows[0]
    text = drawn(state, Look(opened=flow.id))

    assert f"flow {flow.id}" in text
    assert "the rest of the time" in text
    assert "services by" not in text


def test_without_packets_it_says_so(state: State) -> None:
    empty = states(Played([parts_of_header(state), b""]))[-1]

    assert "no TCP connection so far" in drawn(empty, Look())
    assert pressed(Look(), b"\n", empty) == pressed(Look(), b"1", empty) == Look()


def parts_of_header(_state: State) -> bytes:
    return bytes.fromhex("d4c3b2a1020004000000000000000000800000006500 0000".replace(" ", ""))


def test_what_an_interface_is_called_cannot_steer_the_terminal(state: State) -> None:
    named = replace(state, capture=replace(state.capture, path="eth\x1b[31m0"))

    assert "\x1b" not in drawn(named, Look())


def test_keys_sort_mark_open_and_close(state: State) -> None:
    look = Look()
    for order in (*ORDERS[1:], ORDERS[0]):
        look = pressed(look, b"s", state)
        assert look.order == order
    down = pressed(look, b"\x1b[B", state)
    assert (down.marked, pressed(down, b"\x1b[A", state).marked, pressed(look, b"k", state).marked) == (1, 0, 0)
    opened = pressed(down, b"\n", state)
    assert opened.opened == state.flows[1].id
    assert pressed(opened, b"\x1b", state).opened is pressed(opened, b"\r", state).opened is None
    assert pressed(look, b"1", state).opened == state.flows[0].id
    assert pressed(look, b"9", state) == pressed(look, b"x", state) == look
    assert pressed(replace(look, said="saved"), b"x", state).said == ""


class Terminal:
    """`tcpstall live` on a pseudo-terminal of its own, at which keys are pressed."""

    def __init__(self, environment: dict[str, str], *options: str) -> None:
        self._ours, theirs = pty.openpty()
        takes = "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from tcpstall.cli import main; "
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"{takes}sys.exit(main(sys.argv[1:]))",
                "live",
                "eth0",
                "--every",
                "100ms",
                *options,
            ],
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def until(self, words: str) -> str:
        """The screen up to these words."""
        shown = b""
        while words.encode() not in shown:
            shown += os.read(self._ours, 65_536)
        return shown.decode(errors="replace")

    def rest(self) -> str:
        shown = b""
        try:
            while piece := os.read(self._ours, 65_536):
                shown += piece
        except OSError:  # Linux says so when the other end of a terminal is closed
            pass
        os.close(self._ours)
        self.process.wait(timeout=60)
        return shown.decode().replace("\r\n", "\n")


def test_a_session_sorts_opens_saves_and_ends_with_the_report(tmp_path: Path, many: Path) -> None:
    terminal = Terminal(tcpdumps.playing(tmp_path / "bin", many), "--ring", str(tmp_path / "ring"))
    packets = analyze(str(many)).captures[0].packets
    terminal.until(f"{packets:,} packets")
    terminal.press(b"s")
    terminal.until("services by lost")
    terminal.press(b"1")
    terminal.until("the rest of the time")
    terminal.press(b"e")
    terminal.until("packets of flow")
    terminal.press(b"\x03")
    shown = terminal.rest()

    assert terminal.process.returncode == ExitCode.COMPLETE
    page, *_ = shown.rpartition("\x1b[?1049l")[2:]
    assert "flows by time waited, then by time lost" in page
    assert f"eth0: pcap, {packets:,} packets" in page
    whole = analyze(str(many))
    [saved] = (tmp_path / "ring").glob("flow-*.pcap")
    assert analyze(str(saved)).time_ns() == dict(whole[whole.ranked()[0]].time_ns) | {
        owner: 0 for owner in whole.time_ns() if owner not in whole[whole.ranked()[0]].time_ns
    }


def test_q_ends_it_too_and_a_terminal_without_a_ring_says_how_to_keep_packets(tmp_path: Path, many: Path) -> None:
    terminal = Terminal(tcpdumps.playing(tmp_path / "bin", many))
    terminal.until("services by")
    terminal.press(b"e")
    terminal.until("start with --ring DIR")
    terminal.press(b"q")
    shown = terminal.rest()

    assert terminal.process.returncode == ExitCode.COMPLETE
    assert "flows by time waited" in shown.rpartition("\x1b[?1049l")[2]


def test_a_terminal_that_cannot_be_drawn_on_gets_lines(tmp_path: Path, many: Path) -> None:
    terminal = Terminal(tcpdumps.playing(tmp_path / "bin", many) | {"TERM": "dumb"})
    terminal.until('"type": "interval"')
    terminal.process.send_signal(signal.SIGINT)

    assert '"type": "report"' in terminal.rest()
