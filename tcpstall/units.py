"""Nanoseconds, bytes and shares as text: the only place that rounds; and sizes as people write them."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "clock",
    "confidence",
    "counted",
    "date",
    "duration",
    "exact",
    "held",
    "hundredths",
    "in_ascii",
    "number",
    "offset",
    "per_second",
    "percent",
    "rate",
    "ratio",
    "read_size",
    "share",
    "size",
    "size_range",
    "times",
]

_US = 1_000
_MS = 1_000_000
_S = 1_000_000_000
_MINUTE = 60 * _S
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

_INSIDE = r"(?<=\d) (?=[a-zA-Zµ%])|(?<=\d min) (?=\d)|(?<=\d h) (?=\d)|(?<=\d d) (?=\d)"
"""Spaces inside `2 min 31 s`, `888.1 kbit/s` and `1,354 segments`."""

_SIZE = r"(?i)(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(|b|ib)"
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

_WORDS = {0: "never", 1: "once", 2: "twice"}

_ASCII = str.maketrans(
    {
        "→": "->",
        "←": "<-",
        "↔": "<->",
        "–": "-",
        "−": "-",
        "×": "x",
        "÷": "/",
        "≥": ">=",
        "≤": "<=",
        "µ": "u",
        "…": "...",
    }
)


def in_ascii(text: str) -> str:
    """The program's own words where nothing but ASCII can be shown: `149 us`, `10->11`."""
    return text.translate(_ASCII)


def number(value: int) -> str:
    """A count with separators: 524583 → `524,583`."""
    return f"{value:,}"


def counted(value: int, noun: str) -> str:
    """A count with its noun: `1 stall`, `6 stalls`."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def times(value: int) -> str:
    """A count of times: `once`, `twice`, `3 times`."""
    return _WORDS.get(value) or f"{number(value)} times"


def duration(span_ns: int) -> str:
    """A span for reading: `149 µs`, `6.9 ms`, `1.23 s`, `2 min 05 s`, `3 h 07 min`, `2 d 4 h`."""
    if span_ns < 0:
        return f"-{duration(-span_ns)}"
    if span_ns < _US:
        return f"{span_ns} ns"
    # Each bound lies half a step below the unit, so that 999.96 ms reads 1.00 s and not 1000.0 ms.
    if span_ns < _MS - _US // 2:
        return f"{_rounded(span_ns, _US)} µs"
    if span_ns < _S - _MS // 20:
        return f"{_decimal(span_ns, _MS, 1)} ms"
    if span_ns < _MINUTE - _S // 200:
        return f"{_decimal(span_ns, _S, 2)} s"
    return _long(span_ns)


def exact(span_ns: int) -> str:
    """A span to the microsecond where that fits: `7.124 ms`, `0.149 ms`, `9.993 s`; longer ones like duration()."""
    if span_ns < 0:
        return f"-{exact(-span_ns)}"
    if span_ns < _US:
        return f"{span_ns} ns"
    if span_ns < _S - _US // 2:
        return f"{_decimal(span_ns, _MS, 3)} ms"
    if span_ns < _MINUTE - _MS // 2:
        return f"{_decimal(span_ns, _S, 3)} s"
    return _long(span_ns)


def offset(span_ns: int) -> str:
    """Time since a flow's start, to the microsecond, in seconds: `+0.010381`."""
    sign = "-" if span_ns < 0 else "+"
    return f"{sign}{_decimal(abs(span_ns), _S, 6)}"


def clock(time_ns: int) -> str:
    """The time of day in the capture's clock, to the microsecond: `10:45:49.051409`."""
    seconds, rest = divmod(time_ns % _DAY, _S)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest // _US:06}"


