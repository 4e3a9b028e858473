"""Detects which captures are complete in a folder that somebody captures into."""

import fcntl
import os
import signal
import time
from collections.abc import Iterable, Sequence

from tcpstall.archive.captures import remote
from tcpstall.archive.captures.fingerprints import is_untouched
from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.open_members import split
from tcpstall.archive.captures.rotation import grouped

__all__ = ["complete"]

SETTLED_NS = 60 * 10**9
"""Time without change after which a file counts as complete where no writer can be looked up (a share, a URL)."""


def complete(inputs: Iterable[Input]) -> list[Input]:
    """Those that nobody is writing any more, in the same order."""
    inputs = list(inputs)
    newest = _newest(inputs)
    return [each for each in inputs if _is_complete(each, is_newest=each.name in newest)]


def _newest(inputs: Sequence[Input]) -> set[str]:
    """The file of each rotated set that was begun last; whoever rotates has closed the others."""
    groups = grouped([each.name for each in inputs])
    sets = [[inputs[index] for index in group.members] for group in groups]
    return {max(members, key=lambda member: member.first_ns or 0).name for members in sets}


def _is_complete(found: Input, *, is_newest: bool) -> bool:
    file, _ = split(found.name)
    written = None if remote.is_url(file) else _is_written(remote.local(file))
    if written is not None:
        # Whoever wrote when the file was found may have closed it only now: what was written since is not counted yet.
        return not written and is_untouched(found.name, found.size, found.changed_ns)
    settled = found.changed_ns is not None and time.time_ns() - found.changed_ns >= SETTLED_NS
    return settled or not is_newest


def _is_written(path: str) -> bool | None:
    """True if some process has the file open for writing; None where nothing shows it.

    fcntl(2): a read lease is refused with EAGAIN while a file is open for writing. Shares and others' files have none.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        # Whoever opens it for writing meanwhile waits for us, and we are told by a signal: by one that nobody minds.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    else:
        return False
    finally:
        os.close(descriptor)
