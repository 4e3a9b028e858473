"""Changes of a host, a path or an application, by their names on the command line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tcpstall.units import read_size

__all__ = ["CONTROLS", "ENDS", "NAMES", "OF_BOTH", "Change", "change"]

_AUTO = "auto"
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµ/]*)")
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")
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
    "queue": "depth",
    "queue-packets": "packets",
    "nodelay": "switch",
    "delayed-ack": "span",
    "reuse-connection": "switch",
    "loss": "share",
    "think": "span",
    "cc": "control",
}
"""Things that may be changed, and the kind of value that each takes."""

ENDS = ("client", "server")
"""Ends that a change may be made at alone: `server.initcwnd`. Of data and path it is the sender."""

OF_BOTH = ("rtt", "reuse-connection")
"""Changes of the whole connection, which no end has alone."""

CONTROLS = ("reno", "cubic", "bbr", "bbr3")
"""Values of `cc`; a change holds the place in this list."""

_EXAMPLES = {
    "segments": "40",
    "size": "256K (or auto)",
    "switch": "0 or 1",
    "span": "100ms",
    "trip span": "100ms",
    "rate": "100Mbit",
    "share": "1% or 0",
    "depth": "64K",
    "packets": "100",
    "control": "reno, cubic, bbr or bbr3",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change at both ends, or at `end` alone.

    The value is in segments, packets, bytes, nanoseconds, bytes a second, parts per million, a place in CONTROLS, or 0
    and 1; None for `auto`.
    """

    name: str
    value: int | None
    end: str | None = None

    @property
    def key(self) -> str:
        """The name as it is written, after its end: `server.initcwnd`."""
        return self.name if self.end is None else f"{self.end}.{self.name}"


def change(text: str) -> Change:
    """A change as people write it: `initcwnd=40`, `client.sndbuf=256K`. Raises ValueError that says what is right."""
    key, _, written = text.partition("=")
    written = written.strip()
    before, dot, name = key.strip().rpartition(".")
    end = before if dot else None
    if end is not None and end not in ENDS:
        raise ValueError(f"{end!r} is no end: write client.{name} or server.{name}, or {name} for both")
    if end is not None and name in OF_BOTH:
        raise ValueError(f"{name!r} is the whole connection's: write {name}=VALUE")
    kind = NAMES.get(name)
    if kind is None:
        raise ValueError(f"{name!r} is nothing that can be changed: choose among {', '.join(NAMES)}")
    auto = written == _AUTO and kind == "size"
    value = None if auto else _value(kind, written)
    if value is None and not auto:
        raise ValueError(f"{text!r}: write {key.strip()}=VALUE with a value such as {_EXAMPLES[kind]}")
    return Change(name, value, end)


def _value(kind: str, written: str) -> int | None:
    if kind in ("size", "depth"):
        return read_size(written) or None
    if kind == "control":
        return CONTROLS.index(written) if written in CONTROLS else None
    if kind == "share":
        return _share(written)
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
    fits = {"switch": value in (0, 1), "span": value >= 0}.get(kind, value > 0)
    whole = kind not in ("switch", "segments", "packets") or value == number
    return value if fits and whole else None


def _share(written: str) -> int | None:
    """Parts per million of a percentage below 100 %, or 0: a bare number could mean either."""
    found = _PERCENT.fullmatch(written)
    if not found:
        return 0 if _NUMBER.fullmatch(written) and not written.strip("0.") else None
    parts = Decimal(found[1]) * 10_000
    return int(parts) if parts < 10**6 and parts == int(parts) else None
