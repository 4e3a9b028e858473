"""Actions of an endpoint's program at any moment, from its own log."""

from bisect import bisect_right
from typing import Any


class Program:
    """The verbs of one endpoint in time."""

    def __init__(self, log: list[dict[str, Any]]) -> None:
        self.log = log
        self._starts = [entry["t"] for entry in log]

    def doing(self, t: float) -> str:
        """The verb that ran at t; `run` between two. A write in pieces sleeps in between: see `pauses`."""
        at = bisect_right(self._starts, t) - 1
        if at < 0 or self.log[at]["end"] < t:
            return "run"
        for began, ended in self.log[at].get("pauses", ()):
            if began <= t < ended:
                return "sleep"
        return str(self.log[at]["ev"])

    def began_writing(self, begin: float, end: float) -> bool:
        """True where a write began in an interval, or went on after a pause."""
        writes = [entry for entry in self.log if entry["ev"] == "write"]
        starts = [entry["t"] for entry in writes] + [ended for entry in writes for _, ended in entry.get("pauses", ())]
        return any(begin <= t <= end for t in starts)

    def option(self, name: str, default: str) -> str:
        """The last value a script gave to an option."""
        given = [entry["args"][1] for entry in self.log if entry["ev"] == "opt" and entry["args"][0] == name]
        return str(given[-1]) if given else default

    def ends(self) -> tuple[tuple[str, int], tuple[str, int]] | None:
        """(local, peer), once connected."""
        for entry in self.log:
            if "local" in entry:
                return (entry["local"][0], entry["local"][1]), (entry["peer"][0], entry["peer"][1])
        return None
