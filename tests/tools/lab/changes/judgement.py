"""Criteria by which a prediction is right, and an order of remedies."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

SHARE = 0.15
"""A prediction is right within this share of the real time, or within one round trip."""
APART = 0.05
"""Remedies whose real times are closer than this share of the time before have no order to be found."""

NO_REMEDY = frozenset({"rtt", "think"})
"""Nobody suggests a shorter way; a client's pauses are not in the times that are compared here."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Prediction for one capture and one change: the client's waits in all, in nanoseconds; None where refused."""

    captured_ns: int | None = None
    replayed_ns: int | None = None
    expected_ns: int | None = None
    low_ns: int | None = None
    high_ns: int | None = None
    exchanges_ns: tuple[int, ...] = ()
    refused: str = ""
    by_chance: bool = False
    """Only the interval is a prediction, because the losses decide; no time is expected."""


Ask = Callable[[Path, str, Sequence[str]], Forecast]
"""Asks for a capture's service and a change."""


Suggest = Callable[[Path, str], tuple[str, ...]]
"""Asks for the remedies that a capture's service calls for, the best first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and its forecast. Times are the client's waiting: the sum of its exchanges, without its own pauses."""

    capture: Path
    service: str
    situation: str
    why: str
    change: str
    ranked: bool
    before_ns: int
    after_ns: int
    least_ns: int
    most_ns: int
    before_rtt_ns: int
    rtt_ns: int
    before_exchanges_ns: tuple[int, ...]
    after_exchanges_ns: tuple[int, ...]
    forecast: Forecast
    each_ns: tuple[int, ...] = ()

    @property
    def off_ns(self) -> int | None:
        """Predicted less real."""
        return None if self.forecast.expected_ns is None else self.forecast.expected_ns - self.after_ns

    @property
    def allowed_ns(self) -> int:
        """One round trip after the change, or the share of the real time."""
        return max(self.rtt_ns, round(SHARE * self.after_ns))

    @property
    def right(self) -> bool:
        """True where the prediction is within the tolerance; a refusal is not."""
        return self.off_ns is not None and abs(self.off_ns) <= self.allowed_ns

    @property
    def enclosed(self) -> bool:
        """True where the real time lies in the interval."""
        low, high = self.forecast.low_ns, self.forecast.high_ns
        return low is not None and high is not None and low <= self.after_ns <= high

    @property
    def inside(self) -> float | None:
        """Share of the single real transfers inside the interval; None where either is unknown."""
        low, high = self.forecast.low_ns, self.forecast.high_ns
        if low is None or high is None or not self.each_ns:
            return None
        return sum(low <= one <= high for one in self.each_ns) / len(self.each_ns)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The remedies of one situation, each tried alone, the really best first, and what was suggested unasked."""

    situation: str
    remedies: tuple[Judged, ...]
    swapped: tuple[tuple[str, str], ...] = ()
    suggested: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """No two remedies that really differ are in the wrong order, and each has a prediction."""
        return not self.swapped and all(one.off_ns is not None or one.forecast.by_chance for one in self.remedies)

    @property
    def found(self) -> bool:
        """True where the first suggestion is of the kind that was really best, or as good, among single changes."""
        near = [one for one in self.remedies if not _kinds(one.change) & NO_REMEDY and " " not in one.change]
        best = min(one.after_ns for one in near)
        good = {_kinds(one.change) for one in near if one.after_ns - best <= APART * one.before_ns}
        first = next((kinds for kinds in map(_kinds, self.suggested) if not kinds & NO_REMEDY), None)
        return first in good


def judged(path: Path, ask: Ask) -> Judged:
    """The pair of one JSON."""
    pair: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    real = pair["after"]["runs"]["client_waited_ns"]
    capture = path.parent / pair["before"]["capture"]
    return Judged(
        capture=capture,
        service=pair["service"],
        situation=pair["situation"],
        why=pair["why"],
        change=" ".join(pair["set"]),
        ranked=pair["ranked"],
        before_ns=pair["before"]["runs"]["client_waited_ns"]["median"],
        after_ns=real["median"],
        least_ns=real["min"],
        most_ns=real["max"],
        before_rtt_ns=pair["before"]["rtt_asked_ns"],
        rtt_ns=pair["after"]["rtt_asked_ns"],
        before_exchanges_ns=_medians(pair["before"]),
        after_exchanges_ns=_medians(pair["after"]),
        forecast=ask(capture, pair["service"], pair["set"]),
        each_ns=tuple(pair["after"]["runs"].get("each_client_waited_ns", ())),
    )


def _medians(side: dict[str, Any]) -> tuple[int, ...]:
    return tuple(each["median"] for each in side["runs"]["client_exchanges_ns"])


def rankings(pairs: Sequence[Judged], suggest: Suggest) -> list[Ranking]:
    """Of those situations whose changes compete."""
    found = []
    for situation in dict.fromkeys(one.situation for one in pairs if one.ranked):
        remedies = sorted((one for one in pairs if one.situation == situation), key=lambda one: one.after_ns)
        swapped = [
            (better.change, worse.change)
            for better, worse in combinations(remedies, 2)
            if worse.after_ns - better.after_ns > APART * better.before_ns
            and better.forecast.expected_ns is not None
            and worse.forecast.expected_ns is not None
            and better.forecast.expected_ns >= worse.forecast.expected_ns
        ]
        suggested = suggest(remedies[0].capture, remedies[0].service)
        found.append(Ranking(situation, tuple(remedies), tuple(swapped), suggested))
    return found


def _kinds(change: str) -> frozenset[str]:
    return frozenset(one.partition("=")[0] for one in change.split())
