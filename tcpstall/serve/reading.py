"""Captures that a tool was given, opened within the roots and diagnosed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from anyio.from_thread import check_cancelled

from tcpstall import _core
from tcpstall.archive.captures.rotation import sets
from tcpstall.errors import UNREAD, NothingToShow
from tcpstall.findings import first_to_see
from tcpstall.model import Analysis, Flow, Sort, analyze, raise_unreadable
from tcpstall.plot.subject import Subject, subjects
from tcpstall.serve.roots import Roots

__all__ = ["Reading", "Source"]


class _Streams(TypedDict):
    sets: list[int]
    missing_before: list[int]


@dataclass(frozen=True)
class Source:
    """Files and folders that a server may read; with `key` its answers hold pseudonyms."""

    roots: Roots
    key: bytes | None = None

    def reading(self, captures: Sequence[str]) -> "Reading":
        """Those captures. Raises CannotOpen for one that is no file in the roots."""
        return Reading([self.roots.file(path) for path in captures], self.key)


@dataclass
class Reading:
    """Captures by their files: those that were rotated are one stream."""

    files: list[str]
    key: bytes | None
    streams: _Streams = field(init=False)

    def __post_init__(self) -> None:
        number_of, missing_before = sets(self.files)
        self.streams = _Streams(sets=number_of, missing_before=missing_before)

    def analysis(self, *, top: int | None = None, sort: Sort = "lost", **selection: Any) -> Analysis:
        """The diagnosis; it ends where a client gives up. Raises CannotOpen or NotACapture where nothing was read."""
        analysis = analyze(
            self.files,
            **self.streams,
            **selection,
            bursts=False,
            anonymise=self.key,
            strict=False,
            progress=lambda _read, _all: check_cancelled(),
            top=top,
            sort=sort,
        )
        if all(capture.exit_code in UNREAD for capture in analysis.captures):
            raise_unreadable(analysis.captures[0])
        return analysis

    def flow(self, number: int | None) -> Flow:
        """The flow of that number, or one that shows the first finding. Raises NothingToShow."""
        analysis = self.analysis(flows=[] if number is None else [number])
        if not len(analysis):
            what = "no TCP flow" if number is None else f"no flow {number}"
            raise NothingToShow(f"the captures hold {what}; the tool analyze lists the flows")
        return first_to_see(analysis)

    def samples(self, flow: Flow) -> _core.Table:
        """The flow's segments, as `_core.samples` gives them."""
        (samples,) = _core.samples(self.files, [flow.id], **self.streams)
        return samples

    def subject(self, flow: Flow) -> Subject:
        """Subject of a picture of the flow. Raises NothingToShow for one that only shook hands."""
        for subject in subjects(self.files, [flow], **self.streams):
            return subject
        raise NothingToShow(f"flow {flow.id} only shook hands; there is nothing to draw")
