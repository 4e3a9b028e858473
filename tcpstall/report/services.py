"""Services that were connected to more than once: what reuse would have saved, and who closes idle connections."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Endpoint, IdleClose, Service, Side
from tcpstall.report.outcome import service_outcomes
from tcpstall.units import counted, duration, number, ratio

__all__ = ["idle_line", "service_line", "service_list"]

_SERVICES = 5


def service_list(services: Sequence[Service]) -> Iterator[RenderableType]:
    """A line a service, those first that would gain most by reuse; nothing where each was connected to once."""
    several = [service for service in services if service.connections > 1]
    if not several:
        return
    yield Text()
    yield Text("services by what reusing connections would save", "bold")
    for service in several[:_SERVICES]:
        yield Padding(Text(service_line(service)), (0, 0, 0, 1))
        if service.idle_close:
            yield Padding(Text(idle_line(service.idle_close), "yellow"), (0, 0, 0, 3))
    if len(several) > _SERVICES:
        yield Padding(Text(f"and {counted(len(several) - _SERVICES, 'more service')}", "dim"), (0, 0, 0, 1))


def service_line(service: Service) -> str:
    """Connections to the service, and the time that reuse would have saved."""
    name = Endpoint(service.address, service.port)
    of = "" if service.clients == 1 else f" of {counted(service.clients, 'client')}"
    each = ratio(service.exchanges, service.connections)
    use = f"{each} exchange{'' if each == '1' else 's'} each"
    ended = f" ({told})" if (told := service_outcomes(service)) else ""
    connections = f"{name}  {counted(service.connections, 'connection')}{of}{ended}"
    if service.connections <= service.unreachable + service.refused + service.half_open:
        return f"{connections}: none was established"
    return f"{connections}, {use}: reuse would have saved {_saved(service)}"


def _saved(service: Service) -> str:
    if not service.avoidable_handshakes:
        return "no handshake"
    count = f"{number(service.avoidable_handshakes)} of {counted(service.handshakes, 'handshake')}"
    return f"{count}, {duration(service.avoidable_ns)}"


def idle_line(found: IdleClose) -> str:
    """The end that closes idle connections, and its timeout."""
    other: Side = "client" if found.side == "server" else "server"
    return (
        f"the {found.side} closes connections that were idle for {duration(found.after_ns)} "
        f"({counted(found.connections, 'connection')}), the {other} keeps them: give both one keep-alive"
    )
