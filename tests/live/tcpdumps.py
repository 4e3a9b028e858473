"""Programs named tcpdump that play a capture, so that tests need neither root nor an interface."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cli.conftest import environment

_PLAYS = """#!{python}
import os, signal, sys, time
def counts(number, frame):
    os.write(2, b"tcpdump: 9 packets captured, 11 packets received by filter, 2 packets dropped by kernel\\n")
def end(number, frame):
    os.write(2, b"9 packets captured\\n11 packets received by filter\\n2 packets dropped by kernel\\n")
    os._exit(0)
signal.signal(signal.SIGUSR1, counts)
signal.signal(signal.SIGINT, end)
os.write(2, b"tcpdump: listening on " + sys.argv[2].encode() + b", link-type EN10MB, snapshot length 128 bytes\\n")
with open({told!r}, "w") as told:
    told.write("\\n".join(sys.argv[1:]))
with open({capture!r}, "rb") as capture:
    data = capture.read()
while data:
    data = data[os.write(1, data[:{piece}]):]
{then}
"""

_REFUSES = """#!/bin/sh
cat {words} >&2
exit 1
"""

WAITS = "while True: signal.pause()"
ENDS = "end(0, None)"
FAILS = "os.write(2, b'tcpdump: pcap_loop: The interface disappeared\\n'); os._exit(1)"


def _made(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    program = folder / "tcpdump"
    program.write_text(text)
    program.chmod(0o755)
    return environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", TERM="xterm", COLUMNS="100", NO_COLOR="1")


def playing(folder: Path, capture: Path, then: str = WAITS, piece: int = 50_000) -> dict[str, str]:
    """An environment in which tcpdump plays the capture in pieces of so many bytes; `arguments` reads its arguments."""
    told = str(folder / "arguments")
    return _made(folder, _PLAYS.format(python=sys.executable, told=told, capture=str(capture), piece=piece, then=then))


def refusing(folder: Path, words: str) -> dict[str, str]:
    """An environment in which tcpdump says this and ends with code 1."""
    environment = _made(folder, _REFUSES.format(words=shlex.quote(str(folder / "words"))))
    (folder / "words").write_text(words)
    return environment


def arguments(folder: Path) -> Sequence[str]:
    """Arguments that the last tcpdump of that folder was started with."""
    return (folder / "arguments").read_text().splitlines()
