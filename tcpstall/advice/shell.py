"""Words that commands share: routes by what they lead to, and sockets by their ends."""

from tcpstall.advice.case import Case
from tcpstall.model import Side

__all__ = ["KEPT", "changed_route", "raised", "sysctl", "which_socket"]

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


def raised(name: str, value: int, *, place: int = 1, of: int = 1, tool: str = "sysctl -w") -> str:
    """Raises one of the setting's values to that; what is larger stays, and so do the others."""
    larger = f"(${place} > {value} ? ${place} : {value})"
    shown = ", ".join(larger if column == place else f"${column}" for column in range(1, of + 1))
    return f"{tool} {name}=\"$(sysctl -n {name} | awk '{{print {shown}}}')\""


def which_socket(case: Case, at: Side) -> str:
    """`ss`'s filter for the connection at that end."""
    other: Side = "server" if at == "client" else "client"
    return f"'src {case.flow.end(at)} and dst {case.flow.end(other)}'"
