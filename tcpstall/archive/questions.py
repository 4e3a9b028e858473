"""What is asked of a store most: where most time was lost, and how that changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcpstall.archive.changes import changed
from tcpstall.archive.examples import Wanted, examples
from tcpstall.archive.session import Session
from tcpstall.causes import Cause
from tcpstall.losses import By, Every, Growth, Loss, Losses, Trend
from tcpstall.model import Endpoint
from tcpstall.units import clock, date

__all__ = ["Chosen", "Courses", "top", "trend"]

_HOUR_NS = 3_600_000_000_000
_EVERY: Mapping[Every, int] = {"hour": _HOUR_NS, "day": 24 * _HOUR_NS}

_KEYS: Mapping[By, tuple[str, ...]] = {
    "service": ("server_address", "server_port"),
    "cause": ("cause",),
    "host": ("host",),
    "hour": (f"start_ns // {_HOUR_NS}",),
}
"""Columns as they stand in files where that will do: to put texts together ten million times takes a second."""

_LONGEST = 100_000
"""Hours or days of a trend: eleven years of hours. A capture whose clock was wrong would ask for more."""

_CANDIDATES = 200
"""Services and causes whose course is looked at: those that cost most lately, and those that cost most."""

_LEAST_NUMBERS = 6
"""Of fewer hours or days nobody can say that anything has changed."""

_LATELY = 4
"""A quarter of the time is lately."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which waits are meant; empty is all. Times are those at which waits began, the end not included."""

    causes: Sequence[Cause] = ()
    services: Sequence[Endpoint] = ()
    since_ns: int | None = None
    until_ns: int | None = None

    def where(self, *more: str) -> str:
        """As SQL over stalls."""
        parts = list(more)
        if self.causes:
            parts.append(f"cause IN ({_listed(self.causes)})")
        # The day beside the time: files of other days are not even opened.
        if self.since_ns is not None:
            parts += [f"start_ns >= {self.since_ns}", f"day >= {_day(self.since_ns)}"]
        return _where([*parts, *self._common()])

    def flows_where(self, *more: str) -> str:
        """As SQL over flows: those that were there at the time."""
        since = [] if self.since_ns is None else [f"end_ns >= {self.since_ns}"]
        return _where([*more, *since, *self._common()])

    def _common(self) -> list[str]:
        parts = []
        if self.services:
            pairs = ", ".join(f"({_text(end.address)}, {end.port})" for end in self.services)
            parts.append(f"(server_address, server_port) IN ({pairs})")
        if self.until_ns is not None:
            parts += [f"start_ns < {self.until_ns}", f"day <= {_day(self.until_ns)}"]
        return parts


def top(asked: Session, by: By, chosen: Chosen, most: int) -> Losses:
    """What lost most, most first."""
    keys = [f"k{number}" for number in range(len(_KEYS[by]))]
    named = ", ".join(f"{sql} AS {key}" for sql, key in zip(_KEYS[by], keys, strict=True))
    listed = ", ".join(keys)
    found = asked.rows(
        f"WITH each AS (SELECT {named}, cause, count(*) AS waits, sum(lost_ns) AS lost "
        f"FROM stalls {chosen.where('lost_ns > 0')} GROUP BY ALL) "
        f"SELECT {listed}, sum(lost) AS lost_ns, sum(waits) AS waits, list({{cause: cause, lost: lost}}) AS causes, "
        "sum(sum(lost)) OVER () AS all_ns, count(*) OVER () AS keys "
        f"FROM each GROUP BY {listed} ORDER BY lost_ns DESC, {listed} LIMIT {most}"
    )
    if not found:
        return Losses(by, (), 0, 0)
    causes = {tuple(row[key] for key in keys): _by_cause(row["causes"]) for row in found}
    flows = _worst_flows(asked, by, chosen, {key: next(iter(lost)) for key, lost in causes.items()})
    shown = examples(asked, [_wanted(flows.get(key)) for key in causes])
    rows = []
    for row, (key, lost), example in zip(found, causes.items(), shown, strict=True):
        known = flows[key]["flows"] if key in flows else 0
        rows.append(Loss(_told(by, key), int(row["lost_ns"]), int(row["waits"]), known, lost, example))
    return Losses(by, tuple(rows), found[0]["keys"], int(found[0]["all_ns"]))


