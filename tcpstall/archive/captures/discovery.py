"""Captures under paths, URLs and globs, told by their content."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tcpstall import _core
from tcpstall.archive.captures import remote
from tcpstall.archive.captures.fingerprints import Fingerprints, fingerprint
from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.listed_archives import Walked
from tcpstall.archive.captures.listing import Listed, Plain, Tally, listed
from tcpstall.archive.captures.open_members import WITHIN, Opener, Source, opened
from tcpstall.archive.captures.rotation import COMPRESSED
from tcpstall.archive.captures.tar import DamagedArchive, Window, is_tar
from tcpstall.errors import CannotOpen, ExitCode

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["Fingerprints", "Input", "Tally", "find", "find_by_folder", "fingerprint", "opened"]

_NAMES = (".pcap", ".pcapng", ".cap", ".dmp", ".snoop", ".tar", ".tgz", ".tzst", ".txz", ".tbz2")
"""Endings of names of files that should be captures or archives of them; tcpdump -C puts numbers behind them."""

_TEXT = "tcpdump-text"


Remembered = Callable[[str, int, int | None], Sequence[Input] | None]
"""Captures that an earlier scan found in a file of that name, size and time: the file is not read again."""


class Settled(Protocol):
    """Files that are as they were when a scan read them: they are left out."""

    def holds(self, folder: str, files: Sequence[Plain]) -> bool:
        """True if all plain files of a folder are such files."""

    def without(self, files: Iterator[Listed]) -> Iterator[Listed]:
        """The other files."""


_Look = _core.Peek | Sequence[Input] | str
"""Beginning of a file, captures remembered of the file, or the reason why it cannot be read."""

_AT_ONCE = 16
"""Beginnings of URLs that are asked for together. A request takes 20 to 100 ms: 160 to 800 files a second."""


def find(
    roots: Iterable[str],
    *,
    tally: Tally | None = None,
    remembered: Remembered | None = None,
    settled: Settled | None = None,
    walked: list[Walked] | None = None,
) -> Iterator[Input]:
    """Every capture in files, folders, URLs and globs, members of archives too, in no particular order.

    pcap, pcapng and snoop, compressed or not, by content. tcpdump's text is a capture only where its file is named
    itself. What is no capture is counted in `tally`; it is an Input with an error where it was named itself or its name
    says that it should be one. Archives that are listed are noted in `walked`. Raises CannotOpen, at once, for a root
    that does not exist.
    """
    tally = Tally() if tally is None else tally
    walked = [] if walked is None else walked
    files = listed(list(roots), tally) if settled is None else listed(list(roots), tally, settled.holds)
    return _within(files if settled is None else settled.without(files), tally, remembered or (lambda *_: None), walked)


def find_by_folder(
    roots: Iterable[str], at_once: int, *, walked: list[Walked], told: Callable[[int, int], None] = lambda *_: None
) -> Iterator[tuple[list[Input], bool]]:
    """As find, captures of one folder together and at least so many, unless these are the last; whether more follow.

    `told(files, bytes)` is called once all files are listed, before one of them is looked into.
    """
    folders: dict[str, list[Listed]] = defaultdict(list)
    files = size = 0
    for file in listed(list(roots), Tally()):
        folders[file.name.rpartition("/")[0]].append(file)
        files += 1
        size += file.size
    told(files, size)
    if not folders:
        yield [], False
    some: list[Listed] = []
    with closing(Opener()) as opener:
        search = _Search(Tally(), lambda *_: None, opener, walked)
        for folder in sorted(folders):
            some += folders.pop(folder)
            if len(some) >= at_once or not folders:
                found = [each for file, look in search.looked(iter(some)) for each in search.within(file, look)]
                yield found, bool(folders)
                some = []


def _within(files: Iterator[Listed], tally: Tally, remembered: Remembered, walked: list[Walked]) -> Iterator[Input]:
    with closing(Opener()) as opener:
        search = _Search(tally, remembered, opener, walked)
        for file, look in search.looked(files):
            yield from search.within(file, look)


@dataclass(slots=True)
class _Search:
    tally: Tally
    remembered: Remembered
    opener: Opener
    walked: list[Walked]

    def looked(self, files: Iterator[Listed]) -> Iterator[tuple[Listed, _Look]]:
        """Each with its beginning; behind URLs several at once, for an answer takes longer than what is in it."""
        waiting: deque[tuple[Listed, Future[_Look]]] = deque()
        pool: ThreadPoolExecutor | None = None
        with ExitStack() as at_the_end:
            for file in files:
                known = file.error or self.remembered(file.name, file.size, file.changed_ns)
                if known is not None:
                    yield file, known
                    continue
                if not remote.is_url(file.name):
                    yield file, self._look(file)
                    continue
                if pool is None:
                    pool = at_the_end.enter_context(_threads())
                waiting.append((file, pool.submit(self._look, file)))
                if len(waiting) == _AT_ONCE:
                    first, look = waiting.popleft()
                    yield first, look.result()
            for file, look in waiting:
                yield file, look.result()

    def within(self, file: Listed, look: _Look) -> Iterator[Input]:
        """The captures that a listed file holds: itself, or its members."""
        if isinstance(look, str):
            code = file.exit_code or ExitCode.CANNOT_OPEN
            yield Input(file.name, file.size, file.changed_ns, error=look, exit_code=code)
        elif not isinstance(look, _core.Peek):
            yield from look
        elif is_tar(look.head):
            yield from self._members(file)
        elif found := self._judged(file, look):
            yield found

    def _look(self, file: Listed) -> _Look:
        try:
            return _beginning(file.name, self.opener)
        except CannotOpen as error:
            return str(error)

    def _judged(self, file: Listed, look: _core.Peek) -> Input | None:
        """An Input where it is a capture or should be one."""
        text = look.format == _TEXT
        readable = look.format is not None and not (text and not file.named)
        unopened = look.exit_code == ExitCode.CANNOT_OPEN
        if not (readable or file.named or unopened or _should_be_one(file.name)):
            self.tally.others += 1
            return None
        error = (
            f"{file.name}: text; name its file itself if it is what tcpdump printed" if text and not readable else None
        )
        return Input(
            file.name,
            file.size,
            file.changed_ns,
            look.format,
            look.compression,
            look.first_ns,
            error or look.error,
            ExitCode.NOT_A_CAPTURE if error else look.exit_code,
        )

    def _members(self, file: Listed) -> Iterator[Input]:
        """Captures in an archive; an error of the archive itself where it cannot be read, or not to its end."""
        walk = Walked(file.name, file.size, file.changed_ns)
        self.walked.append(walk)
        try:
            for found in self._listed_in(file):
                walk.found(found.name, found.exit_code)
                yield found
        except (CannotOpen, _Unreadable) as error:
            yield _unreadable(file, error.args[0].removeprefix(f"{file.name}: "))
            return
        except (DamagedArchive, OSError) as error:
            damage = f"{file.name}: {error}"
            walk.found(file.name, ExitCode.DAMAGED)
            yield Input(file.name, file.size, file.changed_ns, error=damage, exit_code=ExitCode.DAMAGED)
        walk.whole = True

    def _listed_in(self, file: Listed) -> Iterator[Input]:
        """Raises _Unreadable where the file failed, not what is in it."""
        archive = self.opener.archive(file.name)
        try:
            for member in archive:
                name = f"{file.name}{WITHIN}{member.name}"
                told = Listed(name, member.size, file.changed_ns)
                if member.problem:
                    yield _unreadable(told, member.problem, ExitCode.NOT_A_CAPTURE)
                    continue
                look = _peek(name, archive.window(member))
                if archive.tape.failed:
                    raise _Unreadable(f"{look.error}")
                if is_tar(look.head):
                    nested = "an archive within an archive is not read; unpack the outer one first"
                    yield _unreadable(told, nested, ExitCode.NOT_A_CAPTURE)
                elif found := self._judged(told, look):
                    yield found
        except OSError as error:
            if archive.tape.failed:
                raise _Unreadable(str(error)) from error
            raise


def _threads() -> "ThreadPoolExecutor":
    """Imported where URLs are scanned: that takes 5 ms."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_AT_ONCE, "look")


