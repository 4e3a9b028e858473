"""One clause a cause: what the stalls of a flow have in common, in plain words with their figures."""

from collections import Counter
from collections.abc import Callable, Sequence

from tcpstall.causes import Cause, Detail
from tcpstall.facts import filled_window, mostly
from tcpstall.model import Flow, Side, Stall
from tcpstall.report.outcome import handshake_phrase, never_acknowledged
from tcpstall.report.path import busy_path, busy_path_of
from tcpstall.trust import SURE
from tcpstall.units import counted, duration, number, per_second, times

__all__ = ["candidates", "phrase", "phrase_of_one"]

_UNSCALED = 65_535
"""RFC 7323 §2.2: the largest window without the scale option, bytes."""

_USUAL_SEGMENT = 1_448
"""A window this close to it cannot grow by another segment, bytes."""

_CANDIDATES = 2
"""Candidates named where no cause could be decided."""

_START = (Detail.INITIAL_WINDOW, Detail.SLOW_START)

_KINDS_OF_PAUSES = 2
"""Kinds of an application's pauses in a clause, those with most time."""


def phrase(cause: Cause, flow: Flow, stalls: Sequence[Stall]) -> str:
    """The clause for the stalls of one cause; never empty."""
    speak = _PHRASES.get(cause)
    return speak(flow, stalls) if speak else f"{cause.summary}, {times(len(stalls))}"


def phrase_of_one(flow: Flow, stall: Stall) -> str:
    """The clause for one stall: its own figures, without the flow's sums."""
    match stall.cause:
        case Cause.RETRANSMISSION:
            return repairs(flow, [stall])
        case Cause.BANDWIDTH_LIMITED:
            return busy_path_of(stall)
    return phrase(stall.cause, flow, [stall])


def _handshake(flow: Flow, stalls: Sequence[Stall]) -> str:
    if told := handshake_phrase(flow):
        return told
    lost = _details(stalls)
    how = "took" if flow.handshake.complete else "was never completed in"
    return f"the connection {how} {_sum(stalls)} to set up{f' ({lost})' if lost else ''}"


def _cwnd_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    start = [stall for stall in stalls if stall.detail in _START]
    later = [stall for stall in stalls if stall.detail not in _START]
    told = [
        (sum(stall.duration_ns for stall in part), speak(flow, part))
        for part, speak in ((start, _slow_start), (later, _full_congestion_window))
        if part
    ]
    return "; ".join(text for _, text in sorted(told, key=lambda one: -one[0]))


def _slow_start(flow: Flow, stalls: Sequence[Stall]) -> str:
    return f"slow start{_from_segments(flow, stalls)}, {counted(len(stalls), 'round trip')}"


def _full_congestion_window(flow: Flow, stalls: Sequence[Stall]) -> str:
    narrower = _details(stalls)
    how = f"{counted(len(stalls), 'round trip')}{f' ({narrower})' if narrower else ''}"
    seems = "was" if any(stall.confidence >= SURE for stall in stalls) else "was probably"
    return f"the congestion window {seems} full{_at_level(stalls)}, {how}"


def _rwnd_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    slow = [stall for stall in stalls if stall.detail == Detail.SLOW_READER]
    rest = [stall for stall in stalls if stall.detail != Detail.SLOW_READER]
    return "; ".join([*([_slow_reader(slow)] if slow else []), *([_full_window(flow, rest)] if rest else [])])


def _full_window(flow: Flow, stalls: Sequence[Stall]) -> str:
    windows = _values(stalls, "peer_window_bytes")
    largest = max((stall.evidence.get("peer_window_bytes") or 0 for stall in stalls), default=0)
    unscaled = flow.directions[_peer(stalls)].window_scale == 0 and largest >= _UNSCALED - _USUAL_SEGMENT
    size = f" ({windows} bytes{', the most without window scaling' if unscaled else ''})" if windows else ""
    return f"the {_peer(stalls)}'s window{size} was full {times(len(stalls))}{_at_most(stalls)}"


def _slow_reader(stalls: Sequence[Stall]) -> str:
    drain, plateau = mostly(stalls, "drain_bytes_per_s"), mostly(stalls, "window_plateau_bytes")
    how = f" ({per_second(drain)})" if drain is not None else ""
    of = f" of {number(plateau)}" if plateau is not None else ""
    windows = _values(stalls, "peer_window_bytes")
    left = f"what was left of its window{f' ({windows}{of} bytes)' if windows else ''}"
    return f"the {_peer(stalls)}'s application read too slowly{how}: {left} was full {times(len(stalls))}"


def _zero_window(flow: Flow, stalls: Sequence[Stall]) -> str:
    still = "" if stalls[-1].ended else " and never opened it again"
    small = all(stall.detail == Detail.BELOW_SEGMENT for stall in stalls)
    shut = "left its window open for less than a segment" if small else "closed its window"
    return f"the {_peer(stalls)} {shut} {times(len(stalls))}{still}, {_longest(stalls)}{_probes(stalls)}"


