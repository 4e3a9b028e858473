"""Words that commands share: routes by what they lead to, and sockets by their ends."""

from tcpstall.model import Side
from tcpstall.remedies.case import Case

__all__ = ["KEPT", "changed_route", "sysctl", "which_socket"]

KEPT = "lasts until the next boot; a file in /etc/sysctl.d keeps it"


def changed_route(case: Case, to: Side, metrics: str) -> tuple[str, ...]:
    """The route that now leads to that end, written again with these metrics (ip-route(8); `fibmatch`: Linux 4.13).

    New connections take them; those that stand keep theirs.
    """
    address = case.flow.end(to).address
    ip = "ip -6" if ":" in address else "ip"
    return (f"{ip} route change $({ip} route get {address} fibmatch) {metrics}",)


def sysctl(name: str, value: object) -> str:
    """Sets it; a value of several numbers is quoted."""
    text = str(value)
    return f'sysctl -w {name}="{text}"' if " " in text else f"sysctl -w {name}={text}"


def which_socket(case: Case, at: Side) -> str:
    """`ss`'s filter for the connection at that end."""
    other: Side = "server" if at == "client" else "client"
    return f"'src {case.flow.end(at)} and dst {case.flow.end(other)}'"
