"""A store as a page: findings, lost time by cause and hour, the worst services, unreadable files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

from tcpstall.causes import Cause
from tcpstall.findings import remedy
from tcpstall.lost_time import Example, Loss, Losses, Overview, Shown, Trend
from tcpstall.report.archive.open import page_command_for
from tcpstall.report.archive.trend import told_growth
from tcpstall.report.archive.words import how, told_overview, what
from tcpstall.report.html import ledger
from tcpstall.report.html.document import filled
from tcpstall.report.html.heat import heat
from tcpstall.report.html.page import MadeBy
from tcpstall.units import counted, duration, number, percent, size

__all__ = ["archive_page"]

_FILES = 4
"""Captures of one flow that are linked."""


@dataclass(frozen=True)
class _File:
    """A capture; `link` is empty where it is not this machine's."""

    name: str
    link: str


@dataclass(frozen=True)
class _Flow:
    """A flow that shows a finding."""

    flow: str
    lost: str
    files: list[_File]
    more: str
    command: str


def archive_page(
    about: Overview, worst: Losses, trend: Trend, found: Sequence[Shown], *, store: str, made_by: MadeBy
) -> str:
    """The page; `trend` is by the hour, `worst` by service, `store` as the user gave it, if it gave one alone."""
    causes = dict(trend.lost_ns)
    values: dict[str, object] = {
        "title": "Where time was lost",
        "sentences": told_overview(about, causes, worst),
        "figures": _figures(about, causes),
        "findings": [_finding(shown, about, store) for shown in found],
        "grown": [(told_growth(growth, trend.every), ledger.look(growth.cause.value)) for growth in trend.grown],
        "heat": heat(trend) if trend.causes else None,
        "earlier": duration(trend.earlier_ns) if trend.earlier_ns else "",
        "services": [_service(loss, worst, store) for loss in worst.rows],
        "more": counted(worst.keys - len(worst.rows), "more service") if worst.keys > len(worst.rows) else "",
        "reasons": about.reasons,
        "errors": about.errors,
        "made_by": made_by,
        "patterns": range(1, ledger.PATTERNS),
    }
    return filled("archive.html", {}, values)


def _figures(about: Overview, causes: dict[Cause, int]) -> list[tuple[str, str, str]]:
    lost = sum(causes.values())
    each = duration(lost // about.flows) if about.flows else "–"
    return [
        ("lost", duration(lost), "in waits with a cause"),
        ("a flow", each, f"of {counted(about.flows, 'flow')}"),
        ("waits", number(about.waits), "of both ends"),
        ("moved", size(about.bytes), f"to {counted(about.services, 'service')}"),
        ("captures", number(about.captures), f"{number(about.errors)} of them not whole"),
    ]


def _finding(shown: Shown, about: Overview, store: str) -> dict[str, object]:
    return {
        "what": what(shown, about),
        "how": how(shown, about),
        "change": remedy(shown.finding),
        "look": ledger.look_of(shown.finding.kind),
        "shown": None if shown.example is None else _flow(shown.example, store),
    }


def _flow(example: Example, store: str) -> _Flow:
    files = [_File(name, _link(name)) for name in example.captures[:_FILES]]
    left = len(example.captures) - len(files)
    flow = f"{example.client} → {example.server}"
    return _Flow(
        flow, duration(example.lost_ns), files, f"and {left} more" if left else "", page_command_for(example, store)
    )


def _link(name: str) -> str:
    """To a file of this machine, beside the page where its name is no whole path; a URL is shown only.

    Everything but letters, digits and a few signs is spelled out, and what comes before is this program's own: no name
    can make it another kind of link.
    """
    if "://" in name:
        return ""
    path = quote(name.encode("utf-8", "surrogatepass"))  # names need not be UTF-8
    return f"file://{path}" if PurePath(name).is_absolute() else f"./{path}"


def _service(loss: Loss, worst: Losses, store: str) -> dict[str, object]:
    main = next(iter(loss.causes))
    return {
        "name": loss.key,
        "back": duration(loss.recoverable_ns) if loss.recoverable_ns else "–",
        "back_ns": loss.recoverable_ns,
        "lost": duration(loss.lost_ns),
        "lost_ns": loss.lost_ns,
        "share": percent(loss.lost_ns, worst.all_ns),
        "flows": number(loss.flows),
        "waits": number(loss.waits),
        "each": duration(loss.lost_ns // loss.flows) if loss.flows else "–",
        "each_ns": loss.lost_ns // loss.flows if loss.flows else "",
        "bar": ledger.parts_of({cause.value: span for cause, span in loss.causes.items()}, loss.lost_ns),
        "mostly": main.value,
        "main_share": percent(loss.causes[main], loss.lost_ns),
        "look": ledger.look(main.value),
        "shown": None if loss.worst is None else _flow(loss.worst, store),
    }
