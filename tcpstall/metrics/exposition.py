"""Prometheus' two text formats: OpenMetrics, and the older one that node_exporter reads."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tcpstall.metrics.families import Family
from tcpstall.untrusted import in_terminal

__all__ = ["CONTENT_TYPES", "Form", "Sample", "exposed", "seconds"]

Form = Literal["openmetrics", "prometheus"]

CONTENT_TYPES: Mapping[Form, str] = {
    "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
    "prometheus": "text/plain; version=0.0.4; charset=utf-8",
}

_SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: a name with its suffix, labels in their order, and the value as text."""

    name: str
    value: str
    labels: Mapping[str, str] = field(default_factory=dict)


def exposed(families: Iterable[tuple[Family, Iterable[Sample]]], form: Form) -> str:
    """The families in that format, each with its samples."""
    lines = [line for family, samples in families for line in _family(family, samples, form)]
    end = ["# EOF"] if form == "openmetrics" else []
    return "".join(f"{line}\n" for line in (*lines, *end))


def seconds(time_ns: int) -> str:
    """Nanoseconds as seconds, exactly."""
    return f"{time_ns // _SECOND_NS}.{time_ns % _SECOND_NS:09}".rstrip("0").rstrip(".")


def _family(family: Family, samples: Iterable[Sample], form: Form) -> Iterator[str]:
    # A counter's suffix is part of the name in the older format, and of the sample in OpenMetrics.
    name = family.name if form == "openmetrics" else family.sample
    yield f"# HELP {name} {family.help}"
    yield f"# TYPE {name} {family.kind}"
    if family.unit and form == "openmetrics":
        yield f"# UNIT {name} {family.unit}"
    for sample in samples:
        labels = ",".join(f'{label}="{_escaped(value)}"' for label, value in sample.labels.items())
        yield f"{sample.name}{{{labels}}} {sample.value}" if labels else f"{sample.name} {sample.value}"


def _escaped(text: str) -> str:
    """Line ends and what else is not printable is spelled out before backslashes and quotes are escaped."""
    return in_terminal(text).replace("\\", r"\\").replace('"', r"\"")
