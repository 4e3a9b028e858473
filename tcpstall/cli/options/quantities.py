"""Quantities as people type them on the command line: rates, sizes, spans and points in time."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tcpstall.cli.options.numbers import LARGEST
from tcpstall.records import record
from tcpstall.units import read_size

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ["MOMENT", "RATE", "SIZE", "SPAN", "Moment"]

_RATE = r"(?i)(\d+(?:\.\d*)?|\.\d+)\s*([kmg]?)(bit(?:/s|ps)?|bps)?"
_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BITS = 8
_MOST_BITS = 10**18
"""Bits a second: a million times the fastest link that is sold, and within what the core counts."""

_UNITS_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86_400 * 10**9,
}
_SECOND_NS = 10**9
_EARLIEST_NS, _LATEST_NS = -LARGEST, LARGEST
_FINER = {13: (3, "milliseconds"), 16: (6, "microseconds"), 19: (9, "nanoseconds")}
"""Decimal places of a count of parts of a second, by the digits that such a count has today."""
_DAY_NS = 86_400 * _SECOND_NS

_SPAN = r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d)"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?"
_EPOCH = r"\d+(?:\.\d{1,9})?"
_ISO = r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?)?\s*(Z|[+-]\d{2}:?\d{2})?"


class _RateType(click.ParamType[int]):
    """Bits a second, decimal units, as network interfaces are sold."""

    name = "rate"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes a second."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(_RATE, value.strip())
        if match and not match[2] and not match[3]:
            self.fail(f"{value!r} is no rate: its unit is missing; write {match[1]}Mbit, or {match[1]}bit", param, ctx)
        bits = int(_decimal(match[1]) * _PREFIXES[match[2].lower()]) if match else 0
        if not _BITS <= bits <= _MOST_BITS:
            self.fail(f"{value!r} is no rate: write bits a second, such as 100Mbit, 2.5Gbit or 640k", param, ctx)
        return bits // _BITS


class _SizeType(click.ParamType[int]):
    """Bytes: binary units, or decimal ones with a B."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        size = read_size(value)
        if not size:
            self.fail(f"{value!r} is no size: write bytes, such as 512M (or MiB), or 1.5GB of 1,000 MB", param, ctx)
        return size


class _SpanType(click.ParamType[int]):
    """A length of time with its unit."""

    name = "span"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Nanoseconds."""
        if isinstance(value, int):
            return value
        span = _span(value.strip())
        if span is not None and span > LARGEST:
            self.fail(f"{value!r} is longer than 292 years, the longest span there is here", param, ctx)
        if span is None:
            self.fail(
                f"{value!r} is no length of time: write a number with its unit, such as 5ms, 1.5s or 200us", param, ctx
            )
        return span


@record(frozen=True, slots=True)
class Moment:
    """A point in time, absolute or counted from the captures' first packet or from the start of its day."""

    ns: int
    anchor: str = "epoch"

    @property
    def is_absolute(self) -> bool:
        """True where the time needs no look at the capture."""
        return self.anchor == "epoch"

    def resolve(self, first_ns: int) -> int:
        """Nanoseconds since the epoch, given the captures' first timestamp."""
        starts = {"epoch": 0, "first packet": first_ns, "first day": first_ns - first_ns % _DAY_NS}
        return max(_EARLIEST_NS, min(starts[self.anchor] + self.ns, _LATEST_NS))


class _MomentType(click.ParamType[Moment]):
    """ISO 8601, epoch seconds, a time of day, or +SPAN after the first packet."""

    name = "time"

    def convert(self, value: str | Moment, param: click.Parameter | None, ctx: click.Context | None) -> Moment:
        """Parses the text."""
        if isinstance(value, Moment):
            return value
        text = value.strip()
        readers: tuple[Callable[[str], Moment | None], ...] = (_after_first, _time_of_day, _epoch, _iso)
        for read in readers:
            if (moment := read(text)) is not None and _EARLIEST_NS <= moment.ns <= _LATEST_NS:
                return moment
        if re.fullmatch(_EPOCH, text):
            self.fail(f"{value!r} is beyond the year 2262: seconds since 1970 are meant{_finer(text)}", param, ctx)
        self.fail(
            f"{value!r} is no time: write 2026-03-01T10:45:49.05 (UTC unless a zone follows), 10:45:49.05 (on the "
            "capture's first day), +1.5s (after its first packet) or seconds since 1970",
            param,
            ctx,
        )


RATE = _RateType()
SIZE = _SizeType()
SPAN = _SpanType()
MOMENT = _MomentType()


def _finer(text: str) -> str:
    """The correct spelling of a number that counts parts of a second."""
    whole = text.partition(".")[0]
    places, name = _FINER.get(len(whole), (0, ""))
    return f"; if these are {name}, write {whole[:-places]}.{whole[-places:]}" if places else ""


def _span(text: str) -> int | None:
    if text == "0":
        return 0
    found = re.fullmatch(_SPAN, text)
    return int(_decimal(found[1]) * _UNITS_NS[found[2]]) if found else None


def _after_first(text: str) -> Moment | None:
    if not text.startswith("+"):
        return None
    span = _span(text[1:])
    if span is None and re.fullmatch(_EPOCH, text[1:]):
        span = _seconds(text[1:])
    return None if span is None else Moment(span, "first packet")


def _time_of_day(text: str) -> Moment | None:
    found = re.fullmatch(_CLOCK, text)
    if not found:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.group(1, 2, 3))
    if hours > 24 or minutes > 59 or seconds > 60:
        return None
    whole = (hours * 3600 + minutes * 60 + seconds) * _SECOND_NS
    return Moment(whole + _seconds(found[4] or "0"), "first day")


def _epoch(text: str) -> Moment | None:
    return Moment(_seconds(text)) if re.fullmatch(_EPOCH, text) else None


def _iso(text: str) -> Moment | None:
    """`datetime` stops at microseconds, so the fraction is added here."""
    found = re.fullmatch(_ISO, text)
    if not found:
        return None
    day, minute, second, fraction, zone = found.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{minute or '00:00'}:{second or '00'}{zone or ''}")
    except ValueError:
        return None
    whole = whole if whole.tzinfo else whole.replace(tzinfo=UTC)
    return Moment(int(whole.timestamp()) * _SECOND_NS + _seconds(fraction or "0"))


def _seconds(text: str) -> int:
    return int(_decimal(text) * _SECOND_NS)


def _decimal(text: str) -> "Decimal":
    from decimal import Decimal

    return Decimal(text)
