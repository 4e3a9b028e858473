"""Matches sockets to flows and to the ends of flows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from tcpstall.advice.sockets.paste import Paste, Socket
from tcpstall.model import Analysis, Endpoint, Flow, Side

__all__ = ["Matched", "matched"]


@dataclass(frozen=True, slots=True)
class Matched:
    """Sockets by the flow's id and end; of several snapshots the latest.

    `snapshots` is how many there were of each. `strangers` are sockets of no flow in the capture. `ambiguous` flows
    have the same ends as an earlier flow: the later one is taken, since `ss` shows what lives.
    """

    sockets: Mapping[int, Mapping[Side, Socket]]
    snapshots: Mapping[tuple[int, Side], int]
    strangers: int
    ambiguous: tuple[int, ...] = ()

    def of(self, flow: Flow) -> Mapping[Side, Socket]:
        """The sockets of a flow by its ends; empty where there is none."""
        return self.sockets.get(flow.id, {})


def matched(analysis: Analysis, paste: Paste) -> Matched:
    """By addresses and ports, at either end."""
    rows, ambiguous = _rows(analysis, {frozenset((socket.local, socket.peer)) for socket in paste.sockets})
    sockets: dict[int, dict[Side, Socket]] = {}
    snapshots: dict[tuple[int, Side], int] = {}
    strangers = 0
    for socket in paste.sockets:
        found = rows.get(frozenset((socket.local, socket.peer)))
        if found is None:
            strangers += 1
            continue
        flow, client = found
        side: Side = "client" if socket.local == client else "server"
        snapshots[flow, side] = snapshots.get((flow, side), 0) + 1
        ends = sockets.setdefault(flow, {})
        if side not in ends or socket.progress >= ends[side].progress:
            ends[side] = socket
    return Matched(sockets, snapshots, strangers, ambiguous)


def _rows(
    analysis: Analysis, wanted: set[frozenset[Endpoint]]
) -> tuple[dict[frozenset[Endpoint], tuple[int, Endpoint]], tuple[int, ...]]:
    """(flow, its client) by both ends, of those wanted, without a look into each flow."""
    ports = {end.port for ends in wanted for end in ends}
    found: dict[frozenset[Endpoint], tuple[int, Endpoint]] = {}
    ambiguous: list[int] = []
    names = ("flow", "client_address", "client_port", "server_address", "server_port")
    columns: list[Sequence[object]] = [analysis.flows.column(name) for name in names]
    for flow, client_address, client_port, server_address, server_port in zip(*columns, strict=True):
        if client_port not in ports or server_port not in ports:
            continue
        client = Endpoint(_plain(str(client_address)), int(str(client_port)))
        ends = frozenset((client, Endpoint(_plain(str(server_address)), int(str(server_port)))))
        if ends in wanted:
            if ends in found:
                ambiguous.append(int(str(flow)))
            found[ends] = int(str(flow)), client
    return found, tuple(ambiguous)


def _plain(address: str) -> str:
    parsed = ip_address(address)
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
