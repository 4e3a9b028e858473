"""Refuses to merge captures that were taken at two points of one path.

Merged, each packet would be there twice and count as sent again. `pair` is the command that compares such captures.
"""

from collections.abc import Sequence
from pathlib import Path

from tcpstall import _core
from tcpstall.errors import TwoTaps

__all__ = ["refuse_two_taps"]


def refuse_two_taps(
    paths: Sequence[str],
    *,
    hosts: Sequence[str] = (),
    ports: Sequence[int] = (),
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    anonymised: bool = False,
) -> None:
    """Raises TwoTaps if two captures hold the same packets of a connection, of those that the filters keep.

    Costs a reading of the captures. Pipes and standard input can be read only once: they are passed over.
    """
    files = [number for number, path in enumerate(paths) if _is_file(path)]
    found = _core.two_taps(
        [paths[number] for number in files],
        hosts=hosts,
        ports=ports,
        since_ns=since_ns,
        until_ns=until_ns,
        max_expansion=max_expansion,
    )
    if found is None:
        return
    captures, ends = found
    names = [f"capture-{files[at] + 1}" if anonymised else paths[files[at]] for at in captures]
    connection = "one connection" if anonymised else " ↔ ".join(_end(*end) for end in ends)
    raise TwoTaps(
        f"{names[0]} and {names[1]} hold the same packets of {connection}, taken at two points of its path: merged, "
        f"each packet would count as sent again; compare them with: tcpstall pair {names[0]} {names[1]}"
    )


def _is_file(path: str) -> bool:
    """True for a file. A path that cannot be looked at is reported when it is read."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
