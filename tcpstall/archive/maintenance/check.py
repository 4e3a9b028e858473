"""Checks a store for damage: compares every file of it with the catalog and the journal."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES
from tcpstall.archive.storing import names
from tcpstall.archive.storing.damaged_parts import faults
from tcpstall.archive.storing.duck import alone
from tcpstall.archive.storing.names import ABOUT, CATALOG, COPY, DATABASE, JOURNAL, TABLES, digest_in
from tcpstall.archive.storing.records import Commit, Damaged, Part, Row, State, read_catalog, read_entry
from tcpstall.archive.storing.spared import is_spared
from tcpstall.archive.storing.storage import Place
from tcpstall.archive.storing.store import check_schema
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    import duckdb

__all__ = ["Health", "checked", "parts_there", "unreadable"]


@dataclass(slots=True)
class Health:
    """Findings of a check: `problems` and `notes` describe faults by file name; notes need no repair."""

    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    state: State = field(default_factory=State)
    whole: bool = True
    """Catalog and journal say of every part whether it counts."""
    captures: list[Row] = field(default_factory=list)
    """Rows of captures in the journal's entries, for a rebuild where the store is not `whole`."""
    dropped: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)


def checked(place: Place) -> Health:
    """Reads every file. Raises CannotOpen where no store is, or one of a newer version."""
    health = Health()
    health.problems |= place.misplaced()
    if not _about(place, health) and not _any(place, health):
        raise CannotOpen(f"{place.url}: no store is here; `tcpstall scan CAPTURES --store {place.url}` makes one")
    _catalog(place, health)
    _journal(place, health)
    if health.whole:
        _parts(place, health)
        _rest(place, health)
    for each in health.state.lost:
        health.problems.setdefault(
            each.part.name,
            f"was damaged: {each.part.rows:,} rows of it are missing until its captures are scanned again",
        )
    health.notes |= dict.fromkeys(place.strangers(), "is not the store's, and is left alone")
    return health


def listed(place: Place, health: Health, folder: str) -> list[str]:
    """The files below a folder; none where something else has its name."""
    steps = folder.split("/")
    if any("/".join(steps[: depth + 1]) in health.problems for depth in range(len(steps))):
        return []
    return [name for name in place.names(folder) if name.rpartition("/")[0] not in health.problems]


def content(place: Place, health: Health, name: str) -> bytes | None:
    """A file's content; None where there is none, or none that can be read."""
    if name in health.problems:
        return None
    try:
        return place.read(name)
    except CannotOpen:
        health.problems[name] = "cannot be read, or is no file"
        return None


def _about(place: Place, health: Health) -> bool:
    about = content(place, health, ABOUT)
    if about is None:
        health.problems.setdefault(ABOUT, "is missing")
        return False
    try:
        check_schema(place, about)
    except CannotOpen as error:
        if "is damaged" not in str(error):
            raise
        health.problems[ABOUT] = "is damaged"
    return True


def _any(place: Place, health: Health) -> bool:
    if set(health.problems) - {ABOUT}:
        return True
    return any(listed(place, health, folder) for folder in (*TABLES, JOURNAL, COPY)) or bool(place.read(CATALOG))


def _catalog(place: Place, health: Health) -> None:
    states: dict[str, State] = {}
    for name in (CATALOG, f"{COPY}/{CATALOG}"):
        found = content(place, health, name)
        if found is None:
            health.problems.setdefault(name, "is missing")
            continue
        try:
            states[name] = read_catalog(found)
        except Damaged as error:
            health.problems[name] = f"is damaged: {error}"
    copies = bool(listed(place, health, COPY)) or COPY in health.problems or f"{COPY}/{CATALOG}" in states
    if not copies and CATALOG in states:
        del health.problems[f"{COPY}/{CATALOG}"]
        health.notes[COPY] = "has no copies yet, for an older version wrote the store; the next scan makes them"
    if not states:
        begun = not copies and names.entry(1) in listed(place, health, JOURNAL)
        empty = not copies and not any(listed(place, health, folder) for folder in (*TABLES, JOURNAL))
        health.whole = begun or empty
        if health.whole and health.problems[CATALOG] == "is missing":
            del health.problems[CATALOG], health.problems[f"{COPY}/{CATALOG}"]
        return
    health.state = max(states.values(), key=lambda state: state.upto)  # the first of equals: the catalog itself
    if len(states) == 2 and states[CATALOG].upto < health.state.upto:
        health.problems[CATALOG] = "is older than its copy"


