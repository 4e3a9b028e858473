"""The end of a run: every exception becomes one line on standard error and an exit code."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from tcpstall.cli.copies import by_name
from tcpstall.cli.process.hints import hinted
from tcpstall.cli.process.signals import Signals
from tcpstall.cli.process.streams import flush_or_abandon, open_closed
from tcpstall.errors import CannotWrite, ExitCode, TcpstallError
from tcpstall.untrusted import in_terminal

__all__ = ["complain", "guarded", "writing"]

_COMPLETE = "_TCPSTALL_COMPLETE"
_TRACEBACK = "TCPSTALL_TRACEBACK"

_NOT_TAKEN = (errno.EBADF, errno.ENOSPC)
"""Errors of a file that refuses a write. Without a name it is standard output, and the text exceeded its buffer."""


def guarded(commands: click.Group, arguments: Sequence[str]) -> int:
    """Runs `commands` and returns the exit code.

    Click's own `main` is used for shell completion alone: it would turn a closed pipe into exit code 1.
    """
    open_closed()
    if os.environ.get(_COMPLETE):
        commands.main(args=list(arguments), prog_name="tcpstall", complete_var=_COMPLETE)
    with Signals() as signals:
        try:
            _tolerate_any_encoding()
            code = _run(commands, arguments)
            with writing("standard output"):
                sys.stdout.flush()
        except BaseException as error:
            code = _explained(error, signals)
        flush_or_abandon()
    return int(code)


@contextmanager
def writing(target: str) -> Iterator[None]:
    """Turns the system's refusal to write `target` into CannotWrite; a closed pipe stays BrokenPipeError."""
    try:
        yield
    except (BrokenPipeError, TcpstallError):
        raise
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror or error}") from error


def complain(message: str) -> None:
    """One line on standard error, whatever stands in `message`: file names may hold control characters.

    Copies of captures are called as the captures are.
    """
    with suppress(OSError):
        click.echo(f"tcpstall: {in_terminal(by_name(message))}", err=True)


def _run(commands: click.Group, arguments: Sequence[str]) -> int:
    if any("\0" in argument for argument in arguments):
        raise click.UsageError("an argument holds a NUL character, which no name and no number has")
    try:
        with commands.make_context("tcpstall", list(arguments)) as context:
            code = commands.invoke(context)
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    return ExitCode.COMPLETE if code is None else code


def _explained(error: BaseException, signals: Signals) -> ExitCode:
    """Says what happened and gives the code for it."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            with suppress(OSError):
                error.show()
            return ExitCode.USAGE
        case click.UsageError():
            # It quotes the arguments, and a shell's `*` makes arguments of what others called their files.
            with suppress(OSError):
                click.UsageError(in_terminal(hinted(error)), error.ctx).show()
            return ExitCode.USAGE
        case KeyboardInterrupt() | click.Abort():
            code = signals.exit_code
            complain("interrupted" if code is ExitCode.INTERRUPTED else code.meaning)
            return code
        case BrokenPipeError():
            return ExitCode.CLOSED_PIPE
        case TcpstallError():
            complain(str(error))
            return error.exit_code
        case OSError(strerror=str(reason)) if not os.environ.get(_TRACEBACK):
            # The system's refusal, not ours: a full disk behind standard output, no memory, too many open files.
            complain(f"{_refused(error)}: {reason}")
            return ExitCode.DEFECT
        case MemoryError():
            complain("cannot go on: there is not enough memory")
            return ExitCode.DEFECT
    _confess(error)
    return ExitCode.DEFECT


def _refused(error: OSError) -> str:
    """Names the file that the system refused: help is printed by click, which does not say where to."""
    if error.filename is not None:
        return f"cannot use {error.filename!s}"
    if error.errno in _NOT_TAKEN:
        return "cannot write standard output"
    try:
        sys.stdout.flush()
    except OSError:
        return "cannot write standard output"
    return "cannot go on"


def _confess(error: BaseException) -> None:
    if os.environ.get(_TRACEBACK):
        import traceback

        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    complain(f"this is a defect in tcpstall, please report it: {what} ({_TRACEBACK}=1 shows where)")


def _tolerate_any_encoding() -> None:
    """A terminal that cannot show an arrow gets a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")
