"""A screen that is redrawn as states arrive and keys are pressed."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from tcpstall.cli.process.arrivals import Arrivals
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.terminal import console
from tcpstall.errors import TcpstallError
from tcpstall.live import State
from tcpstall.model import Flow
from tcpstall.report.live.picture import ORDERS, Look, picture, shown_flows
from tcpstall.report.text import whole

__all__ = ["pressed", "watch"]

_BEGIN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""xterm's sequences: another screen, no cursor, lines that are too wide are cut."""

_END = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"

_UP, _DOWN = (b"\x1b[A", b"\x1bOA", b"k"), (b"\x1b[B", b"\x1bOB", b"j")
_ENTER, _ESCAPE, _QUIT, _SAVE, _SORT = (b"\r", b"\n"), b"\x1b", b"q", b"e", b"s"

_KEY_BYTES = 64


def watch(arrivals: Arrivals, *, stop: Callable[[], None], save: Callable[[Flow], str] | None) -> None:
    """Draws until the last state has arrived. `stop` ends the capture; `save` keeps a flow's packets and says where."""
    look, state = Look(keeps=save is not None), None
    with _screen() as keyboard:
        while True:
            ready, _, _ = select.select([arrivals.descriptor, *keyboard], [], [])
            if arrivals.descriptor in ready:
                arrived = arrivals.next()
                if arrived is None:
                    return
                state = arrived
            elif key := os.read(keyboard[0], _KEY_BYTES):
                if key == _QUIT:
                    stop()
                if state is not None:
                    look = _saved(look, state, save) if key == _SAVE else pressed(look, key, state)
            else:
                keyboard.clear()
            if state is not None:
                _draw(state, look)


def pressed(look: Look, key: bytes, state: State) -> Look:
    """The look after that key; other keys than those of the last line change nothing."""
    look = replace(look, said="")
    flows = shown_flows(state)
    last = max(len(flows) - 1, 0)
    if key == _SORT:
        return replace(look, order=ORDERS[(ORDERS.index(look.order) + 1) % len(ORDERS)])
    if key in _UP:
        return replace(look, marked=max(min(look.marked, last) - 1, 0))
    if key in _DOWN:
        return replace(look, marked=min(look.marked + 1, last))
    if look.opened is not None and key in (*_ENTER, _ESCAPE):
        return replace(look, opened=None)
    if key in _ENTER and flows:
        return replace(look, opened=flows[min(look.marked, last)].id)
    if key.isdigit() and 1 <= int(key) <= len(flows):
        return replace(look, marked=int(key) - 1, opened=flows[int(key) - 1].id)
    return look


def _saved(look: Look, state: State, save: Callable[[Flow], str] | None) -> Look:
    """The packets of the flow that is open, or marked, in a file: the line below says which."""
    if save is None:
        return replace(look, said="no packets are kept: start with --ring DIR")
    flows = shown_flows(state)
    if not flows:
        return replace(look, said="there is no flow yet")
    marked = flows[min(look.marked, len(flows) - 1)]
    flow = next((flow for flow in state.flows if flow.id == look.opened), marked)
    try:
        return replace(look, said=save(flow))
    except (TcpstallError, OSError) as error:
        return replace(look, said=str(error))


@contextmanager
def _screen() -> Iterator[list[int]]:
    """Another screen, and the keyboard where there is one: keys come at once and unseen, Ctrl-C stays a signal."""
    keyboard = [0] if sys.stdin.isatty() else []
    before = termios.tcgetattr(0) if keyboard else None
    try:
        if keyboard:
            tty.setcbreak(0)
        _write(_BEGIN)
        yield keyboard
    finally:
        with suppress(OSError):
            _write(_END)
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, before)


def _draw(state: State, look: Look) -> None:
    screen, height = console(), os.get_terminal_size(sys.stdout.fileno()).lines or 24
    with screen.capture() as drawn:
        for part in picture(state, look, width=screen.width, height=height):
            screen.print(whole(part), crop=False)
    lines = drawn.get().splitlines()
    if len(lines) > height:
        lines = [*lines[: height - 1], lines[-1]]
    _write(_HOME + "\r\n".join(f"{line}{_REST_OF_LINE}" for line in lines) + _REST_OF_SCREEN)


def _write(text: str) -> None:
    with writing("standard output"):
        sys.stdout.write(text)
        sys.stdout.flush()
