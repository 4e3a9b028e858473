"""A flow's time as the parts of one bar."""

from collections.abc import Mapping
from dataclasses import dataclass

from tcpstall.causes import Cause
from tcpstall.model import Flow
from tcpstall.units import duration, percent

__all__ = ["PATTERNS", "Part", "look", "look_of", "parts", "parts_of"]

PATTERNS = 14
"""Patterns in the colours, by the code of a cause, so that no two causes differ by colour alone."""

_NAMED_SHARE = 0.13
"""A part of this share of the bar has room for its name."""

_NEUTRAL = {"sending": "#8d9bab", "in-transit": "#b9c3ce", "closing": "#dde3e9"}
"""Time that nobody lost."""


_LIKE: Mapping[str, Cause] = {
    "unreachable": Cause.HANDSHAKE,
    "refused": Cause.HANDSHAKE,
    "half-open": Cause.HANDSHAKE,
    "aborted": Cause.HANDSHAKE,
    "handshake-loss": Cause.HANDSHAKE,
    "accept-queue": Cause.HANDSHAKE,
    "handshake-slow": Cause.HANDSHAKE,
    "peer-gone": Cause.RETRANSMISSION,
    "loss": Cause.RETRANSMISSION,
    "path-mtu": Cause.RETRANSMISSION,
    "reordering": Cause.RETRANSMISSION,
    "server-slow": Cause.APP_LIMITED,
    "server-silent": Cause.APP_LIMITED,
    "sent-in-pieces": Cause.APP_LIMITED,
    "flow-control": Cause.APP_LIMITED,
    "no-permission": Cause.APP_LIMITED,
    "no-answer": Cause.APP_LIMITED,
    "rate-application": Cause.APP_LIMITED,
    "rate-pacing": Cause.PACING,
    "rate-window": Cause.CWND_LIMITED,
}
"""Kinds of findings that no cause is named like, with the cause whose colour they have."""


@dataclass(frozen=True)
class Part:
    """A part of the bar; `left` and `width` in per cent of it."""

    owner: str
    colour: str
    pattern: int
    left: float
    width: float
    text: str
    named: bool
    ink: str


def look(owner: str) -> tuple[str, int]:
    """An owner's colour and the number of its pattern; 0 is plain."""
    if owner in _NEUTRAL:
        return _NEUTRAL[owner], 0
    cause = Cause(owner)
    return cause.colour, cause.code % PATTERNS


def look_of(kind: str) -> tuple[str, int]:
    """Colour and pattern of a kind of finding."""
    if kind in _LIKE:
        return look(_LIKE[kind].value)
    return look(kind if kind in tuple(Cause) else "sending")


def parts(flow: Flow) -> list[Part]:
    """The owners of the flow's time: those who lost it first, most first."""
    return parts_of(flow.time_ns, flow.duration_ns)


def parts_of(time_ns: Mapping[str, int], whole_ns: int) -> list[Part]:
    """The parts for any owners' times, in a bar of `whole_ns`."""
    whole, own = max(1, whole_ns), sum(time_ns.values())
    owned = sorted(
        ((owner, span) for owner, span in time_ns.items() if span > 0),
        key=lambda row: (row[0] in _NEUTRAL, -row[1]),
    )
    made, left = [], 0.0
    for owner, span in owned:
        width = 100 * span / whole
        colour, pattern = look(owner)
        text = f"{owner} {duration(span)} ({percent(span, own)})"
        made.append(
            Part(
                owner, colour, pattern, round(left, 4), round(width, 4), text, width >= 100 * _NAMED_SHARE, _ink(colour)
            )
        )
        left += width
    return made


def _ink(colour: str) -> str:
    """Black or white, whichever reads better (WCAG's relative luminance, gamma taken as 2.2)."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return "#fff" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.3 else "#111"
