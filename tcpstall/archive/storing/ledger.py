"""Counters of a store that never step back, whatever is forgotten, scanned again or judged anew.

The ledger holds two numbers for each series: what the store came to when it was last looked at, and the counter's
value. What the store has gained since is added to the counter; what it has lost is only noted.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tcpstall.archive.storing.names import LEDGER
from tcpstall.archive.storing.records import Damaged, document, sealed
from tcpstall.errors import CannotOpen
from tcpstall.metrics.families import OTHER

__all__ = ["SUM", "Key", "Ledger", "counted", "read_ledger"]

_SCHEMA = "tcpstall.metrics/1"

SUM = "sum"
"""Stands in the place of a bucket: the sum of what a histogram has counted."""

Key = tuple[str, str, str]
"""A series: the family's name, the service, and the cause or the bucket. Times are counted in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The counters as they were given for one revision of the store.

    `services` have series of their own, `most` is how many may. `seen` is what the store came to, `totals` what the
    counters say. `gauges` have values by family.
    """

    most: int
    revision: str = ""
    services: tuple[str, ...] = ()
    seen: Mapping[Key, int] = field(default_factory=dict)
    totals: Mapping[Key, int] = field(default_factory=dict)
    gauges: Mapping[str, int] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """As a file of the store."""
        keys = sorted({*self.seen, *self.totals})
        return sealed(
            {
                "schema": _SCHEMA,
                "most": self.most,
                "revision": self.revision,
                "services": list(self.services),
                "series": [[*key, self.seen.get(key, 0), self.totals.get(key, 0)] for key in keys],
                "gauges": dict(self.gauges),
            }
        )


def counted(before: Ledger | None, now: Ledger) -> Ledger:
    """Carries counters on; `now.totals` are the sums over the store, the services of both ledgers apart from the rest.

    Without a ledger counters begin at these sums. A service that gets series of its own begins at 0: its counts from
    before stay in `other`. The gain of a service that loses its series counts in `other`.
    """
    seen = _grouped(now.totals, now.services)
    if before is None:
        return Ledger(now.most, now.revision, now.services, seen, seen, now.gauges)
    stay = set(before.services) & set(now.services)
    old, new = _grouped(before.seen, stay), _grouped(now.totals, stay)
    totals = Counter({key: total for key, total in before.totals.items() if key[1] in (*stay, OTHER)})
    totals.update({key: max(0, value - old[key]) for key, value in new.items()})
    return Ledger(now.most, now.revision, now.services, seen, totals, now.gauges)


def _grouped(sums: Mapping[Key, int], services: Collection[str]) -> Counter[Key]:
    """With all other services as one."""
    grouped: Counter[Key] = Counter()
    for (family, service, label), value in sums.items():
        grouped[family, service if service in services else OTHER, label] += value
    return grouped


def read_ledger(content: bytes | None, url: str) -> Ledger | None:
    """The ledger of the store at `url`; None where it has none yet. Raises CannotOpen."""
    if content is None:
        return None
    try:
        return _read(document(content))
    except (Damaged, TypeError, ValueError, KeyError) as error:
        hint = f"remove it, and counters begin again with what the store holds: {url}/{LEDGER}"
        raise CannotOpen(f"{url}: {LEDGER} is damaged, or of another version; {hint}") from error


def _read(row: Mapping[str, Any]) -> Ledger:
    if row["schema"] != _SCHEMA:
        raise Damaged("its schema is another")
    rows = row["series"]
    series = [((str(family), str(service), str(label)), seen, total) for family, service, label, seen, total in rows]
    return Ledger(
        _whole(row["most"]),
        str(row["revision"]),
        tuple(map(str, row["services"])),
        {key: _whole(seen) for key, seen, _ in series},
        {key: _whole(total) for key, _, total in series},
        {str(name): _whole(value) for name, value in row["gauges"].items()},
    )


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise Damaged("a number in it is none")
    return value
