"""The order of the page: the answer first, then what it rests on, then how it was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from rich.padding import Padding
from rich.text import Text

from tcpstall.errors import UNREAD
from tcpstall.findings import telling
from tcpstall.model import Analysis, Capture, Flow, Sort
from tcpstall.report.answer import findings, notes, remainder
from tcpstall.report.findings import MOST, heading, with_change
from tcpstall.report.first_change import first_change
from tcpstall.report.html import ledger, summary
from tcpstall.report.html.document import filled, template_text
from tcpstall.report.html.drawn import Drawn
from tcpstall.report.html.foretold import foretold, of_service
from tcpstall.report.html.rows import exchange_rows, flow_row, stall_rows
from tcpstall.report.html.wireshark import flow_filter
from tcpstall.report.inputs import as_read, described, named, without_flows
from tcpstall.report.services import idle_line, service_line
from tcpstall.report.spikes import spike_lines
from tcpstall.report.trust import short_doubts
from tcpstall.units import counted, duration
from tcpstall.whatif import Forecast

__all__ = ["MadeBy", "Source", "page", "plain"]

_SERVICES = 10
_SCRIPTS = ("shown.js", "page.js")


@dataclass(frozen=True)
class Source:
    """An input by the hash of its bytes; None where it could be read only once."""

    path: str
    sha256: str | None
    size_bytes: int | None


@dataclass(frozen=True)
class MadeBy:
    """The program, command and inputs that made the page."""

    command: str
    version: str
    sources: tuple[Source, ...]


def page(
    analysis: Analysis,
    flows: Sequence[Flow],
    drawings: Mapping[int, Drawn],
    forecasts: Mapping[int, Forecast],
    *,
    made_by: MadeBy,
    library: str,
    why_no_plots: str = "",
    sort: Sort = "lost",
    detailed: int = MOST,
    min_stall_ns: int = 0,
    together: Sequence[Sequence[Forecast]] = (),
) -> str:
    """The page about `flows`, in that order, `detailed` of them with all that is known.

    `drawings` are their plots by the flow's id, `library` the script that draws them; `forecasts` what a change buys,
    `together` what a change buys all flows of a server, a sequence a server.
    """
    captures = [capture for capture in analysis.captures if capture.exit_code not in UNREAD]
    values: dict[str, object] = {
        "title": ", ".join(_title(members) for members in as_read(captures)) or "no capture",
        "inputs": [[plain(part) for part in described(members)] for members in as_read(captures)],
        "made_by": made_by,
        "patterns": range(1, ledger.PATTERNS),
        "why_no_plots": why_no_plots,
    }
    own = {name: template_text(name) for name in _SCRIPTS}
    scripts = {"library": library} | own if drawings else {}
    if not flows:
        values["reasons"] = [plain(part) for part in without_flows(captures)]
        return filled("empty.html", {}, values)
    tells = telling(analysis, flows, sort, detailed)
    found, in_full = tells.findings, {flow.id for flow in tells.in_full}
    bars = [*tells.in_full, *(flow for flow in flows if flow.id not in in_full)][: max(detailed, _BARS)]
    values |= {
        "answer": summary.answer(tells.shown, analysis, found),
        "figures": summary.figures_of_many(analysis, found) if analysis.total > 1 else summary.figures(tells.shown),
        "findings": [
            (heading(one), with_change(one), one.example.flow if one.example and analysis.total > 1 else None)
            for one in found[:MOST]
        ],
        "first_bars": _FIRST_BARS,
        "bars": [(flow_row(flow), ledger.parts(flow)) for flow in bars],
        "rows": [flow_row(flow) for flow in flows],
        "more": counted(analysis.total - len(flows), "more flow") if analysis.total > len(flows) else "",
        "sort": sort,
        "details": [
            _detail(flow, drawings.get(flow.id), forecasts.get(flow.id), min_stall_ns) for flow in tells.in_full
        ],
        "together": [(heading, lines) for heading, lines in map(of_service, together) if lines],
        "services": [
            (service_line(service), idle_line(service.idle_close) if service.idle_close else "")
            for service in analysis.services[:_SERVICES]
            if service.avoidable_handshakes or service.idle_close
        ],
    }
    return filled("report.html", scripts, values)


_BARS = 20
"""Flows with a bar in the ledger, at least."""

_FIRST_BARS = 3
"""Bars shown before the reader opens more."""


def _detail(flow: Flow, drawing: Drawn | None, forecast: Forecast | None, min_stall_ns: int) -> dict[str, object]:
    found = findings(flow)
    stalls, shorter = stall_rows(flow, min_stall_ns)
    exchanges, faster = exchange_rows(flow)
    return {
        "row": flow_row(flow),
        "tunnel": flow.tunnel or "",
        "findings": [(finding, duration(finding.time_ns), ledger.look(finding.cause.value)) for finding in found],
        "remainder": remainder(flow, found),
        "first_change": first_change(flow),
        "forecast": None if forecast is None else foretold(forecast),
        "spikes": list(spike_lines(flow)),
        "trust": short_doubts(flow),
        "notes": list(notes(flow)),
        "filter": flow_filter(flow),
        "stalls": stalls,
        "shorter": shorter,
        "exchanges": exchanges,
        "faster": faster,
        "drawing": drawing,
        "payload": Markup(drawing.payload) if drawing else "",  # noqa: S704 base64
    }


def plain(part: Text | Padding) -> str:
    """Text of a line of the terminal's page, without its style."""
    inner = part.renderable if isinstance(part, Padding) else part
    return inner.plain if isinstance(inner, Text) else str(inner)


def _title(members: Sequence[Capture]) -> str:
    return named([replace(capture, path=_last(capture.path)) for capture in members])


def _last(path: str) -> str:
    return path.rpartition("/")[2] or path
