"""Groups names that are the rotated files of one capture point, and orders them.

Only names are read. They give the order in which files were begun, except for rings, whose newest file may have the
lowest number, and for clocks that were set back: there times of packets decide, which the core compares.

Written by

tcpdump 4.99 (tcpdump(1) on -C, -G and -W; `MakeFilename` in tcpdump.c puts the number last, after the extension)
    -C          `cap.pcap`, `cap.pcap1`, `cap.pcap2`, …: without leading zeros and without end
    -C -W       `cap.pcap00` … `cap.pcap11`: from 0, as wide as the highest number; begun again from 0 when full
    -G          a name with what strftime(3) writes, `cap-%Y%m%d-%H%M%S.pcap`
    -G -C       that, with -C's number after it (-W only widens the number)
dumpcap, tshark, Wireshark (dumpcap(1) on -b; `ringbuf_open_file` in ringbuffer.c)
    -b          `base_00001_20261121100000.pcapng`; with printname or nametimenum:2 `base_20261121100000_00001.pcapng`;
                the number counts on when old files are deleted, and 00000 follows 99999
editcap(1) -c, -i
    `base_00000_20261121100000.pcap`: the time is that of the first packet; without times `base_00000.pcap`

and otherwise names with a date and a time, or with a counter of equal width (`name-0001.pcap`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

__all__ = ["COMPRESSED", "Group", "grouped", "sets"]

COMPRESSED = (".gz", ".zst", ".zstd", ".lz4", ".xz", ".bz2")
"""Endings that compression appends. Rotated files are often compressed later (tcpdump -z): a group may mix them."""

_EXTENSION = re.compile(r"(?is)(.*)(\.(?:pcapng|pcap|ntar|cap|dmp|dump|snoop|trc))([0-9]{0,9})\Z")
"""Stem, extension, number of tcpdump -C: nobody numbers hosts behind the extension."""

_DUMPCAP = re.compile(r"(?s)(.*)_(?:([0-9]{5})_([0-9]{14})|([0-9]{14})_([0-9]{5}))\Z")
_DUMPCAP_NUMBERS = 100_000
"""RINGBUFFER_MAX_NUM_FILES of Wireshark's ringbuffer.h: numbers are taken modulo it."""

_DATE_TIME = re.compile(
    r"""(?xs)(?<![0-9])
    (?P<year>(?:19|20)[0-9]{2})(?P<between>[-_.]?)(?P<month>0[1-9]|1[0-2])(?P=between)(?P<day>0[1-9]|[12][0-9]|3[01])
    (?:
        (?:[-_.\ ~]|T)?
        (?P<hour>[01][0-9]|2[0-3])(?P<colon>[-_.:]?)(?P<minute>[0-5][0-9])
        (?:(?P=colon)(?P<second>[0-5][0-9]|60)(?P<fraction>[.,][0-9]{1,9})?)?
        (?:Z|(?P<zone>[+-][0-9]{2}:?[0-9]{2}))?
    )?
    (?![0-9])"""
)
_EPOCH = re.compile(r"(?<![0-9])(1[0-9]{9})(?:\.?((?:[0-9]{3}){1,3}))?(?![0-9])")
"""%s: seconds since 1970, which have ten digits and begin with 1 until 2033, or their thousandths to billionths."""

_COUNTER = re.compile(r"(?s)(.*[-_.])([0-9]{3,9})\Z")
"""A counter at the end of a stem. One or two digits number hosts, interfaces and queues more often than files."""

_ADDRESS = re.compile(r"(?s).*(?<![0-9])[0-9]{1,3}([-_.])[0-9]{1,3}\1[0-9]{1,3}\1\Z")
"""Text before a "counter" that is the last byte of an IPv4 address."""

