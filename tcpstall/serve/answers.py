"""Answers to an agent: the names of the JSON report, the words of the terminal, and so few rows that they are read."""

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcpstall import __version__, plot
from tcpstall.errors import NothingToShow
from tcpstall.findings import finding_row
from tcpstall.findings import findings as findings_of
from tcpstall.model import Analysis, Capture, Flow
from tcpstall.report import answer as words
from tcpstall.report import proof, summary
from tcpstall.report.spikes import spike_lines
from tcpstall.report.trust import short_doubts
from tcpstall.serve import asked
from tcpstall.serve.reading import Reading, Source

__all__ = ["Answer", "analyze", "explain_stall", "findings", "flow", "picture"]

Answer = dict[str, Any]

_CAPTURES = 20
"""Captures that an answer names, those with an error first."""

_WIDE = 1_000
"""Columns of a line that is not to be cut."""

_IN_SHORT = ("what", "where", "flows", "time_ns", "recoverable_ns", "sentence", "advice", "buys", "example")
"""Keys of a finding in the answer of `analyze`; `findings` gives all."""

_FINDINGS_IN_SHORT = 5

_EMPTY: tuple[object, ...] = (None, "", [], {})


def analyze(source: Source, wanted: asked.Analyze) -> Answer:
    """The answer, the first findings and the first flows in that order."""
    analysis = _analysis(source.reading(wanted.captures), wanted, top=wanted.offset + wanted.limit, sort=wanted.sort)
    found = findings_of(analysis)
    rows = analysis.ranked(wanted.sort)[wanted.offset :]
    shown = [{name: row[name] for name in _IN_SHORT} for row in _finding_rows(analysis)[:_FINDINGS_IN_SHORT]]
    return _known(
        {
            "tcpstall": __version__,
            "answer": [line.plain for line in summary.summary(found, analysis.worst, analysis, _WIDE)],
            **_captures(analysis.captures),
            "time_ns": {owner: span for owner, span in analysis.time_ns().items() if span},
            "findings": shown,
            **_left_out("findings", len(found), len(shown), 0, "the tool findings lists all"),
            "flows": [_in_short(analysis[row]) for row in rows],
            **_left_out("flows", analysis.total, len(rows), wanted.offset),
        }
    )


def findings(source: Source, wanted: asked.Findings) -> Answer:
    """The findings whole, but for the tenths of their distributions."""
    analysis = _analysis(source.reading(wanted.captures), wanted, top=1)
    found = _finding_rows(analysis)
    shown = found[wanted.offset : wanted.offset + wanted.limit]
    return _known({"findings": shown, **_left_out("findings", len(found), len(shown), wanted.offset)})


def flow(source: Source, wanted: asked.Flow) -> Answer:
    """One flow, its longest stalls and its slowest exchanges; bursts are left out."""
    told = source.reading(wanted.captures).flow(wanted.flow)
    part = slice(wanted.offset, wanted.offset + wanted.limit)
    stalls = sorted(told.stalls, key=lambda stall: -stall.duration_ns)[part]
    exchanges = sorted(told.exchanges, key=lambda exchange: -exchange.latency_ns)[part]
    causes = [dataclasses.asdict(found) for found in words.findings(told)]
    row = dataclasses.asdict(dataclasses.replace(told, stalls=tuple(stalls), exchanges=tuple(exchanges)))
    # The answer tells the highest round trips, and the JSON report has no idle time.
    del row["rtt_spikes"], row["rtt_spikes_dropped"], row["idle_ns"]
    return _known(
        {
            "answer": [f"{words.loss(told)}, {words.set_up(told)}", *spike_lines(told), short_doubts(told)],
            "remarks": list(words.notes(told)),
            "causes": causes,
            "flow": {**row, "lost_ns": told.lost_ns},
            **_left_out("stalls", len(told.stalls), len(stalls), wanted.offset),
            **_left_out("exchanges", len(told.exchanges), len(exchanges), wanted.offset),
        }
    )


