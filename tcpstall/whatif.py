"""Predicts the gain of a change: flows recovered from a capture and played again, unchanged and with the change.

Nothing is predicted without the replay of the unchanged flow beside what was captured: the difference is the model's
own error. Where a capture does not support a prediction, `Forecast.refused` says why.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tcpstall import _core
from tcpstall.change import NAMES, Change, change
from tcpstall.model import Analysis, Capture, Endpoint, Flow, Path, Side, analyze

__all__ = [
    "NAMES",
    "Change",
    "Expected",
    "Forecast",
    "Outcome",
    "Sizing",
    "Times",
    "Unpredicted",
    "WhatIf",
    "added",
    "change",
    "foreseen",
    "together",
    "whatif",
]

_LEAST_SAVING_NS = 1_000
"""Least saving of a change that is suggested, as in the core."""

MOST_FLOWS = 500
"""Flows of a service that are replayed, those that lost most time first."""

_TRIED = 5
"""Flows that are tried where none was asked for and those that lost more time have no prediction."""


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
        by_chance=any(outcome.by_chance for outcome in outcomes),
    )


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

    Where that one has no prediction, those that lost most after it follow, up to the first that has one.

    Each of `changes` is a set that is made together; without any, each remedy that the flows' causes call for is tried
    alone, and the best comes first. Captures are read twice, so they must be files. `rtt=` changes the whole path's.
    `sets`, `missing_before` and `open` are those of analyze(); with `open` the second reading is of `files`, one of the
    same content for each path. Raises like analyze().
    """
    several: Sequence[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    names = [os.fspath(path) for path in several]
    # Those that lost most are held alone; those with a number are looked for while reading.
    top = None if flows or service else _TRIED
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
    asked = [[(one.key, one.value) for one in together] for together in changes]
    replayed = partial(_forecasts, files or names, sets=sets, missing_before=missing_before)
    if not flows and service is None:
        forecasts = _up_to_the_first_told(wanted, partial(replayed, changes=asked))
        return WhatIf(tuple(analysis.captures), tuple(forecasts))
    forecasts = replayed(wanted, asked)
    if not changes and len(wanted) > 1:
        remedies = _remedies(forecasts)
        if remedies:
            forecasts = _best_first(replayed(wanted, [[remedy] for remedy in remedies], suggested=True))
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
    """Forecasts of each flow's remedies, of flows that analyze() gave for the same paths and keywords.

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


def together(paths: Sequence[str], forecasts: Sequence[Forecast], **read_as: Any) -> dict[Endpoint, list[Forecast]]:
    """The remedies that foreseen() found for flows of one server, tried for all of these flows, the best first.

    Servers of one flow are left out, and so is `reuse-connection`: the connection to reuse may not be among the flows.
    `read_as` are the keywords of foreseen(), and it raises like foreseen().
    """
    by_server: dict[Endpoint, list[Forecast]] = {}
    for forecast in forecasts:
        by_server.setdefault(forecast.flow.server, []).append(forecast)
    remedies = {
        server: [one for one in _remedies(those) if one[0] != "reuse-connection"]
        for server, those in by_server.items()
        if len(those) > 1
    }
    sets = list(dict.fromkeys(remedy for own in remedies.values() for remedy in own))
    flows = [forecast.flow for forecast in forecasts if remedies.get(forecast.flow.server)]
    if not flows:
        return {}
    texts = _core.whatif(paths, [flow.id for flow in flows], [[remedy] for remedy in sets], **read_as)
    tried = _read(flows, texts, suggested=True)
    return {
        server: _best_first([_only(own, one) for one in tried if one.flow.server == server])
        for server, own in remedies.items()
        if own
    }


def _only(remedies: Sequence[tuple[str, int | None]], forecast: Forecast) -> Forecast:
    meant = {(Change(name, value),) for name, value in remedies}
    return replace(
        forecast,
        outcomes=tuple(one for one in forecast.outcomes if one.changes in meant),
        unpredicted=tuple(one for one in forecast.unpredicted if one.changes in meant),
    )


def _wanted(analysis: Analysis, flows: Sequence[int], service: Endpoint | None) -> tuple[list[int], int]:
    ranked = analysis.ranked()
    if not flows and service is None:
        return ranked[:_TRIED], 0
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


def _up_to_the_first_told(
    flows: Sequence[Flow], replayed: Callable[[Sequence[Flow]], list[Forecast]]
) -> list[Forecast]:
    """Those before the first with a prediction, and that one; the first alone where none has one."""
    forecasts: list[Forecast] = []
    for flow in flows:
        forecasts += replayed([flow])
        if forecasts and forecasts[-1].refused is None:
            return forecasts
    return forecasts[:1]


def _read(flows: Sequence[Flow], texts: Sequence[str | None], *, suggested: bool) -> list[Forecast]:
    rows = ((flow, json.loads(text)) for flow, text in zip(flows, texts, strict=True) if text is not None)
    return [_forecast(flow, row, suggested) for flow, row in rows]


def _remedies(forecasts: Sequence[Forecast]) -> list[tuple[str, int | None]]:
    """Changes that any of the flows calls for, each by its name once: the largest value does for all."""
    found: dict[str, int | None] = {}
    for forecast in forecasts:
        for outcome in forecast.outcomes:
            for one in outcome.changes:
                before = found.get(one.name)
                found[one.name] = one.value if before is None or one.value is None else max(before, one.value)
    return list(found.items())


def _best_first(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """The same remedies for all flows, in the order of what they save over all, without those that save nothing.

    A remedy that one of the flows says nothing about is left out.
    """
    beyond = {one.changes for forecast in forecasts for one in forecast.unpredicted}
    forecasts = [
        replace(one, outcomes=tuple(made for made in one.outcomes if made.changes not in beyond), unpredicted=())
        for one in forecasts
    ]
    told = [forecast for forecast in forecasts if forecast.refused is None]
    replayed = sum(forecast.replayed.transfer_ns for forecast in told if forecast.replayed)
    totals = [added(outcomes) for outcomes in zip(*(forecast.outcomes for forecast in told), strict=True)]
    gains = [min(one.saved_ns, 0) or max(one.saved_ns, replayed - one.transfer.expected_ns) for one in totals]
    order = [at for at, gain in enumerate(gains) if gain >= _LEAST_SAVING_NS]
    order.sort(key=lambda at: -totals[at].saved_ns)
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
