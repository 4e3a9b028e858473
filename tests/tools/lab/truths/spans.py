"""Every wait of a sender: the time between two transmissions of new data, cut where the reason changed."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from tests.tools.lab.hosts.program import Program
from tests.tools.lab.hosts.series import Series
from tests.tools.lab.truths.moments import DISORDER, LOSS, RECOVERY, Moment, Socket, judge
from tests.tools.lab.truths.restarts import idle_restarts, ramp
from tests.tools.lab.truths.wire import Wire

_SETTLE = 60e-6
"""A sample this soon before the end of a wait may already belong to what ended it."""
_WRITE = 300e-6
"""A write this soon before a transmission is what caused it."""
_EVIDENCE = (
    "cwnd",
    "pif",
    "notsent",
    "wmem_queued",
    "sndbuf",
    "ca_state",
    "backoff",
    "probes",
    "unacked_bytes",
    "snd_wnd",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a wait with one reason."""

    begin: float
    end: float
    moment: Moment
    state: dict[str, Any]


class Waits:
    """All waits of one half."""

    def __init__(
        self,
        wire: Wire,
        series: Series,
        program: Program,
        of: Socket,
        states: list[tuple[float, str]],
        threshold: float,
    ) -> None:
        self._wire, self._series, self._program, self._of = wire, series, program, of
        self._states = states
        self._threshold = threshold
        self.restarts = idle_restarts(series, wire) if of.restarts else []
        self.repairs = [self._repair(index) for index in range(len(wire.repeated))]
        self._fast = [repair["t"] for repair in self.repairs if repair["type"] == "fast"]

    def spans(self) -> list[dict[str, Any]]:
        """In order; gaps no longer than the threshold have none."""
        wire = self._wire
        fresh = [one.t for one in wire.fresh]
        if wire.t_syn is None or wire.t_established is None:
            return []
        if not fresh:
            return [
                _span(
                    Piece(wire.t_syn, wire.t_established, Moment("handshake"), {}), 0, wire.t_established - wire.t_syn
                )
            ]
        opening = fresh[0] - wire.t_syn
        late = fresh[0] - wire.t_established > min(self._threshold, 0.3 * (wire.t_established - wire.t_syn))
        found = [Piece(wire.t_syn, wire.t_established if late else fresh[0], Moment("handshake"), {})]
        if late:
            found += self._pieces(wire.t_established, fresh[0])
        spans = [_span(piece, 0, opening) for piece in found]
        ends = [*fresh, max(fresh[-1], wire.t_close or wire.last)]
        for number, (begin, end) in enumerate(pairwise(ends), 1):
            if end - begin > self._threshold:
                spans += [_span(piece, number, end - begin) for piece in self._pieces(begin, end)]
        return spans

    def _pieces(self, begin: float, end: float) -> list[Piece]:
        rows = self._series.within(begin, end - _SETTLE)
        if not rows:
            return [Piece(begin, end, Moment("ambiguous", "no sample"), {})]
        edges = [*(row["t"] for row in rows), end]
        cuts = sorted(set(self._program_edges(begin, end)))
        found: list[Piece] = []
        for row, (left, right) in zip(rows, pairwise(edges), strict=True):
            inner = [left, *(t for t in cuts if left < t < right), right]
            found += [self._piece(row, a, b) for a, b in pairwise(inner) if b > a]
        found = _closing(self._with_timers(found, begin, end))
        found = [self._ended_by_program(piece, end) for piece in found]
        return _held_anyway(_joined(found, min(self._threshold / 2, (end - begin) / 4)))

    def _program_edges(self, begin: float, end: float) -> list[float]:
        return [t for entry in self._program.log for t in (entry["t"], entry["end"]) if begin < t < end]

    def _piece(self, row: dict[str, Any], begin: float, end: float) -> Piece:
        doing = self._program.doing((begin + end) / 2)
        repairing = row["ca_state"] == DISORDER and self._repaired_soon(begin)
        moment = judge(row, doing, self._of, repairing)
        if moment.label == "cwnd" and (climbing := ramp(self.restarts, row, begin)):
            moment = climbing
        return Piece(begin, end, moment, row)

    def _ended_by_program(self, piece: Piece, end: float) -> Piece:
        """Counts a hold of Nagle that the program's next write sets free as the program's pause too."""
        if piece.moment.label != "nagle" or not self._program.began_writing(end - _WRITE, end):
            return piece
        return replace(piece, moment=replace(piece.moment, alt=(*piece.moment.alt, "app")))

    def _repaired_soon(self, t: float) -> bool:
        at = bisect_left(self._fast, t)
        following = bisect_right([one.t for one in self._wire.fresh], t)
        until = self._wire.fresh[following].t if following < len(self._wire.fresh) else float("inf")
        return at < len(self._fast) and self._fast[at] <= until

    def _repair(self, index: int) -> dict[str, Any]:
        one = self._wire.repeated[index]
        state = self._state(one.t)
        kind = {"loss": "rto", "recovery": "fast", "disorder": "tlp", "cwr": "tlp"}.get(state, "tlp")
        return {"t": one.t, "off": one.offset, "len": one.length, "type": kind}

    def _state(self, t: float) -> str:
        """The congestion state in which the kernel sent at t: it changes just before a retransmission."""
        if self._states:
            at = bisect_right(self._states, (t + 30e-6, "~")) - 1
            return self._states[at][1] if at >= 0 else "open"
        row = self._series.at(t + 500e-6)
        return {LOSS: "loss", RECOVERY: "recovery"}.get(row["ca_state"] if row else 0, "open")

    def _with_timers(self, pieces: list[Piece], begin: float, end: float) -> list[Piece]:
        """Marks the time until a timer fired: from the last thing that happened to its retransmission."""
        for fired, moment in self._timers(begin, end):
            quiet = self._quiet_since(fired, begin)
            split = [part for piece in pieces for part in _cut(piece, quiet, fired)]
            if moment.sub == "tlp":
                split = [self._beside_probe(piece, quiet, fired) for piece in split]
            pieces = [
                replace(piece, moment=replace(moment, alt=_widened(moment, piece)))
                if quiet <= piece.begin
                and piece.end <= fired
                and piece.moment.label not in {"zero-window", "rto", "fast"}
                else piece
                for piece in split
            ]
        return pieces

    def _beside_probe(self, piece: Piece, quiet: float, fired: float) -> Piece:
        """The flight's travel before a probe, and the probe's own until it is answered, belong to the probe as well."""
        answered = bisect_right(self._wire.progress, fired)
        until = self._wire.progress[answered] if answered < len(self._wire.progress) else float("inf")
        if piece.end <= quiet or fired <= piece.begin < until:
            return replace(piece, moment=replace(piece.moment, alt=(*piece.moment.alt, "tail")))
        return piece

    def _timers(self, begin: float, end: float) -> list[tuple[float, Moment]]:
        found = []
        for repair in self.repairs:
            if not begin < repair["t"] <= end:
                continue
            if repair["type"] == "tlp":
                found.append((repair["t"], Moment("tail", "tlp")))
            elif repair["type"] == "rto" and repair["t"] - self._quiet_since(repair["t"], begin) > self._threshold:
                found.append((repair["t"], Moment("rto", "timer-wait", ("tail",))))
        before = self._series.at(end - 2 * _SETTLE)
        if (
            before
            and self._kept_back(before, end)
            and before["ca_state"] < RECOVERY
            and end - self._quiet_since(end, begin) > 2 * before["rtt"] / 1e6
        ):
            found.append((end, Moment("tail", "tlp-new", ("cwnd", "rto"))))
        return found

    def _kept_back(self, state: dict[str, Any], end: float) -> bool:
        """Unsent data that only a probe may send: the congestion window is full, or a frame waits for more room."""
        held = judge(state, self._program.doing(end - 2 * _SETTLE), self._of, repairing=False)
        return held.label == "cwnd" or held.sub == "tso-defer"

    def _quiet_since(self, t: float, begin: float) -> float:
        """The last transmission or the last progress before t."""
        sent = [one.t for one in self._wire.sent]
        at, back = bisect_left(sent, t) - 1, bisect_left(self._wire.progress, t) - 1
        return max(begin, sent[at] if at >= 0 else begin, self._wire.progress[back] if back >= 0 else begin)


