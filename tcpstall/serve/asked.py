"""The arguments of each tool: their types, limits and descriptions become the schema that an agent reads."""

from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tcpstall.model import Sort

__all__ = ["Analyze", "ExplainStall", "Findings", "Flow", "Plot", "Query", "Selection", "refusal"]

_MOST_CAPTURES = 1_000
"""Files of one call: a day of a ring that a new file begins every two minutes."""

_Offset = Annotated[int, Field(ge=0, lt=2**31, description="Rows to leave out before the first one.")]
_Number = Annotated[int, Field(ge=0, lt=2**31)]
_Nanoseconds = Annotated[int, Field(ge=0, lt=2**63)]


def _network(text: str) -> str:
    return str(ip_network(text, strict=False))


class _Asked(BaseModel):
    """Rejects arguments that a tool does not have: a misspelled filter must not be left out silently."""

    model_config = ConfigDict(extra="forbid")


class _Captures(_Asked):
    captures: Annotated[
        list[str],
        Field(
            min_length=1,
            max_length=_MOST_CAPTURES,
            description="Paths of pcap or pcapng files, or of tcpdump's text, compressed or not: relative to a root, "
            "or absolute. Files that tcpdump or dumpcap rotated are read as one capture.",
        ),
    ]


class Selection(_Captures):
    """Captures, and which flows and packets of them count; the times are half-open."""

    hosts: list[Annotated[str, AfterValidator(_network)]] = Field(
        [], description="Only flows with one of these addresses, or networks (192.0.2.0/24), at either end."
    )
    ports: list[Annotated[int, Field(ge=0, le=65_535)]] = Field(
        [], description="Only flows with one of these ports at either end."
    )
    since_ns: _Nanoseconds | None = Field(None, description="Only packets from then on: ns since 1970, as in start_ns.")
    until_ns: _Nanoseconds | None = Field(None, description="Only packets before then: ns since 1970.")


class Analyze(Selection):
    """Arguments of `analyze`."""

    sort: Sort = Field("lost", description="Rank flows by this.")
    limit: int = Field(10, ge=1, le=50, description="Flows in the answer.")
    offset: _Offset = 0


class Findings(Selection):
    """Arguments of `findings`."""

    limit: int = Field(10, ge=1, le=30, description="Findings in the answer.")
    offset: _Offset = 0


class Flow(_Captures):
    """Arguments of `flow`."""

    flow: _Number = Field(description="Number of the flow: `id` in the answer of `analyze`, Wireshark's tcp.stream.")
    limit: int = Field(10, ge=1, le=50, description="Stalls in the answer, and exchanges.")
    offset: _Offset = 0


class ExplainStall(_Captures):
    """Arguments of `explain_stall`."""

    flow: _Number = Field(description="Number of the flow.")
    stall: _Number | None = Field(None, description="`number` of the stall in its flow. Default: the longest.")


class Plot(_Captures):
    """Arguments of `plot`."""

    flow: _Number | None = Field(None, description="Number of the flow. Default: one that shows the first finding.")
    kind: Literal[
        "overview", "sequence", "in-flight", "rtt", "throughput", "rtt-by-position", "timeline", "exchanges"
    ] = Field(
        "overview",
        description="overview (sequence above in-flight), sequence, in-flight, rtt (over time), rtt-by-position, "
        "throughput; of many flows timeline (their waits, a row each) and exchanges (requests, latency as a sum).",
    )


class Query(_Asked):
    """Arguments of `query`."""

    store: str = Field(description="Folder of a store that `tcpstall scan` made: relative to a root, or absolute.")
    sql: str = Field(description="One SELECT, in DuckDB's SQL.")
    limit: int = Field(50, ge=1, le=200, description="Rows in the answer.")


def refusal(error: ValidationError) -> str:
    """The first thing that is wrong with arguments, and how many more there are, in one line."""
    first, *others = error.errors(include_url=False)
    where = ".".join(map(str, first["loc"]))
    more = f" (and {len(others)} more)" if others else ""
    return f"{where}: {first['msg']}{more}; the tool's schema says what it takes"
