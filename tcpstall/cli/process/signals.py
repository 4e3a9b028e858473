"""Signals that end a run: handled like Ctrl-C, so that no unfinished file remains."""

import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from tcpstall.errors import ExitCode

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["Signals", "draining", "until_terminated", "was_interrupted"]

_ENDING = {signal.SIGTERM: ExitCode.TERMINATED, signal.SIGHUP: ExitCode.HUNG_UP}

_AGAIN_S = 0.01
"""An interrupt that came while a file was closed comes once more after this time."""

_STANDARD_INPUT = "-"

_interrupted: set[str] = set()
"""Names of the pipes that were open at the first Ctrl-C."""

_DRAINING = b"tcpstall: interrupted: reading what the pipe still holds; Ctrl-C again stops at once\n"


class Signals:
    """Makes SIGTERM and SIGHUP a KeyboardInterrupt, and remembers which of them came.

    Python drops what is raised in a destructor: a KeyboardInterrupt there is raised anew after it.
    """

    def __init__(self) -> None:
        self._came: signal.Signals | None = None
        self._before: dict[signal.Signals, signal.Handlers] = {}
        self._dropped = sys.unraisablehook

    @property
    def exit_code(self) -> ExitCode:
        """The code of a run that KeyboardInterrupt ended."""
        return ExitCode.INTERRUPTED if self._came is None else _ENDING[self._came]

    def __enter__(self) -> "Signals":
        # What the caller ignores (nohup) or handles itself stays as it is; only the main thread has handlers.
        if threading.current_thread() is threading.main_thread():
            for number in _ENDING:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._end)
                    self._before[number] = signal.SIG_DFL
            self._dropped, sys.unraisablehook = sys.unraisablehook, self._drop
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        if sys.unraisablehook == self._drop:
            sys.unraisablehook = self._dropped

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self._came = signal.Signals(number)
        raise KeyboardInterrupt

    def _drop(self, dropped: "UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._dropped(dropped)
            return
        arguments = threading.main_thread().ident, self._came or signal.SIGINT
        wait_s = _AGAIN_S
        while True:
            again = threading.Timer(wait_s, signal.pthread_kill, arguments)
            again.daemon = True
            try:
                again.start()
            except KeyboardInterrupt:  # on a busy machine it came here, where it would be dropped
                wait_s *= 2
            else:
                return


@contextmanager
def until_terminated() -> Iterator[None]:
    """SIGTERM ends what never ends by itself, and all is well; Ctrl-C passes."""
    ended = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal ended
        ended = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        if not ended:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def draining(captures: Sequence[str]) -> Iterator[None]:
    """While captures are read: where one is a pipe, the first Ctrl-C only says that the pipe is read to its end.

    Ctrl-C reaches its writer too, which ends. A writer that goes on is left by the second Ctrl-C.
    """
    patient = threading.current_thread() is threading.main_thread() and any(map(_is_pipe, captures))
    if not patient or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _interrupted.update(filter(_is_pipe, captures))
        # Not through sys.stderr: the signal may have come while something was written there.
        with suppress(OSError):
            os.write(2, _DRAINING)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def was_interrupted(capture: str) -> bool:
    """True of a pipe that was read to its end after a Ctrl-C."""
    return capture in _interrupted


def _is_pipe(name: str) -> bool:
    try:
        mode = os.fstat(0).st_mode if name == _STANDARD_INPUT else os.stat(name).st_mode  # noqa: PTH116 - pathlib costs start time
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
