"""Texts of `tcpstall metrics --print`: a dashboard, alert rules, and examples that are files of this folder."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tcpstall.metrics.alerts import alerts
from tcpstall.metrics.dashboard import dashboard

__all__ = ["PRINTED", "printed"]


def _example(name: str) -> str:
    return (Path(__file__).parent / "examples" / name).read_text(encoding="utf-8")


PRINTED: Mapping[str, Callable[[], str]] = {
    "dashboard": dashboard,
    "alerts": alerts,
    "systemd-service": partial(_example, "tcpstall-scan.service"),
    "systemd-timer": partial(_example, "tcpstall-scan.timer"),
    "cronjob": partial(_example, "cronjob.yaml"),
    "daemonset": partial(_example, "daemonset.yaml"),
}
"""By name."""


def printed(name: str) -> str:
    """The whole text."""
    return PRINTED[name]()
