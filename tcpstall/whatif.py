"""What a change would buy: flows recovered from a capture and played again, unchanged and with the change.

Nothing is predicted without the replay of the unchanged flow beside what was captured: the difference is the model's
own error. Where a capture does not support a prediction, `Forecast.refused` says why.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from tcpstall import _core
from tcpstall.model import Analysis, Capture, Endpoint, Flow, Path, Side, analyze
from tcpstall.units import read_size

__all__ = [
    "NAMES",
    "Change",
    "Expected",
    "Forecast",
    "Outcome",
    "Sizing",
    "Times",
    "WhatIf",
    "added",
    "change",
    "foreseen",
    "whatif",
]

MOST_FLOWS = 500
"""Flows of a service that are replayed, those that lost most time first."""

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
"""What may be changed, and what kind of value it takes."""

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


@dataclass(frozen=True, slots=True)
class Expected:
    """A span, and the bounds that it should lie in."""

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
    """What changes come to, made together. `suggested`: nobody asked for them, the flow's causes call for them.

    `owned_ns` is what the addressed causes own, the most that may be saved; `bounded`: the replay gained clearly more
    than that, which is not promised.
    """

    changes: tuple[Change, ...]
    suggested: bool
    transfer: Expected
    exchanges: tuple[Expected, ...]
    saved_ns: int
    owned_ns: int
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Sizing:
    """What one end's data would need; None where nothing observed says it."""

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
    """One flow. `refused` says in a word why nothing is predicted; the times are None where they could not be told."""

    flow: Flow
    refused: str | None
    rtt_ns: int | None
    captured: Times | None
    replayed: Times | None
    error_ns: int | None
    outcomes: tuple[Outcome, ...]
    sizing: tuple[Sizing, ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """All flows that were asked for, in the order of their ids; `left_out` more belong to the service."""

    captures: tuple[Capture, ...]
    forecasts: tuple[Forecast, ...]
    left_out: int = 0

    @property
    def told(self) -> tuple[Forecast, ...]:
        """Those with a prediction."""
        return tuple(forecast for forecast in self.forecasts if forecast.refused is None)

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
    )


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
    return value if fits else None


def whatif(
    paths: Path | Sequence[Path],
    *,
    flows: Sequence[int] = (),
    service: Endpoint | None = None,
    changes: Sequence[Sequence[Change]] = (),
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
    sets: Sequence[int] = (),
    missing_before: Sequence[int] = (),
    open: Callable[[str], Any] | None = None,  # noqa: A002 the core's word
    files: Sequence[str] = (),
) -> WhatIf:
    """Plays flows again: those with these ids, those of a service, or the one that lost most time.

    Each of `changes` is a set that is made together; without any, each remedy that the flows' causes call for is tried
    alone, and the best comes first. Captures are read twice, so they must be files. `rtt=` changes the whole path's.
    `sets`, `missing_before` and `open` are those of analyze(); with `open` the second reading is of `files`, one of the
    same content for each path. Raises like analyze().
    """
    several: Sequence[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    names = [os.fspath(path) for path in several]
    # The one that lost most is held alone; those with a number are looked for while reading.
    top = None if flows or service else 1
    only = () if service else flows
    analysis = analyze(
        names,
        bursts=False,
        strict=strict,
        progress=progress,
        flows=only,
        top=top,
        sets=sets,
        missing_before=missing_before,
        open=open,
    )
    rows, left_out = _wanted(analysis, flows, service)
    wanted = [analysis[row] for row in rows]
    asked = [[(one.name, one.value) for one in together] for together in changes]
    replayed = partial(_forecasts, files or names, wanted, sets=sets, missing_before=missing_before)
    forecasts = replayed(asked)
    if not changes and len(wanted) > 1:
        remedies = _remedies(forecasts)
        if remedies:
            forecasts = _best_first(replayed([[remedy] for remedy in remedies], suggested=True))
    return WhatIf(tuple(analysis.captures), tuple(forecasts), left_out)


def foreseen(
    paths: Sequence[str],
    flows: Sequence[Flow],
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    sets: Sequence[int] = (),
    missing_before: Sequence[int] = (),
) -> list[Forecast]:
    """What each flow's remedies would buy, of flows that analyze() gave for the same paths and keywords.

    Raises OSError (cannot open) or ValueError (not a capture).
    """
    texts = _core.whatif(
        paths,
        [flow.id for flow in flows],
        since_ns=since_ns,
        until_ns=until_ns,
        max_expansion=max_expansion,
        sets=sets,
        missing_before=missing_before,
    )
    return _read(flows, texts, suggested=True)


def _wanted(analysis: Analysis, flows: Sequence[int], service: Endpoint | None) -> tuple[list[int], int]:
    ranked = analysis.ranked()
    if not flows and service is None:
        return ranked[:1], 0
    table = analysis.flows
    ids = table.column("flow")
    if service is None:
        return [row for row, flow in enumerate(ids) if flow in set(flows)], 0
    ends = list(zip(table.column("server_address"), table.column("server_port"), strict=True))
    rows = [row for row in ranked if ends[row] == (service.address, service.port)]
    rows = [row for row in rows if not flows or ids[row] in set(flows)]
    return sorted(rows[:MOST_FLOWS]), max(0, len(rows) - MOST_FLOWS)


def _forecasts(
    names: Sequence[str],
    flows: Sequence[Flow],
    changes: Sequence[Sequence[tuple[str, int | None]]],
    *,
    sets: Sequence[int],
    missing_before: Sequence[int],
    suggested: bool = False,
) -> list[Forecast]:
    ids = [flow.id for flow in flows]
    texts = _core.whatif(names, ids, changes, sets=sets, missing_before=missing_before)
    return _read(flows, texts, suggested=suggested)


def _read(flows: Sequence[Flow], texts: Sequence[str | None], *, suggested: bool) -> list[Forecast]:
    rows = ((flow, json.loads(text)) for flow, text in zip(flows, texts, strict=True) if text is not None)
    return [_forecast(flow, row, suggested) for flow, row in rows]


def _remedies(forecasts: Sequence[Forecast]) -> list[tuple[str, int | None]]:
    """What any of the flows calls for, each by its name once: the largest value does for all."""
    found: dict[str, int | None] = {}
    for forecast in forecasts:
        for outcome in forecast.outcomes:
            for one in outcome.changes:
                before = found.get(one.name)
                found[one.name] = one.value if before is None or one.value is None else max(before, one.value)
    return list(found.items())


def _best_first(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """The same remedies for all flows, in the order of what they save over all, without those that save nothing."""
    told = [forecast for forecast in forecasts if forecast.refused is None]
    replayed = sum(forecast.replayed.transfer_ns for forecast in told if forecast.replayed)
    totals = [added(outcomes) for outcomes in zip(*(forecast.outcomes for forecast in told), strict=True)]
    order = sorted(
        (at for at, one in enumerate(totals) if one.saved_ns > 0 or one.transfer.expected_ns < replayed),
        key=lambda at: -totals[at].saved_ns,
    )
    return [
        replace(forecast, outcomes=tuple(forecast.outcomes[at] for at in order))
        if forecast.refused is None
        else forecast
        for forecast in forecasts
    ]


def _forecast(flow: Flow, row: Mapping[str, Any], suggested: bool) -> Forecast:
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
    )
