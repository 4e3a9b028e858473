"""The result of a rule, in lines: the measured value, then the worst flow."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

from tcpstall.check import LATENCY, OUTCOMES, RETRANSMITTED, WORST, Checked, Rule, Verdict, Worst
from tcpstall.model import Flow, Stall
from tcpstall.report.diff.words import named, sentence
from tcpstall.report.stalls import length_of, packets_of
from tcpstall.units import confidence, counted, exact, hundredths, number, size

__all__ = ["Shows", "details", "headline", "measured"]

Shows: TypeAlias = Callable[[Flow, Stall | None], str]
"""The command that shows a flow, or one stall of it, quoted for a shell, and fit to be shown."""

_GROWN = 3
"""Grown causes listed for one rule."""


def headline(checked: Checked) -> str:
    """`2 of 5 rules are broken (14 flows)`, `all 5 rules hold (14 flows)`."""
    rules, flows = len(checked.verdicts), counted(checked.flows, "flow")
    flows += " of what could be read" if any(capture.error for capture in checked.captures) else ""
    broken, nothing = len(checked.those("broken")), len(checked.those("nothing"))
    of = f"of {counted(rules, 'rule')}"
    told = [f"{number(broken)} {of} {'is' if broken == 1 else 'are'} broken"] if broken else []
    told += [f"{number(nothing)} {of} {'has' if nothing == 1 else 'have'} nothing to measure"] if nothing else []
    if not told:
        told = ["the rule holds" if rules == 1 else f"all {number(rules)} rules hold"]
    return f"{', '.join(told)} ({flows})"


def measured(verdict: Verdict, checked: Checked) -> str:
    """The rule's line without its state: `max cwnd-limited=200ms: 1.230 s in flow 3`."""
    found = _found(verdict)
    if verdict.state == "unsure":
        found = f"holds by sure labels; with those below {confidence(checked.confidence)}: {found}"
    return f"{verdict.rule.text}: {found}"


def details(verdict: Verdict, shows: Shows) -> Iterator[str]:
    """The worst flow of a rule that is not plainly kept, its stall, and last the command that shows it."""
    if verdict.state == "holds" or verdict.worst is None:
        return
    flow, stall = verdict.worst.flow, verdict.worst.stall
    yield f"flow {flow.id}, {flow.client} → {flow.server}{_part(verdict.rule, verdict.worst)}"
    if stall is not None:
        numbers = packets_of(stall)
        yield (
            f"stall {stall.number}: the {stall.sender} waited {length_of(stall)}, {stall.cause.value}"
            f"{f' ({stall.detail})' if stall.detail else ''}, confidence {confidence(stall.confidence)}"
            f"{'' if numbers == '–' else f', packets {numbers}'}"
        )
    yield shows(flow, stall)


def _part(rule: Rule, worst: Worst) -> str:
    """Amount of the worst flow."""
    if rule.name in OUTCOMES:
        return ""
    if rule.name == RETRANSMITTED:
        return f": {size(worst.amount)} sent again"
    return f": {exact(worst.amount)}"


def _found(verdict: Verdict) -> str:
    if verdict.state == "nothing":
        return f"nothing to measure: {_missing(verdict.rule)}"
    if verdict.rule.over == "growth":
        return _growth(verdict)
    value = verdict.value or Fraction(0)
    match verdict.rule.limit.unit:
        case "flows":
            return f"{number(int(value)) if value else 'none'} of {counted(verdict.items, 'flow')}"
        case "share":
            return f"{hundredths(value)} of {_whole(verdict)}"
    return _time(verdict, int(value))


def _time(verdict: Verdict, value_ns: int) -> str:
    rule = verdict.rule
    items = counted(verdict.items, "exchange" if rule.name == LATENCY else "flow")
    if rule.over == "total":
        return f"{exact(value_ns)} in {items}"
    if rule.percentile != WORST:
        return f"{rule.percentile} % of {items} took no more than {exact(value_ns)}"
    return f"{exact(value_ns)} in the worst of {items}"


def _whole(verdict: Verdict) -> str:
    if verdict.rule.name in OUTCOMES:
        return counted(verdict.items, "flow")
    if verdict.rule.name == RETRANSMITTED:
        return f"{size(verdict.whole)} in {counted(verdict.items, 'flow')}"
    return f"the time of {counted(verdict.items, 'flow')}"


def _growth(verdict: Verdict) -> str:
    services = counted(verdict.items, "service")
    if not verdict.grown:
        return f"no such growth at {services}"
    told = [f"{sentence(one.change, one.service)} at {named(one.service)}" for one in verdict.grown[:_GROWN]]
    more = len(verdict.grown) - _GROWN
    return "; ".join([*told, *([f"and {number(more)} more"] if more > 0 else [])])


def _missing(rule: Rule) -> str:
    if rule.over == "growth":
        return "the captures have no such service in common"
    return "no exchange was captured" if rule.name == LATENCY else "no handshake was captured"
