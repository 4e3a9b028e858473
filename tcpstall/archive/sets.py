"""Sets of captures to be analysed, and the tasks that they are given out in."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from tcpstall.archive.found import Input
from tcpstall.archive.store import SCHEMA

__all__ = ["Beyond", "Member", "Set", "Skipped", "Task", "digest", "without"]


@dataclass(frozen=True, slots=True)
class Beyond:
    """How much of a file that grew has rows already: it is read beyond that."""

    packets: int = 0
    tcp_segments: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a set. One that is `known` is read again only for the connections that went on in the next files.

    One that is `held` has rows that the new ones replace: they do so only if it can still be read.
    """

    input: Input
    fingerprint: str
    missing_before: bool = False
    known: bool = False
    held: bool = False
    beyond: Beyond = Beyond()


@dataclass(frozen=True, slots=True)
class Set:
    """Files to be analysed as one stream, in the order of their first packets.

    `chain` is the first scan of this set, `continues` the one that this scan carries on; `packets_before` counts what
    is not read again then, and `drops` are scans that it replaces. One that is `cut` belongs behind a scan that it
    cannot carry on: what was open then keeps its rows. Only the first member may be read `beyond` what is known.
    """

    scan: str
    chain: str
    name: str
    members: tuple[Member, ...]
    continues: str | None = None
    drops: tuple[str, ...] = ()
    packets_before: int = 0
    cut: bool = False

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(member.input.size for member in self.members)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A capture that the system, a network or another process kept from being read, and why, in one line.

    Nothing was learnt of it: it has no row, and the next scan tries again.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Task:
    """Sets that one worker scans and one commit takes in."""

    sets: tuple[Set, ...]

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(each.size for each in self.sets)


def without(each: Set, left_out: Collection[Member]) -> Set:
    """The same set less some of its new members, as a scan of its own."""
    rest = [
        replace(member, missing_before=member.missing_before or (index > 0 and each.members[index - 1] in left_out))
        for index, member in enumerate(each.members)
        if member not in left_out
    ]
    scan = digest([each.scan, "without", *(member.fingerprint for member in left_out)])
    return replace(each, scan=scan, chain=scan if each.chain == each.scan else each.chain, members=tuple(rest))


def digest(contents: Iterable[str]) -> str:
    """A scan's id: what was read, in which order, under which layout of the store."""
    return hashlib.blake2b("\n".join((SCHEMA, *contents)).encode(), digest_size=8).hexdigest()