def _widened(timer: Moment, piece: Piece) -> tuple[str, ...]:
    own = (piece.moment.label,) if piece.moment.label in {"rwnd", "zero-window"} else ()
    return tuple(dict.fromkeys((*timer.alt, *own)))


def _closing(pieces: list[Piece]) -> list[Piece]:
    """A window that ends up at zero was closing while the last data was still out."""
    if not any(piece.moment.label == "zero-window" for piece in pieces):
        return pieces
    return [
        replace(piece, moment=replace(piece.moment, alt=(*piece.moment.alt, "zero-window")))
        if piece.moment.label in {"rwnd", "tail"}
        else piece
        for piece in pieces
    ]


def _held_anyway(pieces: list[Piece]) -> list[Piece]:
    """What Nagle's algorithm held in the end it would have held from the beginning: no sooner write had left sooner."""
    if pieces[-1].moment.label != "nagle":
        return pieces
    return [
        replace(piece, moment=replace(piece.moment, alt=(*piece.moment.alt, "nagle")))
        if piece.moment.sub == "tail-ack"
        else piece
        for piece in pieces
    ]


def _cut(piece: Piece, *at: float) -> list[Piece]:
    edges = [piece.begin, *(t for t in sorted(at) if piece.begin < t < piece.end), piece.end]
    return [replace(piece, begin=a, end=b) for a, b in pairwise(edges)]


def _joined(pieces: list[Piece], least: float) -> list[Piece]:
    """Neighbours with one label become one; what is shorter than `least` goes to the longer neighbour."""
    merged = _merge_equal(pieces)
    while len(merged) > 1:
        index = min(range(len(merged)), key=lambda i: merged[i].end - merged[i].begin)
        if merged[index].end - merged[index].begin >= least:
            break
        beside = [i for i in (index - 1, index + 1) if 0 <= i < len(merged)]
        heir = max(beside, key=lambda i: merged[i].end - merged[i].begin)
        low, high = min(index, heir), max(index, heir)
        merged[low : high + 1] = [replace(merged[heir], begin=merged[low].begin, end=merged[high].end)]
        merged = _merge_equal(merged)
    return merged


def _merge_equal(pieces: list[Piece]) -> list[Piece]:
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last and (last.moment.label, last.moment.sub) == (piece.moment.label, piece.moment.sub):
            longer = max(last, piece, key=lambda one: one.end - one.begin)
            alt = tuple(dict.fromkeys((*last.moment.alt, *piece.moment.alt)))
            merged[-1] = replace(longer, begin=last.begin, end=piece.end, moment=replace(last.moment, alt=alt))
        else:
            merged.append(piece)
    return merged


def _span(piece: Piece, number: int, gap: float) -> dict[str, Any]:
    return {
        "t_start": round(piece.begin, 6),
        "t_end": round(piece.end, 6),
        "label": piece.moment.label,
        "sub": piece.moment.sub,
        "alt": list(piece.moment.alt),
        "gap": number,
        "gap_ms": round(1e3 * gap, 3),
        "evidence": {key: piece.state[key] for key in _EVIDENCE if key in piece.state},
    }
