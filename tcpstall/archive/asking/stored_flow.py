"""A flow of a store, and the captures that hold it, as far as they are still what was scanned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tcpstall import _core
from tcpstall.archive.asking.session import Session
from tcpstall.archive.captures import remote
from tcpstall.archive.captures.fingerprints import is_unchanged
from tcpstall.archive.captures.open_members import opener, split
from tcpstall.archive.planning.chains import KNOWN_PACKETS
from tcpstall.archive.storing.literals import literal
from tcpstall.errors import CannotAnswer, CannotOpen, NothingToShow
from tcpstall.model import Endpoint
from tcpstall.units import clock, date

__all__ = ["StoredFlow", "holding", "number_in", "numbers_in", "read_with", "refuse_changed", "stored_flow"]

_LISTED = 5
"""Scans that are listed where several are meant."""

_CHUNK = 10_000

_TOLD_APART_BY = ("flow", "client_address", "client_port", "server_address", "server_port", "start_ns", "end_ns")


@dataclass(frozen=True, slots=True)
class StoredFlow:
    """A connection, when it lasted by its captures' clock, and the names of the captures that hold it, in order.

    `number` is its number in these captures; None where the scan read other files beside them.
    """

    number: int | None
    client: Endpoint
    server: Endpoint
    start_ns: int
    end_ns: int
    captures: tuple[str, ...]


def stored_flow(asked: Session, scan: str, flow: int) -> StoredFlow:
    """The flow of that number in the scan whose id is `scan` or begins so.

    Of a set of rotated files those that hold the flow are named. Raises CannotAnswer for several such scans,
    NothingToShow for no such scan or flow, CannotOpen for a capture that is gone or was changed since.
    """
    scan = _whole(asked, scan)
    rows = asked.rows(f"SELECT * FROM flows WHERE scan = {literal(scan)} AND flow = {flow}")
    if not rows:
        [known] = asked.rows(f"SELECT count(*) AS flows, max(flow) AS last FROM flows WHERE scan = {literal(scan)}")
        those = f"its flows are numbered up to {known['last']}" if known["flows"] else "it holds none"
        raise NothingToShow(f"scan {scan} has no flow {flow}: {those}; `tcpstall top` and `query` list flows")
    [row] = rows
    return holding(row, read_with(asked, scan))


def holding(
    row: Mapping[str, Any],
    files: Sequence[Mapping[str, Any]],
    refuse: Callable[[Mapping[str, Any]], None] | None = None,
) -> StoredFlow:
    """The flow of a row of `flows`, with those of its scan's files (see read_with) that hold it.

    `refuse` raises CannotOpen for a file that is gone or was changed since; refuse_changed() without it. Raises
    NothingToShow where the store names no such file any more.
    """
    captures = [each for each in files if each["first_ns"] <= row["end_ns"] and each["last_ns"] >= row["start_ns"]]
    if not captures:
        raise NothingToShow(
            f"the store names no capture of flow {row['flow']} of scan {row['scan']} any more; scan it again"
        )
    for capture in captures:
        (refuse or refuse_changed)(capture)
    alone = (
        len(files) == 1
        and files[0]["tcpstall"] == _core.version()
        and KNOWN_PACKETS not in (files[0]["warnings"] or "")
    )
    client, server = (Endpoint(row[f"{end}_address"], row[f"{end}_port"]) for end in ("client", "server"))
    names = tuple(dict.fromkeys(capture["name"] for capture in captures))
    return StoredFlow(row["flow"] if alone else None, client, server, row["start_ns"], row["end_ns"], names)


def _whole(asked: Session, beginning: str) -> str:
    found = asked.rows(
        f"SELECT scan, min(capture_set) AS name FROM captures WHERE starts_with(scan, {literal(beginning)}) "
        "GROUP BY scan ORDER BY scan"
    )
    if not found:
        raise NothingToShow(f"no scan of the store begins with {beginning}; the column `scan` of `query` has their ids")
    if len(found) > 1:
        listed = ", ".join(f"{row['scan']} ({row['name']})" for row in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise CannotAnswer(f"{len(found)} scans begin with {beginning}: {listed}{more}; give more of the id")
    return str(found[0]["scan"])


def read_with(asked: Session, scan: str) -> list[dict[str, Any]]:
    """The files of the scan's set that have packets, in order of time; a set may have been scanned in several steps."""
    return asked.rows(
        f"SELECT * FROM captures WHERE chain IN (SELECT chain FROM captures WHERE scan = {literal(scan)}) "
        "AND first_ns IS NOT NULL AND last_ns IS NOT NULL ORDER BY first_ns, last_ns, name"
    )


