"""Forecasts of flows: times of replays, unchanged and with changes, and their bounds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcpstall.change import Change
from tcpstall.model import Capture, Flow, Side

__all__ = [
    "Expected",
    "Forecast",
    "Outcome",
    "Sizing",
    "Times",
    "Unpredicted",
    "WhatIf",
    "added",
    "forecast_of",
]

SHARED = "shared-line"
"""The core's word for a flow that cannot be replayed without the others on its line."""

_MUCH = 0.2
"""Share of the time of flows that chance decides, from which chance decides the sum."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A span and its bounds. Where chance decides, `expected_ns` is the middle of many replays."""

    expected_ns: int
    low_ns: int
    high_ns: int


@dataclass(frozen=True, slots=True)
class Times:
    """A transfer: from the client's SYN to the arrival of the last byte, and each exchange's latency for the client."""

    transfer_ns: int
    exchanges_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of changes made together. `suggested`: nobody asked for them, the flow's causes call for them.

    `owned_ns` is what the addressed causes own, the most that may be saved; `bounded`: the replay gained clearly more
    than that, which is not promised. `by_chance`: where losses fall decides, so only the bounds are a prediction.
    """

    changes: tuple[Change, ...]
    suggested: bool
    transfer: Expected
    exchanges: tuple[Expected, ...]
    saved_ns: int
    owned_ns: int
    bounded: bool = False
    by_chance: bool = False


@dataclass(frozen=True, slots=True)
class Unpredicted:
    """Changes that a flow says nothing about; `refused` says in a word why."""

    changes: tuple[Change, ...]
    refused: str


@dataclass(frozen=True, slots=True)
class Sizing:
    """Sizes that one end's data would need; None where nothing observed says it."""

    sender: Side
    rate_bytes_per_s: int | None
    bdp_bytes: int | None
    sndbuf_bytes: int | None
    peer_window_bytes: int | None
    first_window_bytes: int | None
    largest_message_bytes: int | None
    initcwnd_segments: int
    window_binds_first: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """One flow. `refused` says in a word why nothing is predicted; the times are None where they could not be told.

    `unpredicted` are those of the requested changes that have no outcome. `without_pace` are the times of the unchanged
    replay without the pace that was fitted to the captured time, None where no pace was fitted. `exchanges_left_out`
    are beyond those that are kept of a flow: the transfer contains them, the exchanges do not.
    """

    flow: Flow
    refused: str | None
    rtt_ns: int | None
    captured: Times | None
    replayed: Times | None
    error_ns: int | None
    outcomes: tuple[Outcome, ...]
    sizing: tuple[Sizing, ...]
    unpredicted: tuple[Unpredicted, ...] = ()
    without_pace: Times | None = None
    exchanges_left_out: int = 0

    @property
    def shares_line(self) -> bool:
        """Other flows on the same line are the reason why something has no prediction."""
        return SHARED in {self.refused, *(one.refused for one in self.unpredicted)}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """All flows that were asked for, in the order of their ids; `left_out` more belong to the service."""

    captures: tuple[Capture, ...]
    forecasts: tuple[Forecast, ...]
    left_out: int = 0

    @property
    def told(self) -> tuple[Forecast, ...]:
        """Those with a prediction of everything that was asked for."""
        return tuple(one for one in self.forecasts if one.refused is None and not one.unpredicted)

    @property
    def totals(self) -> tuple[Outcome, ...]:
        """The outcomes of all flows with a prediction added up, the changes in their order."""
        told = self.told
        if not told:
            return ()
        return tuple(added(outcomes) for outcomes in zip(*(forecast.outcomes for forecast in told), strict=True))


def added(outcomes: Sequence[Outcome]) -> Outcome:
    """One change's outcomes for several flows, as if they came one after the other; exchanges follow each other."""

    def total(spans: Iterable[Expected]) -> Expected:
        spans = tuple(spans)
        return Expected(
            sum(span.expected_ns for span in spans),
            sum(span.low_ns for span in spans),
            sum(span.high_ns for span in spans),
        )

    return Outcome(
        changes=outcomes[0].changes,
        suggested=outcomes[0].suggested,
        transfer=total(outcome.transfer for outcome in outcomes),
        exchanges=tuple(exchange for outcome in outcomes for exchange in outcome.exchanges),
        saved_ns=sum(outcome.saved_ns for outcome in outcomes),
        owned_ns=sum(outcome.owned_ns for outcome in outcomes),
        bounded=any(outcome.bounded for outcome in outcomes),
        by_chance=_waits(outcome for outcome in outcomes if outcome.by_chance) > _MUCH * _waits(outcomes),
    )


def _waits(outcomes: Iterable[Outcome]) -> int:
    return sum(sum(one.expected_ns for one in outcome.exchanges or (outcome.transfer,)) for outcome in outcomes)


def forecast_of(flow: Flow, text: str, *, suggested: bool) -> Forecast:
    """Reads the core's answer for a flow."""
    row = json.loads(text)
    outcomes = [_outcome(outcome, suggested) for outcome in row["outcomes"]]
    return Forecast(
        flow=flow,
        refused=row["refused"],
        rtt_ns=row["rtt_ns"],
        captured=_times(row["captured"]),
        replayed=_times(row["replayed"]),
        error_ns=row["error_ns"],
        outcomes=tuple(outcomes),
        sizing=tuple(Sizing(**sizing) for sizing in row["sizing"]),
        unpredicted=tuple(
            Unpredicted(tuple(Change(**change) for change in one["changes"]), one["refused"])
            for one in row["unpredicted"]
        ),
        without_pace=_times(row["without_pace"]),
        exchanges_left_out=row["exchanges_left_out"],
    )


def _times(row: Mapping[str, Any] | None) -> Times | None:
    return None if row is None else Times(row["transfer_ns"], tuple(row["exchanges_ns"]))


def _outcome(row: Mapping[str, Any], suggested: bool) -> Outcome:
    return Outcome(
        changes=tuple(Change(**one) for one in row["changes"]),
        suggested=suggested or row["suggested"],
        transfer=Expected(**row["transfer"]),
        exchanges=tuple(Expected(**exchange) for exchange in row["exchanges"]),
        saved_ns=row["saved_ns"],
        owned_ns=row["owned_ns"],
        bounded=row["bounded"],
        by_chance=row["by_chance"],
    )