def date(time_ns: int) -> str:
    """The day in the capture's clock: `2026-03-01`."""
    year, month, day = _civil(time_ns // _DAY)
    return f"{year:04}-{month:02}-{day:02}"


def percent(part: int, whole: int) -> str:
    """A share without decimals: `67 %`, `<1 %`, `>99 %`."""
    if whole <= 0 or part <= 0:
        return "0 %"
    if part * 100 < whole:
        return "<1 %"
    if part < whole and part * 100 > 99 * whole:
        return ">99 %"
    return f"{_rounded(part * 100, whole)} %"


def ratio(part: int, whole: int) -> str:
    """Quotient to a tenth where it is not whole: `4`, `1.3`; `–` of nothing."""
    return _decimal(part, whole, 1).removesuffix(".0") if whole > 0 else "–"


def confidence(value: float) -> str:
    """A confidence from 0 to 1 as a share: `97 %`."""
    return f"{value * 100:.0f} %"


def share(value: float) -> str:
    """A ratio as a share without decimals, above 1 too: `96 %`, `<1 %`, `104 %`."""
    return percent(round(value * 10**6), 10**6)


def hundredths(value: "Fraction") -> str:
    """A ratio as a share to a hundredth of a percent: `20.04 %`."""
    return f"{_decimal(value.numerator * 100, value.denominator, 2)} %"


def rate(size_bytes: int, span_ns: int) -> str:
    """Throughput in bits a second: `66.5 Mbit/s`; `–` over no time."""
    if span_ns <= 0:
        return "–"
    bits = _rounded(size_bytes * 8 * _S, span_ns)
    for unit, name in ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s")):
        if bits >= unit:
            return f"{_decimal(bits, unit, 1)} {name}"
    return f"{bits} bit/s"


def size(value: int) -> str:
    """Bytes for reading: `724 bytes`, `8.7 kB`, `2.1 MB`; a kB is 1,000 bytes."""
    unit, name = _size_unit(value)
    return f"{_decimal(value, unit, 1)} {name}" if unit > 1 else counted(value, "byte")


def read_size(text: str) -> int | None:
    """Bytes of `16384`, `256K`, `64KiB` (1,024) or `64kB` (1,000, as size() prints it); None of anything else.

    A letter alone is binary as in iperf, tc and GNU coreutils.
    """
    match = re.fullmatch(_SIZE, text.strip())
    if match is None:
        return None
    from decimal import Decimal

    factor = 1000 if match[3].lower() == "b" else 1024
    return int(Decimal(match[1]) * factor ** _POWERS[match[2].lower()])


def size_range(low: int, high: int) -> str:
    """Two sizes in the unit of the larger: `5.8–8.7 kB`."""
    unit, name = _size_unit(high)
    if low >= high:
        return size(high)
    first, last = (f"{_decimal(value, unit, 1)}" if unit > 1 else number(value) for value in (low, high))
    return f"{first}–{last} {name}"


def per_second(size_bytes: int) -> str:
    """Bytes a second as a rate in bits: `13.1 Mbit/s`, `1.7 Mbit/s`, `320 bit/s`."""
    return rate(size_bytes, _S)


def _size_unit(value: int) -> tuple[int, str]:
    # Half a step below the unit, as for durations: 999,960 bytes read 1.0 MB.
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if value >= unit - unit // 20_000:
            return unit, name
    return 1, "bytes"


def _long(span_ns: int) -> str:
    if span_ns < _HOUR - _S // 2:
        minutes, seconds = divmod(_rounded(span_ns, _S), 60)
        return f"{minutes} min {seconds:02} s"
    if span_ns < _DAY - _MINUTE // 2:
        hours, minutes = divmod(_rounded(span_ns, _MINUTE), 60)
        return f"{hours} h {minutes:02} min"
    days, hours = divmod(_rounded(span_ns, _HOUR), 24)
    return f"{number(days)} d {hours} h"


def _rounded(value: int, unit: int) -> int:
    """Half up and in integers: floating point would print 42.35 as 42.3 on one machine and 42.4 on the next."""
    return (2 * value + unit) // (2 * unit)


def _decimal(value: int, unit: int, places: int) -> str:
    scaled = _rounded(value * 10**places, unit)
    whole, fraction = divmod(scaled, 10**places)
    return f"{whole:,}.{fraction:0{places}}"


def _civil(days: int) -> tuple[int, int, int]:
    """Days since 1970-01-01 as a proleptic Gregorian date; `datetime` stops at the year 9999, hostile clocks do not."""
    shifted = days + 719_468
    era, day_of_era = divmod(shifted, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def held(text: str, by: str) -> str:
    """The text with `by` in place of the spaces between figures and their units, at which no line must fold."""
    return re.sub(_INSIDE, by, text)