def _wanted(row: Mapping[str, Any] | None) -> Wanted | None:
    worst = row and row["worst"]
    return Wanted(worst["scan"], worst["flow"], int(worst["lost"])) if worst else None


class Courses:
    """Lost time by service, cause and hour or day, added up once for all questions about its course."""

    def __init__(self, asked: Session, chosen: Chosen, every: Every) -> None:
        self._asked = asked
        self._chosen = chosen
        self.every = every
        self.width_ns = _EVERY[every]
        asked.keep(
            "courses",
            f"SELECT server_address, server_port, cause, start_ns // {self.width_ns} AS number, sum(lost_ns) AS lost "
            f"FROM stalls {chosen.where()} GROUP BY ALL",
        )
        (ends,) = asked.rows("SELECT min(number) AS first, max(number) AS last FROM courses")
        last = -1 if ends["last"] is None else ends["last"]
        self._first = 0 if ends["first"] is None else max(ends["first"], last + 1 - _LONGEST)
        self.starts_ns = tuple(number * self.width_ns for number in range(self._first, last + 1))

    def causes(self) -> dict[Cause, tuple[int, ...]]:
        """Those that cost anything, most first."""
        rows = self._asked.rows(
            "SELECT cause AS key, number, sum(lost) AS lost FROM courses GROUP BY ALL HAVING lost > 0"
        )
        courses = self._laid_out(((row["key"],), row) for row in rows)
        ranked = sorted(courses, key=lambda key: -sum(courses[key]))
        return {Cause(key[0]): courses[key] for key in ranked}

    def flows(self) -> tuple[int, ...]:
        """How many began."""
        rows = self._asked.rows(
            f"SELECT start_ns // {self.width_ns} AS number, count(*) AS lost "
            f"FROM flows {self._chosen.flows_where()} GROUP BY ALL"
        )
        return self._laid_out(((), row) for row in rows).get((), (0,) * len(self.starts_ns))

    def grown(self, most: int) -> tuple[Growth, ...]:
        """Where a cause costs a service more than before, what that adds up to first."""
        if len(self.starts_ns) < _LEAST_NUMBERS:
            return ()
        count = len(self.starts_ns)
        lately = self._first + count - max(1, count // _LATELY)
        rows = self._asked.rows(
            f"WITH each AS (SELECT server_address, server_port, cause, sum(lost) AS whole, "
            f"sum(lost) FILTER (number >= {lately}) AS late FROM courses GROUP BY server_address, server_port, cause "
            f"QUALIFY row_number() OVER (ORDER BY whole DESC) <= {_CANDIDATES} OR "
            f"row_number() OVER (ORDER BY late DESC NULLS LAST) <= {_CANDIDATES}) "
            "SELECT courses.* FROM courses JOIN each USING (server_address, server_port, cause)"
        )
        courses = self._laid_out(((row["server_address"], row["server_port"], row["cause"]), row) for row in rows)
        grown = []
        for (address, port, cause), course in courses.items():
            if (change := changed(course)) is not None:
                since = self.starts_ns[change.at]
                growth = Growth(Endpoint(address, port), Cause(cause), since, change.before, change.after, course)
                grown.append((-change.weight, str(growth.service), cause, growth))
        return tuple(growth for *_, growth in sorted(grown, key=lambda row: row[:3])[:most])

    def _laid_out(
        self, rows: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]]
    ) -> dict[tuple[Any, ...], tuple[int, ...]]:
        """Sums by number as one sequence a key, those without any included."""
        count = len(self.starts_ns)
        laid: dict[tuple[Any, ...], list[int]] = {}
        for key, row in rows:
            if 0 <= row["number"] - self._first < count:
                laid.setdefault(key, [0] * count)[row["number"] - self._first] = int(row["lost"])
        return {key: tuple(course) for key, course in laid.items()}


