"""The counters of a store brought up to date, and as samples."""

from collections.abc import Iterator
from itertools import accumulate

from tcpstall.archive.asking.pruned import sound
from tcpstall.archive.asking.session import session
from tcpstall.archive.asking.sums import gauges, sums, worst_services
from tcpstall.archive.storing.ledger import SUM, Ledger, counted, read_ledger
from tcpstall.archive.storing.names import LEDGER
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Store
from tcpstall.causes import Cause
from tcpstall.errors import CannotOpen
from tcpstall.metrics.exposition import Sample, seconds
from tcpstall.metrics.families import DEFAULT_SERVICES, FAMILIES, OTHER, UNBOUNDED, Family

__all__ = ["bring_up_to_date", "exported", "last_exported", "samples"]


def exported(url: str, most: int | None = None) -> tuple[Ledger, bool]:
    """The counters of the store, brought up to date and kept in it; false where rows of it are missing.

    `most` services have series of their own; None: as many as last time. While rows are missing counters stand still.
    Raises CannotOpen, CannotAnswer where memory does not suffice, and CannotWrite where the store cannot be written.
    """
    place = at(url)
    while True:
        content = place.read(LEDGER)
        before = read_ledger(content, url)
        store = sound(url)
        if store.lost:
            return before or _brought(store, None, most), False
        try:
            now = _brought(store, before, most)
        except CannotOpen:
            if Store.open(url).revision == store.revision:
                raise
            continue  # a scan has merged files meanwhile
        # Another exporter may have gone further meanwhile: counters must go on from what it gave.
        if place.read(LEDGER) == content:
            if now is not before:
                place.put(LEDGER, now.encoded())
            return now, True


def last_exported(url: str) -> Ledger | None:
    """The counters as they were last given, without a look at the tables; None where they never were."""
    return read_ledger(at(url).read(LEDGER), url)


def bring_up_to_date(store: Store) -> None:
    """Keeps what the counters gain by now, if the store has any: rows are about to go, or went. Raises CannotWrite."""
    before = read_ledger(store.place.read(LEDGER), store.url)
    if before is not None and not store.lost:
        store.place.put(LEDGER, _brought(store, before, None).encoded())


def _brought(store: Store, before: Ledger | None, most: int | None) -> Ledger:
    most = most or (before.most if before else DEFAULT_SERVICES)
    if before is not None and (before.revision, before.most) == (store.revision, most):
        return before
    with session(store) as asked:
        shown = worst_services(asked, most)
        found = sums(asked, {*shown, *(before.services if before else ())})
        return counted(before, Ledger(most, store.revision, shown, totals=found, gauges=gauges(asked)))


def samples(ledger: Ledger) -> Iterator[tuple[Family, list[Sample]]]:
    """Every series of every family, those at 0 too: Prometheus does not see the first step of a series that is new."""
    for family in FAMILIES:
        if family.kind == "gauge":
            known = [ledger.gauges[family.name]] if family.name in ledger.gauges else []
            yield family, [Sample(family.sample, _text(family, value)) for value in known]
        elif family.kind == "histogram":
            yield family, [one for service in _services(ledger) for one in _histogram(ledger, family, service)]
        else:
            yield family, [one for service in _services(ledger) for one in _counters(ledger, family, service)]


def _services(ledger: Ledger) -> tuple[str, ...]:
    return (*ledger.services, OTHER)


def _counters(ledger: Ledger, family: Family, service: str) -> Iterator[Sample]:
    for cause in Cause if "cause" in family.labels else ("",):
        value = ledger.totals.get((family.name, service, cause), 0)
        labels = dict(zip(family.labels, (service, cause), strict=False))
        yield Sample(family.sample, _text(family, value), labels)


def _histogram(ledger: Ledger, family: Family, service: str) -> Iterator[Sample]:
    buckets = [*family.buckets.values(), UNBOUNDED]
    counts = [ledger.totals.get((family.name, service, bucket), 0) for bucket in buckets]
    for bucket, count in zip(buckets, accumulate(counts), strict=True):
        yield Sample(family.bucket, str(count), {"service": service, "le": bucket})
    time_ns = ledger.totals.get((family.name, service, SUM), 0)
    yield Sample(f"{family.name}_sum", seconds(time_ns), {"service": service})
    yield Sample(f"{family.name}_count", str(sum(counts)), {"service": service})


def _text(family: Family, value: int) -> str:
    return seconds(value) if family.unit else str(value)
