"""Display filters for Wireshark and tshark that find what the page speaks of."""

from tcpstall import facts
from tcpstall.model import Flow, Stall

__all__ = ["flow_filter", "stall_filter"]

_S = 1_000_000_000


def flow_filter(flow: Flow) -> str:
    """The packets between both endpoints; without stream numbers, which depend on the file that is open."""
    field = "ipv6.addr" if ":" in flow.client.address else "ip.addr"
    ports = f"tcp.port == {flow.client.port} && tcp.port == {flow.server.port}"
    return f"{field} == {flow.client.address} && {field} == {flow.server.address} && {ports}"


def stall_filter(flow: Flow, stall: Stall) -> str:
    """Those from the last packet before the wait to the first after it; by time where no packet numbers are known."""
    numbers = facts.packets(stall)
    if len(numbers) > 1:
        return f"{flow_filter(flow)} && frame.number >= {numbers[0]} && frame.number <= {numbers[-1]}"
    start, end = (f"{time // _S}.{time % _S:09}" for time in (stall.start_ns, stall.end_ns))
    return f"{flow_filter(flow)} && frame.time_epoch >= {start} && frame.time_epoch <= {end}"