def trend(asked: Session, every: Every, chosen: Chosen, most: int) -> Trend:
    """How lost time went, and where it has grown most since when."""
    courses = Courses(asked, chosen, every)
    return Trend(every, courses.starts_ns, courses.causes(), courses.flows(), courses.grown(most))


def _worst_flows(
    asked: Session, by: By, chosen: Chosen, worst: Mapping[tuple[Any, ...], Cause]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """How many flows each key has, and which of them lost most; `worst` are the keys with what they lost most to.

    Flows say what each of them lost to each cause: to add that up from ten million waits would take seconds.
    """
    if by == "cause":
        return _of_causes(asked, chosen, [cause for (cause,) in worst])
    names = [f"k{number}" for number in range(len(_KEYS[by]))]
    lost, source = _owned(chosen.causes), "flows"
    if by == "host":
        cases = " ".join(f"WHEN {_text(host)} THEN {_owned([cause])}" for (host,), cause in worst.items())
        lost, source = (
            f"CASE host {cases} END",
            "(SELECT *, unnest([client_address, server_address]) AS host FROM flows)",
        )
    wanted = ", ".join(f"({', '.join(_text(value) for value in key)})" for key in worst)
    keys = _KEYS[by]
    these = f"({', '.join(keys)}) IN ({wanted})" if len(keys) > 1 else f"{keys[0]} IN ({wanted})"
    named = ", ".join(f"{sql} AS {name}" for sql, name in zip(keys, names, strict=True))
    some = [f"{_owned(chosen.causes)} > 0"] if chosen.causes else []
    rows = asked.rows(
        f"SELECT {named}, count(*) AS flows, arg_max({{scan: scan, flow: flow, lost: {lost}}}, {lost}) AS worst "
        f"FROM {source} {chosen.flows_where(these, *some)} GROUP BY {', '.join(names)}"
    )
    return {tuple(row[name] for name in names): row for row in rows}


def _of_causes(asked: Session, chosen: Chosen, causes: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    each = ", ".join(
        f"count(*) FILTER ({column} > 0) AS flows_{number}, "
        f"arg_max({{scan: scan, flow: flow, lost: {column}}}, {column}) FILTER ({column} > 0) AS worst_{number}"
        for number, column in enumerate(_owned([cause]) for cause in causes)
    )
    (row,) = asked.rows(f"SELECT {each} FROM flows {chosen.flows_where()}")
    return {
        (cause,): {"flows": row[f"flows_{number}"], "worst": row[f"worst_{number}"]}
        for number, cause in enumerate(causes)
    }


def _owned(causes: Sequence[str]) -> str:
    """What these causes own of a flow, or what all do."""
    columns = [f"time_{cause.replace('-', '_')}_ns" for cause in causes]
    return f"({' + '.join(columns)})" if columns else "lost_ns"


def _told(by: By, key: tuple[Any, ...]) -> str:
    if by == "service":
        return str(Endpoint(*key))
    if by == "hour":
        return _hour(key[0] * _HOUR_NS)
    return str(key[0])


def _hour(start_ns: int) -> str:
    """`2026-03-01T10:00Z`: a time that --since takes."""
    return f"{date(start_ns)}T{clock(start_ns)[:5]}Z"


def _day(time_ns: int) -> str:
    return f"make_timestamp({time_ns // 1000})::DATE"


def _by_cause(rows: Sequence[Mapping[str, Any]]) -> dict[Cause, int]:
    """Most first."""
    return {Cause(row["cause"]): int(row["lost"]) for row in sorted(rows, key=lambda row: (-row["lost"], row["cause"]))}


def _where(parts: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""


def _listed(words: Sequence[str]) -> str:
    return ", ".join(_text(str(word)) for word in words)


def _text(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
