"""Sets of captures to be analysed, and the tasks that they are given out in."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.sent import Sent
from tcpstall.archive.storing.store import SCHEMA, Stream

__all__ = [
    "TASK_BYTES",
    "Beyond",
    "Member",
    "Set",
    "Skipped",
    "Task",
    "behind",
    "behind_id",
    "digest",
    "stage",
    "without",
]

TASK_BYTES = 64_000_000
"""Small sets are scanned together up to this: a part of Parquet and a commit, both flushed to disk, should cost less
than what they hold."""

_STAGE_BYTES = 64_000_000
"""A large set is committed after as many files as come to no more than this, and at least one: whoever is killed reads
no more than that twice."""


@dataclass(frozen=True, slots=True)
class Beyond(Sent):
    """Part of a grown file that has rows already: the file is read beyond it."""

    packets: int = 0
    tcp_segments: int = 0


@dataclass(frozen=True, slots=True)
class Member(Sent):
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
class Set(Sent):
    """Files to be analysed as one stream, in the order of their first packets.

    `chain` is the first scan of this set, `continues` the one that this scan carries on; `packets_before` counts what
    is not read again then, and `drops` are scans that it replaces. One that is `cut` belongs behind a scan that it
    cannot carry on: what was open then keeps its rows. Only the first member may be read `beyond` what is known.
    `stream` is what the scan before it left open: with it no known member is read again.
    """

    scan: str
    chain: str
    name: str
    members: tuple[Member, ...]
    continues: str | None = None
    drops: tuple[str, ...] = ()
    packets_before: int = 0
    cut: bool = False
    stream: Stream | None = None

    @property
    def size(self) -> int:
        """Bytes to be read."""
        if len(self.members) == 1:  # ten thousand small files are as many sets, each asked several times
            return self.members[0].input.size
        return sum(member.input.size for member in self.members)

    @property
    def may_grow(self) -> bool:
        """Its name says that it was rotated: further files may go on where it ends."""
        return "#" in self.name


@dataclass(frozen=True, slots=True)
class Skipped:
    """A capture that the system, a network or another process kept from being read, and why, in one line.

    Nothing was learnt of it: it has no row, and the next scan tries again.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Task(Sent):
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


def stage(each: Set) -> tuple[Set, tuple[Member, ...]]:
    """As many files of a large set as are scanned and committed together, and those that are read on behind them.

    Not of one that replaces rows: these go only when all that they came from was read again.
    """
    size, count = each.members[0].input.size, 1
    while count < len(each.members) and size + each.members[count].input.size <= _STAGE_BYTES:
        size += each.members[count].input.size
        count += 1
    replaces = each.drops or any(member.held for member in each.members)
    if not each.may_grow or replaces or count == len(each.members):
        return each, ()
    scan = digest([each.scan, "first", str(count)])
    chain = scan if each.chain == each.scan else each.chain
    return replace(each, scan=scan, chain=chain, members=each.members[:count]), each.members[count:]


def behind(before: Set, members: tuple[Member, ...], stream: Stream | None, *, unread: bool) -> Set:
    """The files that follow on those of a set, which left that open; nothing if none of them could be read.

    `unread` says that the last of those could not be read.
    """
    scan = behind_id(before.scan, members)
    members = (replace(members[0], missing_before=members[0].missing_before or unread), *members[1:])
    if stream is None:
        return replace(before, scan=scan, chain=scan if before.chain == before.scan else before.chain, members=members)
    chain = stream.scan if before.chain == before.scan else before.chain
    return Set(scan, chain, before.name, members, continues=stream.scan, stream=stream)


def behind_id(scan: str, members: Iterable[Member]) -> str:
    """The id of the scan that reads these files behind another scan."""
    return digest([scan, *(member.fingerprint for member in members)])


def digest(contents: Iterable[str]) -> str:
    """A scan's id: what was read, in which order, under which layout of the store."""
    return hashlib.blake2b("\n".join((SCHEMA, *contents)).encode(), digest_size=8).hexdigest()
