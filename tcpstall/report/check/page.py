"""Captures checked against rules, for reading: a line per rule, and beneath a broken rule its worst flow."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.check import Checked, State
from tcpstall.report.check.words import Shows, details, headline, measured
from tcpstall.report.inputs import in_brief
from tcpstall.untrusted import in_terminal

__all__ = ["render_check"]

_LOOKS: dict[State, str] = {"holds": "green", "unsure": "yellow", "broken": "bold red", "nothing": "bold red"}

_INDENT = 9
"""Behind the longest state and two spaces."""


def render_check(checked: Checked, shows: Shows, *, width: int) -> Iterator[RenderableType]:
    """The answer first, then the rules in their order, then what was read."""
    yield Text(headline(checked), "bold")
    yield Text()
    for verdict in checked.verdicts:
        yield Text.assemble(
            (f"{verdict.state:<{_INDENT}}", _LOOKS[verdict.state]), in_terminal(measured(verdict, checked))
        )
        *told, command = [*details(verdict, shows)] or [""]
        yield from (Padding(Text(line), (0, 0, 0, _INDENT)) for line in told)
        if command:
            # In one line however long, so that it can be copied.
            yield Group(Text(" " * _INDENT + command, "cyan", no_wrap=True, overflow="ignore"))
    yield Text()
    yield from in_brief(checked.captures, width)
