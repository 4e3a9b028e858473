"""Two captures compared, as a page: what changed, in all and by service."""

from collections.abc import Sequence

from tcpstall.diff import Comparison, Facts, ServiceChange
from tcpstall.model import Capture, Endpoint
from tcpstall.report.diff.tables import HEADINGS, change_row, facts_row
from tcpstall.report.diff.words import headline, left_out, named, sentence, surroundings
from tcpstall.report.html import ledger
from tcpstall.report.html.document import filled
from tcpstall.report.html.page import MadeBy, plain
from tcpstall.report.inputs import described
from tcpstall.units import counted, duration, size

__all__ = ["diff_page"]

_SERVICES = 20


def diff_page(comparison: Comparison, *, made_by: MadeBy) -> str:
    """The page, from the largest change to how it was made."""
    services = list(comparison.services[:_SERVICES])
    if len(comparison.services) > 1:
        services.insert(0, comparison.overall)
    more = len(comparison.services) - _SERVICES
    values: dict[str, object] = {
        "title": " → ".join(capture.path.rpartition("/")[2] or capture.path for capture in comparison.captures),
        "headline": headline(comparison),
        "headings": HEADINGS,
        "services": [_service(service) for service in services],
        "more": counted(more, "more service") if more > 0 else "",
        "only": [
            (name, [_alone(end, facts) for end, facts in only[:_SERVICES]], len(only))
            for name, only in (("good", comparison.only_good), ("bad", comparison.only_bad))
            if only
        ],
        "inputs": [
            _input(capture, dropped)
            for capture, dropped in zip(comparison.captures, comparison.dropped_flows, strict=True)
        ],
        "made_by": made_by,
        "patterns": range(1, ledger.PATTERNS),
    }
    return filled("diff.html", {}, values)


def _service(service: ServiceChange) -> dict[str, object]:
    told = [*surroundings(service), *(sentence(change, service) for change in service.proven)]
    lengths = [facts.mean_duration_ns for facts in (service.good, service.bad)]
    return {
        "name": named(service),
        "told": told or ["no cause changed beyond noise"],
        "bars": [
            (name, ledger.parts_of(_means(facts), max(lengths)), duration(length))
            for name, facts, length in zip(("good", "bad"), (service.good, service.bad), lengths, strict=True)
        ],
        "facts": [(name, facts_row(facts)) for name, facts in (("good", service.good), ("bad", service.bad))],
        "changes": [(change_row(change), ledger.look(change.cause.value)) for change in service.changes],
    }


def _means(facts: Facts) -> dict[str, int]:
    return {owner: round(facts.of_flow(owner)) for owner in facts.time_ns}


def _alone(end: Endpoint, facts: Facts) -> str:
    return f"{end}: {counted(facts.flows, 'flow')}, {size(facts.bytes)}"


def _input(capture: Capture, dropped_flows: int) -> Sequence[str]:
    warning = left_out(dropped_flows)
    return [*(plain(part) for part in described([capture])), *([warning] if warning else [])]
