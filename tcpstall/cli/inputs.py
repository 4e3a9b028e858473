"""The captures that a command reads: those that were given, of any place, or those that hold a flow of a store."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO

import click
from click.core import ParameterSource

from tcpstall.cli.copies import copy_of, joined_copy
from tcpstall.cli.options.capture_sets import Streams, streams
from tcpstall.cli.options.flow_option import InStore
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    from tcpstall.archive.asking.stored_flow import StoredFlow

__all__ = ["Inputs", "inputs", "is_elsewhere"]


class Inputs:
    """Captures by the names that the user gives them, and the flows that are wanted of them; none is all."""

    def __init__(self, names: tuple[str, ...], flows: tuple[int, ...] = (), streams: Streams | None = None) -> None:
        self.names = names
        self.flows = flows
        self.streams = Streams(sets=(), missing_before=()) if streams is None else streams
        self._copies: dict[str, tuple[str, CannotOpen | None]] = {}

    @property
    def name(self) -> str:
        """Names of all captures, for a message."""
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]} … {self.names[-1]}"

    @property
    def open(self) -> Callable[[str], BinaryIO | None] | None:
        """Opens a name for `tcpstall.analyze`; None where all captures are files of this machine."""
        return self._opened if any(map(is_elsewhere, self.names)) else None

    def files(self) -> list[str]:
        """Files of this machine with the same content, for what reads files alone, or reads twice.

        Of a capture that cannot be opened it is the name of no file.
        """
        return [self._file(name) for name in self.names]

    def one_file(self) -> str:
        """One such file with all of them: the core reads captures that follow each other in a file as one."""
        files = self.files()
        return files[0] if len(files) == 1 else joined_copy([*zip(self.names, files, strict=True)])

    def _file(self, name: str) -> str:
        if not is_elsewhere(name):
            return name
        if name not in self._copies:
            self._copies[name] = copy_of(name)
        return self._copies[name][0]

    def _opened(self, name: str) -> BinaryIO | None:
        """A copy where there is one, else what reads the capture where it lies. Raises CannotOpen with the reason."""
        if not is_elsewhere(name):
            return None
        from pathlib import Path

        from tcpstall.archive.captures.open_members import opened, reason

        try:
            copy, error = self._copies.get(name, ("", None))
            if error is not None:
                raise error
            return Path(copy).open("rb") if copy else opened(name)
        except CannotOpen as error:
            raise CannotOpen(reason(name, error)) from error


def is_elsewhere(name: str) -> bool:
    """A URL or a member of an archive, as the scanner names them; such an archive exists, a URL is not asked for."""
    if "://" not in name and "!/" not in name:
        return False
    from tcpstall.archive.captures import remote
    from tcpstall.archive.captures.open_members import split

    return remote.is_url(name) or remote.local(name) != name or split(name)[1] is not None


def inputs(
    captures: Sequence[str],
    flows: Sequence[int | InStore],
    store: str | None,
    *,
    merge: bool = False,
    separate: bool = False,
    max_expansion: int | None = None,
) -> Inputs:
    """The inputs of a command. Raises UsageError where captures, --store and --flow do not fit each other.

    Raises CannotOpen where a capture of a stored flow is gone or was changed since it was scanned.
    """
    named = [flow for flow in flows if isinstance(flow, InStore)]
    if not named:
        if not captures:
            raise click.UsageError("missing argument 'CAPTURE', or --store with --flow SCAN/FLOW")
        if _is_typed("store"):
            raise click.UsageError("give CAPTURE, or --store with --flow SCAN/FLOW")
        numbers = tuple(flow for flow in flows if isinstance(flow, int))
        return Inputs(tuple(captures), numbers, streams(captures, merge=merge, separate=separate))
    if captures:
        raise click.UsageError("--flow SCAN/FLOW opens the captures that the store names: leave CAPTURE out")
    if store is None:
        raise click.UsageError("--flow SCAN/FLOW is a flow of a store: give --store too")
    if len(flows) > 1:
        raise click.UsageError("--flow SCAN/FLOW can be given once")
    if merge or separate:
        raise click.UsageError("--merge and --separate are for captures: the scan has decided which files are one")
    return _holding(_found(store, named[0]), max_expansion)


def _found(store: str, named: InStore) -> "StoredFlow":
    from tcpstall.archive.asking.stored_flow import stored_flow
    from tcpstall.cli.store_query import Form, asked

    with asked((store,), Form(form="table", output=None)) as session:
        return stored_flow(session, *named)


def _holding(flow: "StoredFlow", max_expansion: int | None) -> Inputs:
    """The captures of a stored flow as one stream, with that flow alone selected."""
    from tcpstall.archive.asking.stored_flow import number_in

    read_as = Streams(sets=(), missing_before=())
    if len(flow.captures) > 1:
        read_as = streams(flow.captures, merge=True, separate=False)
    found = Inputs(flow.captures, streams=read_as)
    if flow.number is None:
        found.files()  # they are read twice: URLs are fetched once
    found.flows = (number_in(found.names, flow, **read_as, max_expansion=max_expansion, open=found.open),)
    return found


def _is_typed(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