def _journal(place: Place, health: Health) -> None:
    state = health.state
    entries = {name for name in listed(place, health, JOURNAL) if names.is_entry(name)}
    copies = {name for name in listed(place, health, f"{COPY}/{JOURNAL}") if names.is_entry(name)}
    for number in sorted({names.number_of(name) for name in (*entries, *copies)}):
        if number <= state.absorbed:
            continue
        name = names.entry(number)
        commits = [_entry(place, health, each) for each in (name, f"{COPY}/{name}") if each in entries | copies]
        commit = next((each for each in commits if each is not None), None)
        if name not in entries:
            health.problems.setdefault(name, "is missing")
        if commit is not None:
            health.captures.extend(commit.captures)
            health.dropped.update(commit.dropped)
            health.continued.update(commit.continued)
        if commit is None or number != state.upto + 1:
            health.problems.setdefault(f"{JOURNAL}", f"lacks entry {state.upto + 1}, and so does its copy")
            health.whole = False
        if commit is not None and health.whole:
            state.add(commit)
        state.upto = max(state.upto, number)


def _entry(place: Place, health: Health, name: str) -> Commit | None:
    found = content(place, health, name)
    if found is None:
        return None
    try:
        return read_entry(found)
    except Damaged as error:
        health.problems[name] = f"is damaged: {error}"
        return None


def _parts(place: Place, health: Health) -> None:
    state = health.state
    parts = [part for part in state.parts.values() if not _beneath(part.name, health)]
    for part in state.parts.values():
        if part not in parts:
            health.problems.setdefault(part.name, "is missing, or no file any more")
    health.problems |= faults(place, parts, state.changed_ns, thoroughly=True, verified=state.changed_ns.__setitem__)
    health.problems |= unreadable(place, [part for part in parts if part.name not in health.problems])
    if not listed(place, health, COPY):
        return
    for part in state.parts.values():
        copy = f"{COPY}/{part.name}"
        if part.table == "captures" and not _beneath(copy, health):
            health.problems |= {f"{COPY}/{name}": why for name, why in _copy_faults(place, part).items()}


def _copy_faults(place: Place, part: Part) -> dict[str, str]:
    copy = f"{COPY}/{part.name}"
    about = place.abouts([copy]).get(copy)
    if about is None:
        return {part.name: "is missing, or no file any more"}
    if about.bytes != part.bytes or digest_in(part.name) not in (None, place.digest(copy)):
        return {part.name: "has another content than the part"}
    return {}


def _beneath(name: str, health: Health) -> bool:
    """In a folder in whose place something else lies."""
    steps = name.split("/")
    return any("/".join(steps[:depth]) in health.problems for depth in range(1, len(steps)))


def unreadable(place: Place, parts: Sequence[Part]) -> dict[str, str]:
    """Reasons why the rows of parts cannot be read, by name. Of a part without a digest every value is read."""
    found: dict[str, str] = {}
    left = iter(parts)
    for part in left:
        # To make a DuckDB takes longer than most parts; one that met a fault may find it everywhere after.
        with alone(place, MEMORY_BYTES, Path(tempfile.gettempdir())) as duck:
            for each in chain([part], left):
                if (why := _unreadable(duck, place, each)) is not None:
                    found[each.name] = why
                    break
    return found


def _unreadable(duck: "duckdb.DuckDBPyConnection", place: Place, part: Part) -> str | None:
    import duckdb

    rows = "count(*)" if digest_in(part.name) is not None else "count(*), bit_xor(hash(held))"
    try:
        found = duck.execute(f"SELECT {rows} FROM read_parquet(?) held", [place.path(part.name)]).fetchone()
    except duckdb.Error as error:
        return f"cannot be read: {next(iter(str(error).splitlines()), type(error).__name__)}"
    count = found[0] if found else 0
    return None if count == part.rows else f"has {count:,} rows instead of {part.rows:,}"


def _rest(place: Place, health: Health) -> None:
    state = health.state
    for table in TABLES:
        for name in listed(place, health, table):
            if name not in state.parts and names.is_made_part(name) and not is_spared(state.spared_ns.get(name)):
                health.notes[name] = "was left by a scan that was killed; the next scan removes it"
    wanted = state.absorbed and place.filesystem is None and DATABASE not in health.problems
    if wanted and not place.abouts([DATABASE]):
        health.problems[DATABASE] = "is missing: other tools find no views there"


def parts_there(place: Place) -> list[str]:
    """Names of all parts that lie there, whoever knows them."""
    return [name for table in TABLES for name in place.names(table) if names.is_part(name)]