_APPENDED = re.compile(r"(?s)(.*[^0-9])([1-9][0-9]{0,8})\Z")
"""tcpdump -C on a name without an extension."""


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one capture point in one folder, or a single file.

    `members` are indexes into the names, in the order that the names tell. `pattern` is the name, folder included,
    without its compression and with `#` for what varies; the name itself where it is a single file whose name says
    nothing. `missing_before` are those members before which the names skip a number. That is told of counters which
    only count up: of a ring (-W), of times and of counters of unknown makers nothing is known to be missing.
    """

    pattern: str
    members: tuple[int, ...]
    missing_before: frozenset[int]


def grouped(names: Sequence[str]) -> list[Group]:
    """Puts names together: paths, URLs, members of archives (`a.tar!/dir/cap.pcap3`), only within one folder.

    Every name is in exactly one group. The groups stand in the order of their patterns, whatever that of the names.
    """
    readings = _certain([_read(index, name) for index, name in enumerate(names)])
    buckets: dict[str, list[_Reading]] = defaultdict(list)
    for one in readings:
        buckets[one.key].append(one)
    single: list[_Reading] = []
    groups = [_ordered(members) for bucket in buckets.values() if (members := _of_one_point(bucket, single))]
    groups += _numbered_at_the_end(single)
    return sorted(groups, key=lambda group: (group.pattern, [names[index] for index in group.members]))


def sets(names: Sequence[str]) -> tuple[list[int], list[int]]:
    """The number of each name's group, and the indexes of names before which a file is missing, as the core has it."""
    groups = grouped(names)
    number_of = {member: number for number, group in enumerate(groups) for member in group.members}
    missing = sorted(member for group in groups for member in group.missing_before)
    return [number_of[index] for index in range(len(names))], missing


@dataclass(frozen=True, slots=True)
class _Reading:
    """Parts of a name: `key` is the same for all names of a capture point, `number` is None where there is none."""

    index: int
    name: str
    key: str
    when: float | None = None
    digits: str = ""
    counter: bool = False  # of unknown make: only what stands beside it can tell
    file_set: bool = False  # dumpcap's and editcap's
    appended: bool = False  # tcpdump's -C

    @property
    def number(self) -> int | None:
        return int(self.digits) if self.digits else None

    @property
    def varies(self) -> bool:
        """True if the name holds anything that rotation writes."""
        return self.appended or self.counter or self.when is not None

    @property
    def padded(self) -> bool:
        """As tcpdump -W writes it, or its first: -C alone begins at 1."""
        return self.digits.startswith("0")

    @property
    def place(self) -> tuple[float, int, str]:
        """Position of the name in its group."""
        return self.when or 0.0, int(self.digits or -1), self.name


def _read(index: int, name: str, *, counters: bool = True) -> _Reading:
    folder, slash, last = name.rpartition("/")
    plain = _without_compression(last)
    dotted = _EXTENSION.match(plain)
    if dotted is None:
        stem, dot, ending = plain.rpartition(".")
        stem, extension, appended = (stem, dot + ending, "") if ending.isalpha() and stem else (plain, "", "")
    else:
        stem, extension, appended = dotted.groups()
    if (written := _DUMPCAP.match(stem)) and (when := _moment(_DATE_TIME.match(written[3] or written[4]))) is not None:
        key = f"{folder}{slash}{written[1]}_#{extension}{appended}"
        return _Reading(index, name, key, when, written[2] or written[5], file_set=True)
    masked, when = _without_times(stem + extension + appended)
    if appended and masked.endswith(extension + appended):
        key = masked.removesuffix(appended)
        return _Reading(index, name, f"{folder}{slash}{key}", when, appended, appended=True)
    stem = masked.removesuffix(extension)
    if counters and (counted := _COUNTER.match(stem)) and not _ADDRESS.match(counted[1]):
        return _Reading(index, name, f"{folder}{slash}{counted[1]}#{extension}", when, counted[2], counter=True)
    return _Reading(index, name, f"{folder}{slash}{masked}", when)


def _without_compression(name: str) -> str:
    low = name.lower()
    if not low.endswith(COMPRESSED):
        return name
    suffix = next((one for one in COMPRESSED if low.endswith(one) and len(name) > len(one)), "")
    return name[: len(name) - len(suffix)]


def _without_times(name: str) -> tuple[str, float | None]:
    """The name with `#` for every date and time in it, and the first of them in seconds since 1970."""
    moments: list[float] = []

    def replaced(found: re.Match[str]) -> str:
        moment = _moment(found) if found.re is _DATE_TIME else float(f"{found[1]}.{found[2] or 0}")
        if moment is None:
            return found[0]
        moments.append(moment)
        return "#"

    masked = _DATE_TIME.sub(replaced, name)
    if not moments:
        masked = _EPOCH.sub(replaced, name)
    return masked, moments[0] if moments else None


