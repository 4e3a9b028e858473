"""Where the diagnosis does not hold a property yet: strict xfails, so that a repair has to strike them off here."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pytest

Known = Mapping[str, Mapping[str, Iterable[str]]]
"""Reason → "scene tap" → what was done to the capture."""

DISTANCE = "the distance to a sender without a captured SYN counts as 0, so its first waits are called idle"
REOPENED = "a window of unknown scale closes at 0 and never opens again"
GUESSED_MSS = "the last piece of a write is taken for a full segment, so equal gaps are called pacing"
HOLE = "a hole of the capture is taken for a loss before the tap"
OPTIONS_CUT = "a SYN whose options were cut off counts as one without options: no window scale"
SYN_ACK_FIRST = "a SYN-ACK that is stored before its SYN leaves the window scale unknown"
NOT_LOST = "the packet that a new burst's first one overtook counts as lost: an idle becomes a timeout"
UNTRUSTED_ID = "swapped packets or GRO's frames take the trust in the IP-ID counter away: a lost tail becomes an idle"
LATE_SEGMENTS = "what fills a hole counts neither in its burst nor in flight: rate and window come out too small"
NO_ROUND_TRIP = "before data was acknowledged the round trip counts as 0: an overtaken packet counts as sent again"
UNNUMBERED = "copies of packets without an IP-ID count as sent again after 20 µs"
SLACK = "2 % of the distance as slack lets ACKs of the next round in before the data that they follow"

DISORDER = (
    "a fifth stored before its neighbour",
    "a fifth stamped before its neighbour",
    "a twentieth up to 1 ms late",
)

DISTURBED: Known = {
    SYN_ACK_FIRST: {
        f"{name} server": ["a fifth stored before its neighbour"]
        for name in ("small_window", "closed_window", "long_window_limited")
    },
    NOT_LOST: {
        "chunks server": DISORDER,
        "chunks client": DISORDER,
        "thinking server": ["a fifth stamped before its neighbour"],
        "idle_restart server": ["a fifth stamped before its neighbour"],
        "long_restarts server": ["a fifth stamped before its neighbour"],
        "long_restarts client": ["a fifth stored before its neighbour", "a fifth stamped before its neighbour"],
    },
    UNTRUSTED_ID: {
        "timeout client": [
            *DISORDER,
            "large frames",
            "frames of 17 segments",
        ],
        "fast_retransmit client": [
            *DISORDER,
        ],
    },
    NO_ROUND_TRIP: {"send_buffer server": ["a twentieth up to 1 ms late"]},
    LATE_SEGMENTS: {
        "long_window_limited client": ["a twentieth up to 1 ms late"],
        "paced client": [
            *DISORDER,
        ],
    },
    OPTIONS_CUT: {
        f"{name} {tap}": ["cut to 68 bytes"]
        for name in (
            "slow_start",
            "upload",
            "small_window",
            "closed_window",
            "send_buffer",
            "thinking",
            "idle_restart",
            "paced",
            "timeout",
            "fast_retransmit",
            "chunks",
            "long_window_limited",
            "long_send_buffer",
            "long_restarts",
        )
        for tap in ("server", "client")
    },
    UNNUMBERED: {
        "trace": [
            "every packet twice",
            "every packet twice, the copy in a VLAN",
            "a tenth of the packets twice",
        ]
    },
}

LATE_STARTS = ("no SYN", "no SYN-ACK", "no handshake", "from a tenth on", "from a third on")
EARLY = ("no SYN", "no handshake", "from a tenth on")

DAMAGED: Known = {
    DISTANCE: {
        "slow_start client": EARLY,
        "upload server": LATE_STARTS[1:],
        "small_window client": (*EARLY, "from a third on"),
        "send_buffer client": (*EARLY, "from a third on"),
        "idle_restart client": (*EARLY, "from a third on"),
        "paced client": (*EARLY, "from a third on"),
        "timeout client": ("from a tenth on", "from a third on"),
        "fast_retransmit client": EARLY,
        "long_window_limited client": (*EARLY, "from a third on"),
        "long_send_buffer client": (*EARLY, "from a third on"),
        "long_restarts client": ("no SYN", "no handshake", "from a third on"),
        "trace": ("no handshake", "from a tenth on", "from a third on"),
    },
    REOPENED: {"closed_window server": LATE_STARTS, "closed_window client": LATE_STARTS},
    GUESSED_MSS: {"chunks server": ["no SYN-ACK"]},
    HOLE: {"timeout server": ["a hole of 20"]},
}

MOVED: Known = {
    SLACK: {
        "closed_window server": ("0.25", "0.5", "0.75", "0.9", "1.0"),
        "closed_window client": ("0.9", "1.0"),
        "closed_window split": ("1.0",),
    }
}


def marked(known: Known, *, where: str, what: str) -> list[pytest.MarkDecorator]:
    """The mark of one case."""
    reasons = [reason for reason, places in known.items() if what in places.get(where, ())]
    assert len(reasons) <= 1, (where, what)
    return []


def cases(known: Known, names: Iterable[str], taps: Iterable[str], done: Iterable[Any]) -> list[Any]:
    """(scene, tap, what was done) of every combination, with its mark."""
    return [
        pytest.param(name, tap, what, marks=marked(known, where=f"{name} {tap}", what=str(what)))
        for name, tap, what in product(names, taps, done)
    ]


def trace_cases(known: Known, done: Iterable[Any]) -> list[Any]:
    """What was done to the 7 ms trace, with its mark."""
    return [pytest.param(what, marks=marked(known, where="trace", what=str(what))) for what in done]