def explain_stall(source: Source, wanted: asked.ExplainStall) -> Answer:
    """The proof of one stall: the rule, what it read, and the packets around the wait."""
    reading = source.reading(wanted.captures)
    told = reading.flow(wanted.flow)
    stall = proof.longest([each for each in told.stalls if wanted.stall in (None, each.number)])
    if stall is None:
        which = "no stall" if wanted.stall is None else f"no stall {wanted.stall}"
        raise NothingToShow(f"flow {told.id} has {which}; the tool flow lists its stalls")
    packets = proof.around(reading.samples(told), stall)
    half = proof.MOST // 2
    shown = packets if len(packets) <= proof.MOST else [*packets[:half], *packets[-half:]]
    return _known(
        {
            "flow": told.id,
            **_ends(told),
            "stall": dataclasses.asdict(stall),
            "proof": dict(proof.grounds(told, stall)),
            "packets": shown,
            **_left_out("packets", len(packets), len(shown), 0, "they are the middle ones; plot shows them all"),
        }
    )


def picture(source: Source, wanted: asked.Plot) -> tuple[bytes, Answer]:
    """A PNG, and what it shows."""
    reading = source.reading(wanted.captures)
    with tempfile.TemporaryDirectory(prefix="tcpstall-") as scratch:
        file = Path(scratch) / "picture.png"
        if wanted.kind in plot.KINDS_OF_MANY:
            analysis = reading.analysis(flows=[] if wanted.flow is None else [wanted.flow])
            plot.draw_many(analysis, file, kind=wanted.kind)
            return file.read_bytes(), {"kind": wanted.kind, "flows": len(analysis)}
        drawn = reading.flow(wanted.flow)
        plot.draw_flow(reading.subject(drawn), file, kind=wanted.kind)
        return file.read_bytes(), {"kind": wanted.kind, "flow": _known(_in_short(drawn))}


def _analysis(reading: Reading, wanted: asked.Selection, **how: Any) -> Analysis:
    """The diagnosis of what is selected. Raises NothingToShow where that is no flow."""
    selection = wanted.model_dump(include=set(asked.Selection.model_fields) - {"captures"})
    analysis = reading.analysis(**selection, **how)
    if not analysis.total:
        raise NothingToShow("no TCP flow of the captures fits what was asked for; ask with fewer filters")
    return analysis


def _finding_rows(analysis: Analysis) -> list[Answer]:
    rows = [finding_row(rank, finding) for rank, finding in enumerate(findings_of(analysis), 1)]
    for row in rows:
        del row["tenths_ns"]
    return rows


def _captures(captures: Sequence[Capture]) -> Answer:
    shown = sorted(captures, key=lambda capture: capture.error is None)[:_CAPTURES]
    rows = [
        {
            "path": each.path,
            "format": each.format,
            "packets": each.packets,
            "tcp_segments": each.tcp_segments,
            "first_ns": each.first_ns,
            "last_ns": each.last_ns,
            "error": each.error,
            "warnings": list(each.remarks),
        }
        for each in shown
    ]
    return {"captures": rows, **_left_out("captures", len(captures), len(rows), 0, "they were read all the same")}


def _in_short(told: Flow) -> Answer:
    return {
        "id": told.id,
        **_ends(told),
        "label": told.label,
        "start_ns": told.start_ns,
        "end_ns": told.end_ns,
        "directions": {side: {"bytes": direction.bytes} for side, direction in told.directions.items()},
        "base_rtt_ns": told.base_rtt_ns,
        "state": told.state,
        "outcome": told.outcome,
        "rate_set_by": told.rate_set_by,
        "trust": told.trust.level,
        "lost_ns": told.lost_ns,
        "time_ns": {owner: span for owner, span in told.time_ns.items() if span},
        "stalls": len(told.stalls),
        "answer": words.loss(told),
    }


def _ends(told: Flow) -> Answer:
    return {"client": dataclasses.asdict(told.client), "server": dataclasses.asdict(told.server)}


def _left_out(what: str, found: int, shown: int, offset: int, hint: str = "") -> Answer:
    """Number of rows that an answer lacks and the way to ask for them; nothing where it lacks none."""
    rest = found - shown
    if not rest:
        return {}
    ask = hint or f"ask again with offset={offset + shown if offset + shown < found else 0}"
    return {f"{what}_left_out": {"count": rest, "of": found, "for_more": ask}}


def _known(answer: Answer) -> Answer:
    """Without what is unknown or empty: an agent pays for every word."""
    kept = {name: _kept(each) for name, each in answer.items()}
    return {name: each for name, each in kept.items() if each not in _EMPTY}


def _kept(value: Any) -> Any:
    match value:
        case dict():
            return _known(value)
        case list() | tuple():
            return [each for each in map(_kept, value) if each not in _EMPTY]
    return value
