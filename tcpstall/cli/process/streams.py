"""Standard input, output and error: each of them may be closed, or a full disk."""

import os
import sys
from contextlib import suppress

__all__ = ["flush_or_abandon", "open_closed"]

_WRONG_WAY = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""Reading from a closed input and writing to a closed output must fail; words to a closed standard error just go."""


def open_closed() -> None:
    """Opens what is closed, or the next file that is opened would get its number and what is meant for it."""
    for number, flags in _WRONG_WAY.items():
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, flags)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - a descriptor, open until the end
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def flush_or_abandon() -> None:
    """Points a stream that cannot be flushed at nothing, or the interpreter would complain about it when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, stream.fileno())
                os.close(sink)
