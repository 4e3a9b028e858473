"""`tcpstall analyze` as text for tickets, with the pictures beside the text."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tcpstall import __version__
from tcpstall.cli.inputs import Inputs
from tcpstall.cli.options.capture_options import Reading
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.invocation import command_line
from tcpstall.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from tcpstall.model import Analysis, Flow, Sort
    from tcpstall.report.ticket import Picture

__all__ = ["FORMS", "PLOT_FORMATS", "Pictures", "most_flows", "readable_again", "write"]

FORMS = ("markdown", "jira", "text")
PLOT_FORMATS = ("png", "svg")

_LISTED, _EXPLAINED, _DRAWN = 10, 3, 10
_STANDARD_INPUT = "-"


def most_flows(top: int | None) -> int:
    """Flows that a ticket without pictures shows at most, where its user asked for `top`."""
    return top or max(_LISTED, _EXPLAINED)


def write(
    analysis: "Analysis",
    form: str,
    *,
    sort: "Sort",
    top: int | None,
    min_stall_ns: int,
    pictures: "Pictures | None",
) -> None:
    """Writes the ticket to standard output, its pictures into their folder."""
    from tcpstall.findings import telling
    from tcpstall.report.ticket import FORMS as WRITERS
    from tcpstall.report.ticket import Detail, content

    listed, explained = top or _LISTED, top or _EXPLAINED
    whole: list[Picture] = []
    of_flow: dict[int, list[Picture]] = {}
    if pictures is not None and len(analysis):
        ranked = [analysis[row] for row in analysis.ranked(sort)[: max(listed, explained)]]
        flows = telling(analysis, ranked, sort, min(explained, _DRAWN)).in_full
        for flow, picture in pictures.drawn(analysis, flows):
            (whole if flow is None else of_flow.setdefault(flow.id, [])).append(picture)
    detail = Detail(listed, explained, sort, min_stall_ns, whole, of_flow)
    blocks = list(
        content(analysis, detail, command_line(analysis.captures, anonymised=analysis.anonymised), __version__)
    )
    if not blocks:
        return
    text = WRITERS[form](blocks)
    with writing("standard output"):
        sys.stdout.flush()
        # Whatever the terminal's encoding is: a ticket is UTF-8.
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()


@record(frozen=True, slots=True)
class Pictures:
    """The folder of the pictures, their format, and the reading of the captures."""

    captures: Inputs
    """Names of the captures as given: an anonymised analysis lacks them."""
    folder: "Path"
    suffix: str
    how: Reading

    def drawn(self, analysis: "Analysis", flows: "Sequence[Flow]") -> "Iterator[tuple[Flow | None, Picture]]":
        """Each picture once it is written, with the flow that it shows; None for all together."""
        from tcpstall import plot

        with writing(str(self.folder)):
            self.folder.mkdir(parents=True, exist_ok=True)
        if analysis.total > 1:
            with self._file("timeline") as file:
                plot.draw_many(analysis, file, kind="timeline")
            yield None, _picture(file, "the waits of the flows that lost most, a row each")
        if len(analysis.exchanges) > 1:
            with self._file("exchanges") as file:
                plot.draw_many(analysis, file, kind="exchanges")
            yield None, _picture(file, "the slowest exchanges, each latency as a sum")
        for subject in plot.subjects(
            self.captures.files(),
            flows,
            since_ns=self.how["since_ns"],
            until_ns=self.how["until_ns"],
            max_expansion=self.how["max_expansion"],
            sets=self.how["sets"],
            missing_before=self.how["missing_before"],
        ):
            with self._file(f"flow-{subject.flow.id}") as file:
                plot.draw_flow(subject, file)
            shows = f"flow {subject.flow.id} over its time: sequence numbers, and bytes in flight"
            yield subject.flow, _picture(file, shows)

    @contextmanager
    def _file(self, name: str) -> "Iterator[Path]":
        file = self.folder / f"{name}.{self.suffix}"
        with writing(str(file)):
            yield file


def readable_again(captures: Sequence[str]) -> None:
    """Refuses inputs that cannot be read a second time, because pictures need a second reading."""
    if _STANDARD_INPUT in captures:
        raise click.UsageError("pictures need a file, not standard input: save the capture first, or leave --plots out")


def _picture(file: "Path", shows: str) -> "Picture":
    """With a link that a page in the working directory can follow."""
    from pathlib import Path

    from tcpstall.report.ticket import Picture

    return Picture(Path(os.path.relpath(file)).as_posix(), shows)
