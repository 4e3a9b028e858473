"""Words for a connection that nobody answered, or whose peer fell silent: what was seen, then what it means."""

from tcpstall.causes import Cause
from tcpstall.model import Flow, Service, Side, Stall
from tcpstall.units import counted, duration, number, times

__all__ = ["handshake_phrase", "headline", "never_acknowledged", "owner", "service_outcomes"]


def headline(flow: Flow) -> str:
    """`unreachable: nobody answered 5 SYNs in 1 min 07 s`; empty of a connection whose ends were heard."""
    match flow.outcome:
        case None:
            return ""
        case "gone":
            return f"gone: {_gone(flow)}"
        case outcome:
            return f"{_NAMES.get(outcome, outcome)}: {_opening(flow)}"


def handshake_phrase(flow: Flow) -> str:
    """The outcome as a clause of the handshake's finding."""
    return "" if flow.was_set_up else _opening(flow)


def owner(flow: Flow, cause: Cause) -> str:
    """The cause with the outcome that it came to: `handshake (refused)`."""
    ends = Cause.RETRANSMISSION if flow.outcome == "gone" else Cause.HANDSHAKE
    return f"{cause.value} ({flow.outcome})" if flow.outcome and cause is ends else cause.value


def never_acknowledged(flow: Flow, stall: Stall) -> str:
    """A clause about the stall with which the peer fell silent; empty of any other."""
    own = [other for other in flow.stalls if other.sender == stall.sender and other.cause is stall.cause]
    if flow.outcome != "gone" or flow.unanswered_sender != stall.sender or stall != own[-1]:
        return ""
    return _gone(flow)


def service_outcomes(service: Service) -> str:
    """`5 unreachable, 1 refused`; empty where every connection was established and heard."""
    counts = (
        (service.unreachable, "unreachable"),
        (service.refused, "refused"),
        (service.half_open, "half-open"),
        (service.gone, "gone"),
    )
    return ", ".join(f"{number(count)} {name}" for count, name in counts if count)


_NAMES = {"too-early": "too early to say", "one-sided": "unsure"}


def _gone(flow: Flow) -> str:
    peer: Side = "server" if flow.unanswered_sender == "client" else "client"
    again = times(flow.unanswered_attempts or 0)
    return (
        f"the {flow.unanswered_sender} sent the same data again {again}, and nothing came back in {_span(flow)}: "
        f"the {peer} or the path to it is gone"
    )


def _opening(flow: Flow) -> str:
    match flow.outcome:
        case "unreachable":
            return f"nobody answered {_syns(flow)} in {_span(flow)}"
        case "refused":
            return "a RST answered the SYN"
        case "half-open":
            again = counted(flow.unanswered_attempts or 0, "SYN-ACK")
            return f"the server sent {again}, and no ACK of the client followed in {_span(flow)}"
        case "aborted":
            return "the server answered the SYN, and the client sent a RST instead of an ACK"
        case "too-early":
            sent = "SYN-ACK" if flow.unanswered_sender == "server" else "SYN"
            return f"the capture ends {_span(flow)} after the {sent}"
    return "only one direction was captured, so that the answer to the SYN is not in it"


def _syns(flow: Flow) -> str:
    return "the SYN" if flow.unanswered_attempts == 1 else counted(flow.unanswered_attempts or 0, "SYN")


def _span(flow: Flow) -> str:
    return duration(flow.unanswered_ns or 0)
