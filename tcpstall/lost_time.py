"""Lost time of an archive: answers about many captures, free of where these are kept and how it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tcpstall.causes import Cause
from tcpstall.model import Endpoint

if TYPE_CHECKING:
    from tcpstall.findings import Finding  # only `top` of findings needs it

__all__ = [
    "By",
    "Change",
    "Changes",
    "Every",
    "Example",
    "Growth",
    "Loss",
    "Losses",
    "Lost",
    "Overview",
    "Shown",
    "Span",
    "Trend",
]

By: TypeAlias = Literal["service", "cause", "host", "hour", "sensor"]
"""Keys that losses are added up by."""

Every: TypeAlias = Literal["hour", "day"]
"""Length of the periods that time is divided into."""


@dataclass(frozen=True, slots=True)
class Example:
    """A flow that shows something best: what it lost to it, and the captures that hold it, in order of time.

    `stall` is the longest wait among those that are meant, by its number in the flow. `store` has the flow, as its user
    named it; empty where one store alone was asked.
    """

    scan: str
    flow: int
    client: Endpoint
    server: Endpoint
    captures: tuple[str, ...]
    start_ns: int
    lost_ns: int
    stall: int | None = None
    store: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Time lost at one service, host, hour or sensor, or to one cause. `flows` lost some of it, in so many `waits`.

    `recoverable_ns` is what a change could give back at most, of flows whose waits began in that hour.
    """

    key: str
    recoverable_ns: int
    lost_ns: int
    waits: int
    flows: int
    causes: Mapping[Cause, int]
    worst: Example | None


@dataclass(frozen=True, slots=True)
class Losses:
    """Those with most to give back, and what they are part of: `keys` are there in all, which lost `all_ns`."""

    by: By
    rows: tuple[Loss, ...]
    keys: int
    all_ns: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A cause that costs a service more from `since_ns` on than before: the means of an hour or day, and its course."""

    service: Endpoint
    cause: Cause
    since_ns: int
    before_ns: int
    after_ns: int
    lost_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A time from its start to its end, the end not included, in ns since 1970."""

    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        """More than 0."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Lost:
    """Lost time of waits that began in a span, and flows that did."""

    lost_ns: int
    waits: int
    flows: int


@dataclass(frozen=True, slots=True)
class Change:
    """Lost time of a service to a cause in two spans; `flows` of both are all those of the service."""

    service: Endpoint
    cause: Cause
    before: Lost
    after: Lost


@dataclass(frozen=True, slots=True)
class Changes:
    """Two spans compared, the largest changes of lost time an hour first; `keys` services and causes are there in all.

    `all_before` and `all_after` are sums over all of them.
    """

    before: Span
    after: Span
    rows: tuple[Change, ...]
    keys: int
    all_before: Lost
    all_after: Lost


@dataclass(frozen=True, slots=True)
class Trend:
    """Lost time over time. `starts_ns` are the starts of all hours or days from the first to the last."""

    every: Every
    starts_ns: tuple[int, ...]
    causes: Mapping[Cause, tuple[int, ...]]
    flows: tuple[int, ...]
    """Number of flows that began."""
    grown: tuple[Growth, ...]
    lost_ns: Mapping[Cause, int]
    """Time lost to each cause, before the first of them included; most first."""

    @property
    def earlier_ns(self) -> int:
        """Time lost before the first of them."""
        return sum(self.lost_ns.values()) - sum(sum(course) for course in self.causes.values())


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding over an archive, and the flow that shows it best."""

    finding: "Finding"
    example: Example | None


@dataclass(frozen=True, slots=True)
class Overview:
    """Extent of a store: its sums, and the times of its first and last packets (None where nothing is)."""

    flows: int
    waits: int
    services: int
    captures: int
    errors: int
    bytes: int
    first_ns: int | None
    last_ns: int | None
    lost_ns: int
    reasons: tuple[tuple[str, int, str], ...] = ()
    """Reasons why files could not be read whole: the reason, how many, one of them."""
