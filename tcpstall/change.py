"""Changes of a host, a path or an application, by their names on the command line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tcpstall.units import read_size

__all__ = ["NAMES", "Change", "change"]

_AUTO = "auto"
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµ/]*)")
_SPANS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_RATES = {"k": 10**3, "m": 10**6, "g": 10**9, "": 1}
_RATE_SUFFIX = re.compile(r"(?:bit(?:/s|ps)?|bps)$", re.IGNORECASE)

NAMES: Mapping[str, str] = {
    "initcwnd": "segments",
    "sndbuf": "size",
    "rcvbuf": "size",
    "slow-start-after-idle": "switch",
    "rtt": "trip span",
    "rate": "rate",
    "nodelay": "switch",
    "delayed-ack": "span",
    "reuse-connection": "switch",
    "loss": "nothing",
    "think": "span",
}
"""Things that may be changed, and the kind of value that each takes."""

_EXAMPLES = {
    "segments": "40",
    "size": "256K (or auto)",
    "switch": "0 or 1",
    "span": "100ms",
    "trip span": "100ms",
    "rate": "100Mbit",
    "nothing": "0",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change: segments, bytes, nanoseconds, bytes a second, or 0 and 1; None for `auto`."""

    name: str
    value: int | None


def change(text: str) -> Change:
    """A change as people write it: `initcwnd=40`, `sndbuf=256K`. Raises ValueError that says what would be right."""
    name, _, written = text.partition("=")
    name, written = name.strip(), written.strip()
    kind = NAMES.get(name)
    if kind is None:
        raise ValueError(f"{name!r} is nothing that can be changed: choose among {', '.join(NAMES)}")
    auto = written == _AUTO and kind == "size"
    value = None if auto else _value(kind, written)
    if value is None and not auto:
        raise ValueError(f"{text!r}: write {name}=VALUE with a value such as {_EXAMPLES[kind]}")
    return Change(name, value)


def _value(kind: str, written: str) -> int | None:
    if kind == "size":
        return read_size(written) or None
    found = _NUMBER.fullmatch(written)
    if not found:
        return None
    number, unit = Decimal(found[1]), found[2]
    factors = {"span": _SPANS, "trip span": _SPANS}.get(kind)
    if kind == "rate":
        unit, factors, number = _RATE_SUFFIX.sub("", unit), _RATES, number / 8
    elif kind.endswith("span") and number == 0:
        return 0 if kind == "span" else None
    factor = (factors or {"": 1}).get(unit if kind.endswith("span") else unit.lower())
    if factor is None:
        return None
    value = int(number * factor)
    fits = {"switch": value in (0, 1), "nothing": value == 0, "span": value >= 0}.get(kind, value > 0)
    whole = kind not in ("switch", "nothing", "segments") or value == number
    return value if fits and whole else None