def _probes(stalls: Sequence[Stall]) -> str:
    probes = sum(stall.evidence.get("window_probes") or 0 for stall in stalls)
    unanswered = sum(stall.evidence.get("probes_unanswered") or 0 for stall in stalls)
    if not probes:
        return ""
    heard = f", {number(unanswered)} unanswered" if unanswered else ", all answered"
    silent = 0 if stalls[-1].ended else stalls[-1].evidence.get("probes_since_heard") or 0
    dead = "; nobody was there at the end, and a sender gives up silently" if silent > 1 else ""
    return f", {counted(probes, 'window probe')}{heard}{dead}"


def _sndbuf_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    levels = _values(stalls, "plateau_bytes") or _values(stalls, "in_flight_bytes")
    holds = f" (about {levels} bytes in flight)" if levels else ""
    return f"the {_sender(stalls)}'s send buffer{holds} was full {times(len(stalls))}{_at_most(stalls)}"


def _at_most(stalls: Sequence[Stall]) -> str:
    ceiling = mostly(stalls, "ceiling_bytes_per_s")
    return "" if ceiling is None else f": no more than {per_second(ceiling)}"


def _idle_restart(flow: Flow, stalls: Sequence[Stall]) -> str:
    before, after = _values(stalls, "cwnd_before_idle_segments"), _values(stalls, "cwnd_after_idle_segments")
    was = f" from {before}{f' to {after}' if after else ''} segments" if before else ""
    extra = [more for stall in stalls if (more := stall.evidence.get("extra_round_trips")) is not None]
    cost = counted(sum(extra), "extra round trip") if extra else counted(len(stalls), "round trip")
    again = f" {times(len(extra))}" if len(extra) > 1 else ""
    return f"an idle period had lowered the {_sender(stalls)}'s congestion window{was}{again}, {cost}"


def _app_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    pauses: dict[tuple[Side, str | None], list[Stall]] = {}
    for stall in stalls:
        pauses.setdefault((stall.sender, stall.detail), []).append(stall)
    ranked = sorted(pauses.values(), key=lambda alike: -sum(stall.duration_ns for stall in alike))
    return "; ".join(_pauses(alike) for alike in ranked[:_KINDS_OF_PAUSES])


def _pauses(alike: Sequence[Stall]) -> str:
    """The clause for pauses of one end and one kind."""
    how = f"{times(len(alike))}, {_longest(alike)}"
    match alike[0].detail:
        case Detail.THINK_TIME:
            return f"the {_sender(alike)}'s application took its time to answer {how}"
        case Detail.AWAITING_PEER:
            return f"it was the {_peer(alike)}'s turn to speak {how}"
        case Detail.APPLICATION_WINDOW:
            return f"the {_sender(alike)} went on only at the {_peer(alike)}'s messages, with TCP open, {how}"
    return f"the {_sender(alike)}'s application had nothing to send {how}"


def _retransmission(flow: Flow, stalls: Sequence[Stall]) -> str:
    again = sum(direction.retransmitted_bytes for direction in flow.directions.values())
    return f"{repairs(flow, stalls)}, {number(again)} bytes sent again"


def repairs(flow: Flow, stalls: Sequence[Stall]) -> str:
    """Repairs and needless retransmissions, without the flow's sum of bytes."""
    answered = [stall for stall in stalls if not _in_vain(flow, stall)]
    needless = [stall for stall in answered if stall.detail == Detail.SPURIOUS]
    done = [stall for stall in answered if stall.detail != Detail.SPURIOUS]
    told = []
    if done:
        how = _details(done)
        told.append(f"lost data had to be repaired {times(len(done))}{f' ({how})' if how else ''}, {_longest(done)}")
    if needless:
        told.append(f"data that had arrived was sent again {times(len(needless))}, {_longest(needless)}")
    told += [never_acknowledged(flow, stall) or _open(stall) for stall in stalls if _in_vain(flow, stall)]
    return "; ".join(told)


def _in_vain(flow: Flow, stall: Stall) -> bool:
    """True where the capture shows no ACK of the retransmitted data."""
    if stall.ended or not stall.attempts:
        return False
    return bool(never_acknowledged(flow, stall)) or stall.evidence.get("freed_by_packet") is None


def _open(stall: Stall) -> str:
    """A repair whose end the capture does not show."""
    again = times(stall.evidence.get("retransmissions") or len(stall.attempts))
    return f"the {stall.sender} sent data again {again} in {duration(stall.duration_ns)}, and no ACK of it was captured"


def _nagle(flow: Flow, stalls: Sequence[Stall]) -> str:
    return f"the {_sender(stalls)} held a small segment until the last one was acknowledged, {times(len(stalls))}"


