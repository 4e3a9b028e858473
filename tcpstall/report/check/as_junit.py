"""Captures checked against rules as JUnit XML: one test suite, a test case a rule."""

from collections.abc import Iterator

from tcpstall.check import Checked, Verdict
from tcpstall.report.check.words import Shows, details, measured
from tcpstall.untrusted import in_html

__all__ = ["check_junit"]

_SUITE = "tcpstall check"


def check_junit(checked: Checked, shows: Shows) -> str:
    """A document of XML 1.0: what it may not hold is spelled out as on a terminal."""
    failures, errors = len(checked.those("broken")), len(checked.those("nothing"))
    counts = f'tests="{len(checked.verdicts)}" failures="{failures}" errors="{errors}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="{_SUITE}" {counts}>',
        f'<testsuite name="{_SUITE}" {counts}>',
        *(line for verdict in checked.verdicts for line in _case(verdict, checked, shows)),
        *_inputs(checked),
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(verdict: Verdict, checked: Checked, shows: Shows) -> Iterator[str]:
    told = measured(verdict, checked)
    text = "\n".join(in_html(line) for line in (told, *details(verdict, shows)))
    yield f'<testcase classname="{_SUITE}" name="{in_html(verdict.rule.text)}">'
    match verdict.state:
        case "broken":
            yield f'<failure type="broken" message="{in_html(told)}">{text}</failure>'
        case "nothing":
            yield f'<error type="nothing" message="{in_html(told)}">{text}</error>'
        case _:
            yield f"<system-out>{text}</system-out>"
    yield "</testcase>"


def _inputs(checked: Checked) -> Iterator[str]:
    """Problems of the captures."""
    errors = [in_html(capture.error) for capture in checked.captures if capture.error]
    if errors:
        yield "<system-err>" + "\n".join(errors) + "</system-err>"
