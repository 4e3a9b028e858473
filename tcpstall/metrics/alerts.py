"""Alert rules for Prometheus over the metrics of a store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tcpstall.causes import Cause
from tcpstall.metrics.families import FLOWS, LOST, NEWEST_PACKET, TTFB, UNREADABLE

__all__ = ["ALERTS", "Alert", "alerts"]


@dataclass(frozen=True, slots=True)
class Alert:
    """A rule: `expression` is true for `lasts` before it fires; texts may use Prometheus' templates."""

    name: str
    expression: str
    lasts: str
    severity: Literal["warning", "info"]
    summary: str
    description: str


_SERVICE = "{{ $labels.service }}"
_TOP = "`tcpstall top --by service` says to what, and which flow shows it best."


def _lost_per_connection(offset: str = "") -> str:
    lost = f'sum by (service) (increase({LOST.sample}{{cause!="{Cause.APP_LIMITED}"}}[1h]{offset}))'
    return f"{lost} / (sum by (service) (increase({FLOWS.sample}[1h]{offset})) > 0)"


def _lost_to(cause: Cause) -> str:
    return f'sum by (service) (increase({LOST.sample}{{cause="{cause}"}}[1h]))'


ALERTS = (
    Alert(
        "TcpstallMoreTimeLost",
        f"{_lost_per_connection()} > 2 * ({_lost_per_connection(' offset 1d')}) "
        f'and on (service) sum by (service) (increase({LOST.sample}{{cause!="{Cause.APP_LIMITED}"}}[1h])) > 60',
        "15m",
        "warning",
        f"connections to {_SERVICE} wait twice as long as yesterday",
        f"Senders lost {{{{ $value | humanizeDuration }}}} a connection in the last hour. {_TOP}",
    ),
    Alert(
        "TcpstallZeroWindow",
        f"{_lost_to(Cause.ZERO_WINDOW)} > 10",
        "15m",
        "warning",
        f"an application at {_SERVICE} reads too slowly",
        "Receive windows were closed for {{ $value | humanizeDuration }} in the last hour. "
        f"`tcpstall top --by host --cause {Cause.ZERO_WINDOW}` says at which hosts.",
    ),
    Alert(
        "TcpstallSendBufferTooSmall",
        f"{_lost_to(Cause.SNDBUF_LIMITED)} > 60",
        "15m",
        "info",
        f"a send buffer limits transfers of {_SERVICE}",
        "Senders waited {{ $value | humanizeDuration }} for room in their send buffers in the last hour. "
        "`tcpstall remedies CAPTURE` says how large they must be.",
    ),
    Alert(
        "TcpstallLoss",
        f"{_lost_to(Cause.RETRANSMISSION)} / (sum by (service) (increase({FLOWS.sample}[1h])) > 0) > 1",
        "15m",
        "warning",
        f"connections to {_SERVICE} lose time to packet loss",
        "Senders waited {{ $value | humanizeDuration }} a connection for retransmissions in the last hour. "
        f"`tcpstall top --by service --cause {Cause.RETRANSMISSION}` says which flow shows it best.",
    ),
    Alert(
        "TcpstallSlowFirstByte",
        f"histogram_quantile(0.95, sum by (service, le) (increase({TTFB.bucket}[1h]))) > 1",
        "15m",
        "warning",
        f"{_SERVICE} answers slowly",
        "5 % of the requests waited longer than {{ $value | humanizeDuration }} for the first byte. " + _TOP,
    ),
    Alert(
        "TcpstallNoNewPackets",
        f"time() - {NEWEST_PACKET.sample} > 3600",
        "15m",
        "warning",
        "no packet of the last hour was scanned",
        "The newest packet is {{ $value | humanizeDuration }} old: either tcpdump or the scan has stopped.",
    ),
    Alert(
        "TcpstallUnreadableCaptures",
        f"delta({UNREADABLE.sample}[1h]) > 0",
        "0m",
        "info",
        "captures could not be read",
        "{{ $value | humanize }} more than an hour ago: `tcpstall query 'SELECT * FROM errors'` says why.",
    ),
)


def alerts() -> str:
    """A file of rules as YAML. Its texts are written as JSON writes them, which is YAML too."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Alert rules for the metrics of `tcpstall metrics`: add the file to `rule_files` of prometheus.yml."
    yield "# Thresholds are for services that are used all day: change them to what is usual for yours."
    yield "groups:"
    yield "  - name: tcpstall"
    yield "    rules:"
    for alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {_text(alert.expression)}"
        yield f"        for: {alert.lasts}"
        yield "        labels:"
        yield f"          severity: {alert.severity}"
        yield "        annotations:"
        yield f"          summary: {_text(alert.summary)}"
        yield f"          description: {_text(alert.description)}"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
