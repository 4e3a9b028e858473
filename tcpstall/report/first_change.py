"""The change that the worst finding asks for, as a command of Linux, and what confirms the finding first."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.advice.remedy import Platform
from tcpstall.advice.treatment import treatments
from tcpstall.model import Flow

__all__ = ["FirstChange", "first_change"]


@dataclass(frozen=True)
class FirstChange:
    """`lines` are commands; what a program must do instead is a comment among them."""

    cause: str
    title: str
    at: str
    lines: Sequence[str]
    confirm_at: str
    confirm: str
    shows: str


def first_change(flow: Flow) -> FirstChange | None:
    """The change for the finding that cost most; None where nothing on the hosts would help."""
    found = treatments(flow)
    if not found or not found[0].remedies:
        return None
    worst, remedy = found[0], found[0].remedies[0]
    step = remedy.steps[Platform.LINUX]
    check = next((check for check in worst.checks if check.platform is Platform.LINUX), None)
    lines = (*(f"# in the program: {line}" for line in step.program), *step.commands)
    if not lines or check is None:
        return None
    return FirstChange(worst.case.cause.value, remedy.title, remedy.at, lines, check.at, check.command, check.shows)
