"""Names that captures give to servers, in TLS hellos and HTTP requests, for --host."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from tcpstall import _core
from tcpstall.errors import UNREAD, NothingToShow
from tcpstall.labels import read_label
from tcpstall.untrusted import in_terminal

__all__ = ["addresses"]

_CHUNK = 10_000
_TOLD = 5
"""Names listed in the error for an unknown name."""


def addresses(captures: Sequence[str], names: Sequence[str]) -> list[str]:
    """The addresses of all servers with these names in the captures; costs one reading of the captures.

    Nothing where no capture can be read: whoever reads them next says why. Raises NothingToShow for an unknown name.
    """
    called: dict[str, set[str]] = {}

    def keep(report: _core.Report) -> None:
        flows = report.flows
        asked = (flows.column(name) for name in ("server_name", "http_host", "server_address"))
        for server_name, http_host, address in zip(*asked, strict=True):
            if name := server_name or http_host:
                called.setdefault(name, set()).add(address)

    read = _core.analyze(list(captures), bursts=False, exchanges=False, label=read_label, each=keep, chunk=_CHUNK)
    if all(status.exit_code in UNREAD for status in read.captures):
        return []
    found: set[str] = set()
    for name in names:
        hosts = [host for host in called if fnmatchcase(host, name)]
        if not hosts:
            raise NothingToShow(f"no connection asks for {name}; {_others(sorted(called))}")
        found.update(*(called[host] for host in hosts))
    return sorted(found)


def _others(names: Sequence[str]) -> str:
    if not names:
        return "none says which server it wants: give an address"
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return f"they ask for {in_terminal(', '.join(names[:_TOLD]))}{more}"