class _Unreadable(Exception):
    """The file that an archive lies in could not be read."""


def _beginning(name: str, opener: Opener) -> _core.Peek:
    """Beginning of a file or a URL. Raises CannotOpen where it cannot be read, whatever its content."""
    stream = opener.beginning(name)
    if stream is None:
        look = _core.peek(name)
        if look.exit_code != ExitCode.DAMAGED:
            return look
        stream = opener.reading(name)  # once more, to see whether the capture is damaged or its disk
    failures: list[Exception] = []
    look = _peek(name, Source(stream, failures))
    if failures:
        raise CannotOpen(f"cannot read {name}: {str(failures[0]) or type(failures[0]).__name__}")
    return look


def _peek(name: str, stream: Source | Window) -> _core.Peek:
    with closing(stream):
        return _core.peek(name, open=lambda _: stream)


def _unreadable(file: Listed, why: str, exit_code: ExitCode = ExitCode.CANNOT_OPEN) -> Input:
    return Input(file.name, file.size, file.changed_ns, error=f"{file.name}: {why}", exit_code=exit_code)


def _should_be_one(name: str) -> bool:
    low = name.lower()
    for suffix in COMPRESSED:
        low = low.removesuffix(suffix)
    return low.rstrip("0123456789").endswith(_NAMES)