def refuse_changed(capture: Mapping[str, Any]) -> None:
    """Raises CannotOpen for a file of read_with() that is gone or was changed since it was scanned."""
    name = capture["name"]
    file = Path(remote.local(split(name)[0]))
    if not remote.is_url(name) and file.exists() and not file.is_file():  # anybody may have written the store
        raise CannotOpen(f"cannot open {name}: it is no regular file")
    if is_unchanged(name, capture["size_bytes"], capture["changed_ns"], capture["fingerprint"]):
        return
    when = f"it was scanned on {date(capture['scanned_ns'])} at {clock(capture['scanned_ns'])[:8]} UTC"
    try:
        opener().reading(name).close()
    except CannotOpen as error:
        whole = remote.is_url(name) or file.is_absolute()
        hint = "" if whole else "; its name is relative: give this command where the scan ran"
        raise CannotOpen(f"{error}; {when}{hint}") from error
    raise CannotOpen(f"{name} has changed since: {when}; scan it again, and ask the store for the flow's new number")


def number_in(
    names: Sequence[str],
    flow: StoredFlow,
    *,
    sets: Sequence[int],
    missing_before: Sequence[int],
    max_expansion: int | None = None,
    open: Callable[[str], BinaryIO | None] | None = None,  # noqa: A002 the core's word
) -> int:
    """The number of the connection of the same ends at that time, where these captures are read so; costs a reading.

    The store's own number counts flows of files too that need not be read for this one. Raises NothingToShow.
    """
    [number] = numbers_in(
        names, [flow], sets=sets, missing_before=missing_before, max_expansion=max_expansion, open=open
    )
    if number is None:
        raise NothingToShow(f"{flow.client} → {flow.server} is not in {', '.join(names)} any more; scan them again")
    return number


def numbers_in(
    names: Sequence[str],
    flows: Sequence[StoredFlow],
    *,
    sets: Sequence[int],
    missing_before: Sequence[int],
    max_expansion: int | None = None,
    open: Callable[[str], BinaryIO | None] | None = None,  # noqa: A002 the core's word
) -> list[int | None]:
    """The number of each flow by number_in(), None where it is no longer there; costs one reading for all of them."""
    sought: dict[frozenset[Endpoint], list[StoredFlow]] = {}
    for flow in flows:
        if flow.number is None:
            sought.setdefault(frozenset((flow.client, flow.server)), []).append(flow)
    if not sought:
        return [flow.number for flow in flows]
    found: dict[StoredFlow, list[tuple[int, int]]] = {}

    def keep(report: _core.Report) -> None:
        flows = report.flows
        for number, *ends, start_ns, end_ns in zip(*map(flows.column, _TOLD_APART_BY), strict=True):
            for flow in sought.get(frozenset((Endpoint(*ends[:2]), Endpoint(*ends[2:]))), ()):
                shared_ns = min(end_ns, flow.end_ns) - max(start_ns, flow.start_ns)
                if shared_ns >= 0:
                    found.setdefault(flow, []).append((shared_ns, number))

    _core.analyze(
        names,
        hosts=sorted({flow.client.address for those in sought.values() for flow in those}),
        ports=sorted({flow.client.port for those in sought.values() for flow in those}),
        bursts=False,
        exchanges=False,
        max_expansion=max_expansion,
        sets=sets,
        missing_before=missing_before,
        open=open,
        each=keep,
        chunk=_CHUNK,
    )
    return [max(found[flow], key=lambda one: (one[0], -one[1]))[1] if flow in found else flow.number for flow in flows]
