"""Course of lost time, and since when a cause costs a service more."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tcpstall.archive.asking.change_point import changed
from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.hours import HOUR_NS
from tcpstall.archive.storing.literals import literal
from tcpstall.causes import Cause
from tcpstall.lost_time import Every, Growth, Trend
from tcpstall.model import Endpoint

__all__ = ["Courses", "trend"]

_EVERY: Mapping[Every, int] = {"hour": HOUR_NS, "day": 24 * HOUR_NS}

_LONGEST = 10_000
"""Hours or days of a trend: a year of hours. A capture whose clock was wrong would ask for half a million."""

_CANDIDATES = 200
"""Services and causes whose course is looked at: those that cost most lately, and those that cost most."""

_LEAST_NUMBERS = 6
"""Of fewer hours or days nobody can say that anything has changed."""

_LEAST_RISE = 1.5
"""A service must lose half as much again as before, as its flows do."""

_LATELY = 4
"""A quarter of the time is lately."""

_SERIES = "list(number)::VARCHAR AS numbers, list(lost)::VARCHAR AS sums"
"""A course as two texts: lists of wide numbers take Python four times as long, a row for each number forty times."""

_Key = tuple[Any, ...]
"""Key of a course: cause, service, both, or none."""


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
            f"FROM {chosen.sums(asked.rolled('service_sums'))} WHERE cause IS NOT NULL GROUP BY ALL",
        )
        (ends,) = asked.rows("SELECT min(number) AS first, max(number) AS last FROM courses")
        last = -1 if ends["last"] is None else ends["last"]
        self._first = 0 if ends["first"] is None else max(ends["first"], last + 1 - _LONGEST)
        self.starts_ns = tuple(number * self.width_ns for number in range(self._first, last + 1))

    def causes(self) -> dict[Cause, tuple[int, ...]]:
        """Those that cost anything, most first."""
        rows = self._asked.rows(
            f"SELECT cause, {_SERIES} FROM (SELECT cause, number, sum(lost) AS lost FROM courses GROUP BY ALL "
            "HAVING sum(lost) > 0) GROUP BY cause"
        )
        courses = self._laid_out(((row["cause"],), row) for row in rows)
        ranked = sorted(courses, key=lambda key: -sum(courses[key]))
        return {Cause(key[0]): courses[key] for key in ranked}

    def lost(self) -> dict[Cause, int]:
        """To each cause, over all of the time, most first."""
        rows = self._asked.rows(
            "SELECT cause, sum(lost) AS lost FROM courses GROUP BY cause HAVING lost > 0 ORDER BY 2 DESC, 1"
        )
        return {Cause(row["cause"]): int(row["lost"]) for row in rows}

    def flows(self) -> tuple[int, ...]:
        """Number of flows begun in each hour or day."""
        rows = self._asked.rows(
            f"SELECT {_SERIES} FROM (SELECT start_ns // {self.width_ns} AS number, sum(flows) AS lost "
            f"FROM {self._begun()} GROUP BY ALL)"
        )
        return self._laid_out(((), row) for row in rows).get((), (0,) * len(self.starts_ns))

    def grown(self, most: int) -> tuple[Growth, ...]:
        """Causes that cost a service more than before, the largest total increase first."""
        if len(self.starts_ns) < _LEAST_NUMBERS:
            return ()
        count = len(self.starts_ns)
        lately = self._first + count - max(1, count // _LATELY)
        rows = self._asked.rows(
            f"WITH each AS (SELECT server_address, server_port, cause, sum(lost) AS whole, "
            f"sum(lost) FILTER (number >= {lately}) AS late FROM courses GROUP BY server_address, server_port, cause "
            f"QUALIFY row_number() OVER (ORDER BY whole DESC) <= {_CANDIDATES} OR "
            f"row_number() OVER (ORDER BY late DESC NULLS LAST) <= {_CANDIDATES}) "
            f"SELECT server_address, server_port, cause, {_SERIES} FROM courses "
            "JOIN each USING (server_address, server_port, cause) GROUP BY ALL"
        )
        courses = self._laid_out(((row["server_address"], row["server_port"], row["cause"]), row) for row in rows)
        flows = self._flows_of({key[:2] for key in courses})
        grown = []
        for (address, port, cause), course in courses.items():
            growth = self._growth(Endpoint(address, port), Cause(cause), course, flows.get((address, port), ()))
            if growth is not None:
                weight, told = growth
                grown.append((-weight, str(told.service), cause, told))
        return tuple(growth for *_, growth in sorted(grown, key=lambda row: row[:3])[:most])

    def _flows_of(self, services: Iterable[_Key]) -> dict[_Key, tuple[int, ...]]:
        wanted = ", ".join(f"({literal(address)}, {port})" for address, port in sorted(services))
        if not wanted:
            return {}
        rows = self._asked.rows(
            f"SELECT server_address, server_port, {_SERIES} FROM ("
            f"SELECT server_address, server_port, start_ns // {self.width_ns} AS number, sum(flows) AS lost FROM "
            f"{self._begun(f'(server_address, server_port) IN ({wanted})')} GROUP BY ALL) GROUP BY ALL"
        )
        return self._laid_out(((row["server_address"], row["server_port"]), row) for row in rows)

    def _begun(self, *more: str) -> str:
        """Flows by when they began and by service, as SQL."""
        chosen = replace(self._chosen, causes=())
        if chosen.by_hours:
            return f"(FROM {self._asked.rolled('flow_sums')} {chosen.where(*more)})"
        flows = f"FROM flows {chosen.flows_where(*more)}"
        return f"(SELECT start_ns, server_address, server_port, 1 AS flows {flows})"

    def _growth(
        self, service: Endpoint, cause: Cause, course: tuple[int, ...], flows: Sequence[int]
    ) -> tuple[int, Growth] | None:
        """Judged by what a flow loses: more of the same with more traffic is no growth of a cause.

        And by the hours or days of which there are captures: nothing is lost where nothing was captured.
        """
        seen = [number for number, (lost, count) in enumerate(zip(course, flows, strict=False)) if lost or count]
        at = changed([course[number] // max(1, flows[number]) for number in seen])
        if at is None:
            return None
        before = sum(course[number] for number in seen[:at]) // at
        after = sum(course[number] for number in seen[at:]) // (len(seen) - at)
        if after < _LEAST_RISE * before:
            return None  # some flows of a quiet hour
        growth = Growth(service, cause, self.starts_ns[seen[at]], before, after, course)
        return (after - before) * (len(seen) - at), growth

    def _laid_out(self, rows: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> dict[_Key, tuple[int, ...]]:
        """Series of numbers and sums as one sequence a key, with 0 where a series has no sum."""
        count = len(self.starts_ns)
        laid: dict[tuple[Any, ...], tuple[int, ...]] = {}
        for key, row in rows:
            course = [0] * count
            numbers, sums = (json.loads(row[name] or "[]") for name in ("numbers", "sums"))
            for number, lost in zip(numbers, sums, strict=True):
                if 0 <= number - self._first < count:
                    course[number - self._first] = lost
            if any(course):
                laid[key] = tuple(course)
        return laid


def trend(asked: Session, every: Every, chosen: Chosen, most: int) -> Trend:
    """Course of lost time, and its largest growths with the time since when."""
    courses = Courses(asked, chosen, every)
    causes, flows, grown = courses.causes(), courses.flows(), courses.grown(most)
    return Trend(every, courses.starts_ns, causes, flows, grown, courses.lost())
