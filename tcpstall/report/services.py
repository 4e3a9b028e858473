"""Services that were connected to more than once: what reuse would have saved, and who closes idle connections."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Endpoint, Service, Side
from tcpstall.units import counted, duration, number, ratio

__all__ = ["service_list"]

_SERVICES = 5


def service_list(services: Sequence[Service]) -> Iterator[RenderableType]:
    """A line a service, those first that would gain most by reuse; nothing where each was connected to once."""
    several = [service for service in services if service.connections > 1]
    if not several:
        return
    yield Text()
    yield Text("services by what reusing connections would save", "bold")
    for service in several[:_SERVICES]:
        yield Padding(Text(_line(service)), (0, 0, 0, 1))
        if service.idle_close:
            yield Padding(Text(_idle(service), "yellow"), (0, 0, 0, 3))
    if more := len(several) - _SERVICES:
        if more > 0:
            yield Padding(Text(f"and {counted(more, 'more service')}", "dim"), (0, 0, 0, 1))


def _line(service: Service) -> str:
    name = Endpoint(service.address, service.port)
    of = "" if service.clients == 1 else f" of {counted(service.clients, 'client')}"
    use = f"{ratio(service.exchanges, service.connections)} exchanges each"
    saved = "reuse would have saved no handshake"
    if service.avoidable_handshakes:
        saved = (
            f"reuse would have saved {number(service.avoidable_handshakes)} of {number(service.handshakes)} handshakes, "
            f"{duration(service.avoidable_ns)}"
        )
    return f"{name}  {counted(service.connections, 'connection')}{of}, {use}: {saved}"


def _idle(service: Service) -> str:
    assert service.idle_close is not None
    side = service.idle_close.side
    other: Side = "client" if side == "server" else "server"
    return (
        f"the {side} closes connections that were idle for {duration(service.idle_close.after_ns)} "
        f"({counted(service.idle_close.connections, 'connection')}), the {other} keeps them: give both the same keep-alive"
    )
