"""Parts that are no longer what was committed: missing, of another size, or with another content."""

from collections.abc import Callable, Iterable, Mapping

from tcpstall.archive.storing.names import digest_in, repair_of
from tcpstall.archive.storing.records import Part
from tcpstall.archive.storing.storage import Place
from tcpstall.errors import CannotOpen

__all__ = ["faults", "refused"]

FREE_BYTES = 64_000_000
"""Bytes digested each time, 0.1 s. Beyond them a part is trusted whose size and time of change have not changed."""


def faults(
    place: Place,
    parts: Iterable[Part],
    changed_ns: Mapping[str, int],
    *,
    thoroughly: bool = False,
    verified: Callable[[str, int], None] = lambda _name, _changed_ns: None,
) -> dict[str, str]:
    """Faults of these parts, by name; `verified` is called for each part whose digest was found to be right.

    `thoroughly` digests all; otherwise files of other machines are compared by size alone.
    """
    parts = list(parts)
    digested = 0
    there = place.abouts(part.name for part in parts)
    found = {}
    for part in parts:
        about = there.get(part.name)
        if about is None:
            found[part.name] = "is missing, or no file any more"
        elif about.bytes != part.bytes:
            found[part.name] = f"has {about.bytes:,} bytes instead of {part.bytes:,}"
        elif (wanted := digest_in(part.name)) is not None:
            digested += part.bytes
            as_it_was = about.changed_ns is None or changed_ns.get(part.name) == about.changed_ns
            free = about.changed_ns is not None and digested <= FREE_BYTES
            if as_it_was and not free and not thoroughly:
                continue
            if _digest(place, part.name) != wanted:
                found[part.name] = "has another content: its digest differs"
            elif about.changed_ns is not None:
                verified(part.name, about.changed_ns)
    return found


def refused(url: str, found: Mapping[str, str]) -> CannotOpen:
    """The error that says so."""
    name, what = next(iter(found.items()))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return CannotOpen(
        f"{url}: the table {name.partition('/')[0]} cannot be read: {name} {what}{more}; {repair_of(url)}"
    )


def _digest(place: Place, name: str) -> str | None:
    """None for a file that cannot be read."""
    try:
        return place.digest(name)
    except CannotOpen:
        return None