def _delayed_ack(flow: Flow, stalls: Sequence[Stall]) -> str:
    return f"the {_peer(stalls)} held back its ACK {times(len(stalls))}, {_longest(stalls)}"


def _pacing(flow: Flow, stalls: Sequence[Stall]) -> str:
    return f"the {_sender(stalls)} spaced its segments out on purpose, {counted(len(stalls), 'gap')}"


def _burst_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    cap = _values(stalls, "burst_cap_segments")
    where = f" at {cap} segments an ACK" if cap else ""
    return f"the {_sender(stalls)}'s stack cut its bursts short{where}, {times(len(stalls))}"


def _bandwidth_limited(flow: Flow, stalls: Sequence[Stall]) -> str:
    gaps = f", {counted(len(stalls), 'gap')}" if stalls else ""
    return busy_path(flow) + gaps


def _cannot_tell(flow: Flow, stalls: Sequence[Stall]) -> str:
    missing = Counter(what for stall in stalls for what in stall.missing)
    lacks = _listed([_lacking(what) for what, _ in missing.most_common(3)])
    why = f"the capture lacks {lacks}" if lacks else stalls[0].cause.summary
    guess = f"; {likeliest}" if (likeliest := candidates(stalls)) else ""
    return f"cannot tell: {why} ({counted(len(stalls), 'wait')}){guess}"


def candidates(stalls: Sequence[Stall]) -> str:
    """`likeliest cwnd-limited, then rwnd-limited`, of stalls that nobody can tell; empty where nothing is known."""
    votes: Counter[str] = Counter()
    for stall in stalls:
        for place, other in enumerate(stall.also, 1):
            votes[other.value] += stall.duration_ns // place
    names = [name for name, _ in votes.most_common(_CANDIDATES)]
    return f"likeliest {', then '.join(names)}" if names else ""


def _lacking(what: str) -> str:
    """`window scale: no SYN` as `window scale (no SYN)`, so that several fit into one sentence."""
    name, colon, why = what.removesuffix(" that the capture does not hold").partition(": ")
    return f"{name} ({why})" if colon else name


_PHRASES: dict[Cause, Callable[[Flow, Sequence[Stall]], str]] = {
    Cause.HANDSHAKE: _handshake,
    Cause.CWND_LIMITED: _cwnd_limited,
    Cause.RWND_LIMITED: _rwnd_limited,
    Cause.ZERO_WINDOW: _zero_window,
    Cause.SNDBUF_LIMITED: _sndbuf_limited,
    Cause.IDLE_RESTART: _idle_restart,
    Cause.APP_LIMITED: _app_limited,
    Cause.RETRANSMISSION: _retransmission,
    Cause.NAGLE: _nagle,
    Cause.DELAYED_ACK: _delayed_ack,
    Cause.PACING: _pacing,
    Cause.BURST_LIMITED: _burst_limited,
    Cause.BANDWIDTH_LIMITED: _bandwidth_limited,
    Cause.CAPTURE_GAP: _cannot_tell,
    Cause.UNEXPLAINED: _cannot_tell,
}


def _sender(stalls: Sequence[Stall]) -> Side:
    """The end that waited most."""
    waits: Counter[Side] = Counter()
    for stall in stalls:
        waits[stall.sender] += stall.duration_ns
    return waits.most_common(1)[0][0]


def _peer(stalls: Sequence[Stall]) -> Side:
    return "server" if _sender(stalls) == "client" else "client"


def _sum(stalls: Sequence[Stall]) -> str:
    return duration(sum(stall.duration_ns for stall in stalls))


def _longest(stalls: Sequence[Stall]) -> str:
    span = duration(max(stall.duration_ns for stall in stalls))
    return span if len(stalls) == 1 else f"longest {span}"


def _details(stalls: Sequence[Stall]) -> str:
    """`2 timeout, 1 tail-loss`, or the word alone where all agree."""
    counts = Counter(stall.detail for stall in stalls if stall.detail)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {detail}" for detail, count in counts.most_common())


def _values(stalls: Sequence[Stall], name: str) -> str:
    """`46,080 then 78,720`; `1,448 to 65,160` where there are many; empty where none is known."""
    known = list(dict.fromkeys(value for stall in stalls if (value := stall.evidence.get(name)) is not None))
    if len(known) > 3:
        return f"{number(min(known))} to {number(max(known))}"
    return " then ".join(number(value) for value in known)


def _from_segments(flow: Flow, stalls: Sequence[Stall]) -> str:
    end = _sender(stalls)
    window, mss = filled_window(flow, end), flow.directions[end].mss_bytes
    return f" from {counted(-(-window // mss), 'segment')}" if window and mss else ""


def _at_level(stalls: Sequence[Stall]) -> str:
    levels = _values(stalls, "in_flight_bytes")
    return f" at {levels} bytes" if levels else ""


def _listed(words: Sequence[str], last: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