def _moment(found: re.Match[str] | None) -> float | None:
    """Seconds since 1970, as if local times were UTC unless a zone is written; None for a 30th of February."""
    if found is None:
        return None
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    try:
        day = datetime(int(found["year"]), int(found["month"]), int(found["day"]), hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    fraction = float(f"0.{found['fraction'][1:]}") if found["fraction"] else 0.0
    zone = found["zone"].replace(":", "") if found["zone"] else "+0000"
    ahead = (int(zone[1:3]) * 60 + int(zone[3:])) * 60
    return day.timestamp() + second + fraction - (ahead if zone[0] == "+" else -ahead)


def _certain(readings: Iterable[_Reading]) -> list[_Reading]:
    """Counters of unknown make are believed where they count: one width, zeros in front, most numbers there."""
    counters: dict[str, list[_Reading]] = defaultdict(list)
    certain: list[_Reading] = []
    for one in readings:
        if one.counter:
            counters[one.key].append(one)
        else:
            certain.append(one)
    for members in counters.values():
        numbers = {int(one.digits) for one in members}
        width = min(len(one.digits) for one in members)
        counts = (
            len(numbers) > 1
            and any(one.padded for one in members)
            and all(len(one.digits) == width or not one.padded for one in members)
            and max(numbers) - min(numbers) < 2 * len(numbers)
        )
        certain += members if counts else [_read(one.index, one.name, counters=False) for one in members]
    return certain


def _of_one_point(bucket: list[_Reading], single: list[_Reading]) -> list[_Reading]:
    """Those of one key that are one capture point's files; the others go to `single`."""
    varying = [one for one in bucket if one.varies]
    bare = [one for one in bucket if not one.varies]
    # A ring's first file has a number, and what strftime wrote is in every name: a bare one is another's then.
    if varying and all(one.appended and one.when is None and not one.padded for one in varying):
        return bucket
    single += bare
    return varying


def _numbered_at_the_end(single: list[_Reading]) -> list[Group]:
    """Names alone, but for tcpdump -C without an extension: the bare name and the first number must be there."""
    bare: dict[str, list[_Reading]] = defaultdict(list)
    for one in single:
        bare[one.key].append(one)
    numbered: dict[str, list[_Reading]] = defaultdict(list)
    for one in single:
        if (found := _APPENDED.match(one.key)) and found[1] in bare:
            numbered[found[1]].append(replace(one, key=found[1], digits=found[2], appended=True))
    sets = {key: bare[key] + members for key, members in numbered.items() if any(one.number == 1 for one in members)}
    taken = {one.index for members in sets.values() for one in members}
    alone = [Group(one.name, (one.index,), frozenset()) for one in single if one.index not in taken]
    return [_ordered(members) for members in sets.values()] + alone


def _ordered(members: list[_Reading]) -> Group:
    members = sorted(members, key=lambda one: one.place)
    pattern = members[0].key + ("#" if any(one.appended for one in members) else "")
    return Group(pattern, tuple(one.index for one in members), frozenset(_missing(members)))


def _missing(members: Sequence[_Reading]) -> set[int]:
    """The indexes before which a number is missing, where numbers only count up."""
    if all(one.file_set for one in members):
        return _missing_of_file_set(members)
    if any(one.file_set or one.counter or one.padded for one in members):
        return set()
    # Without leading zeros only the bare name or a second width tells -C from a ring of up to ten files.
    if len({len(one.digits) for one in members}) < 2:
        return set()
    return {
        later.index
        for earlier, later in pairwise(members)
        if later.when == earlier.when and int(later.digits or 0) - int(earlier.digits or 0) > 1
    }


def _missing_of_file_set(members: Sequence[_Reading]) -> set[int]:
    found: set[int] = set()
    for earlier, later in pairwise(members):
        step = (int(later.digits) - int(earlier.digits)) % _DUMPCAP_NUMBERS
        begun_again = int(later.digits) <= 1
        if step > _DUMPCAP_NUMBERS // 2 and not begun_again:  # the clock was set back: the order is not to be trusted
            return set()
        if step > 1 and not begun_again:
            found.add(later.index)
    return found
