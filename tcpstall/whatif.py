"""Predicts the gain of a change: flows recovered from a capture and played again, unchanged and with the change.

Nothing is predicted without the replay of the unchanged flow beside what was captured: the difference is the model's
own error. Where a capture does not support a prediction, `Forecast.refused` says why.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tcpstall import _core
from tcpstall.change import NAMES, Change, change
from tcpstall.forecasts import (
    Expected,
    Forecast,
    Outcome,
    Sizing,
    Times,
    Unpredicted,
    WhatIf,
    added,
    forecast_of,
)
from tcpstall.lines import lines_of
from tcpstall.model import Analysis, Endpoint, Flow, Path, analyze

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
    read_as: dict[str, Any] = {"sets": sets, "missing_before": missing_before}
    whole = partial(analyze, names, bursts=False, exchanges=False, strict=strict, open=open, **read_as)
    replayed = partial(_forecasts, files or names, whole, sets=sets, missing_before=missing_before)
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
    whole: Callable[[], Analysis],
    flows: Sequence[Flow],
    changes: Sequence[Sequence[tuple[str, int | None]]],
    *,
    sets: Sequence[int],
    missing_before: Sequence[int],
    suggested: bool = False,
) -> list[Forecast]:
    """Each flow by itself, and those that others on their line disturb together with these."""
    texts = _core.whatif(names, [flow.id for flow in flows], changes, sets=sets, missing_before=missing_before)
    forecasts = _read(flows, texts, suggested=suggested)
    shared = {one.flow.id for one in forecasts if one.shares_line}
    if not shared:
        return forecasts
    by_id = {flow.id: flow for flow in flows}
    joint = {one.flow.id: one for one in forecasts}
    lines = [[(flow, flow in by_id) for flow in line] for line in lines_of(whole(), shared, sets)]
    answers = _core.whatif_together(names, lines, changes, sets=sets, missing_before=missing_before)
    for line, texts in zip(lines, answers, strict=True):
        changed = [by_id.get(flow) for flow, _ in line]
        for one in _read(changed, texts, suggested=suggested):
            if one.refused is None or _is_better(one, joint.get(one.flow.id)):
                joint[one.flow.id] = one
    return [joint[flow.id] for flow in flows if flow.id in joint]


def _is_better(together: Forecast, alone: Forecast | None) -> bool:
    """A replay of the whole line that does not fit is a better reason than that of the flow by itself."""
    return alone is None or (alone.refused is not None and together.replayed is not None)


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


def _read(flows: Sequence[Flow | None], texts: Sequence[str | None], *, suggested: bool) -> list[Forecast]:
    return [
        forecast_of(flow, text, suggested=suggested)
        for flow, text in zip(flows, texts, strict=True)
        if flow is not None and text is not None
    ]


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
