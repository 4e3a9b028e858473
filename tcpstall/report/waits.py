"""The part of a flow's time that counts as waiting."""

from collections.abc import Sequence

from tcpstall.causes import Cause
from tcpstall.model import Flow, Side, Stall
from tcpstall.units import duration

__all__ = ["by_cause", "main_sender", "real_stalls", "sum_by_cause"]


def real_stalls(flow: Flow) -> list[Stall]:
    """The stalls after the handshake, which is shown separately everywhere."""
    return [stall for stall in flow.stalls if stall.cause is not Cause.HANDSHAKE]


def by_cause(stalls: Sequence[Stall]) -> dict[Cause, list[Stall]]:
    """The stalls of each cause in order of time."""
    groups: dict[Cause, list[Stall]] = {}
    for stall in stalls:
        groups.setdefault(stall.cause, []).append(stall)
    return groups


def main_sender(flow: Flow) -> Side:
    """The end that sent most of the data; the client where there was no connection yet."""
    if not flow.was_set_up:
        return "client"
    return "client" if flow.directions["client"].bytes > flow.directions["server"].bytes else "server"


def sum_by_cause(stalls: Sequence[Stall]) -> str:
    """`1.20 s cwnd-limited, 300.0 ms pacing`, most first."""
    sums = {cause: sum(stall.duration_ns for stall in group) for cause, group in by_cause(stalls).items()}
    return ", ".join(f"{duration(span)} {cause.value}" for cause, span in sorted(sums.items(), key=lambda row: -row[1]))
