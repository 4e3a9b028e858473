"""How a run ends: every exception becomes one line on standard error and an exit code."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from tcpstall.errors import CannotWrite, ExitCode, TcpstallError
from tcpstall.untrusted import in_terminal

__all__ = ["complain", "guarded", "writing"]

_COMPLETE = "_TCPSTALL_COMPLETE"
_TRACEBACK = "TCPSTALL_TRACEBACK"


def guarded(commands: click.Group, arguments: Sequence[str]) -> int:
    """Runs `commands` and returns the exit code.

    Click's own `main` is used for shell completion alone: it would turn a closed pipe into exit code 1.
    """
    if os.environ.get(_COMPLETE):
        commands.main(args=list(arguments), prog_name="tcpstall", complete_var=_COMPLETE)
    try:
        _tolerate_any_encoding()
        code = _run(commands, arguments)
        with writing("standard output"):
            sys.stdout.flush()
    except BaseException as error:
        code = _explained(error)
    _flush_or_abandon()
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
    """One line on standard error, whatever stands in `message`: file names may hold control characters."""
    with suppress(OSError):
        click.echo(f"tcpstall: {in_terminal(message)}", err=True)


def _run(commands: click.Group, arguments: Sequence[str]) -> int:
    try:
        with writing("standard output"):  # of --help and --version
            context = commands.make_context("tcpstall", list(arguments))
        with context:
            code = commands.invoke(context)
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    return ExitCode.COMPLETE if code is None else code


def _explained(error: BaseException) -> ExitCode:
    """Says what happened and gives the code for it."""
    match error:
        case click.UsageError():
            # It quotes the arguments, and a shell's `*` makes arguments of what others called their files.
            click.UsageError(in_terminal(error.format_message()), error.ctx).show()
            return ExitCode.USAGE
        case KeyboardInterrupt() | click.Abort():
            complain("interrupted")
            return ExitCode.INTERRUPTED
        case BrokenPipeError():
            return ExitCode.CLOSED_PIPE
        case TcpstallError():
            complain(str(error))
            return error.exit_code
    _confess(error)
    return ExitCode.DEFECT


def _confess(error: BaseException) -> None:
    if os.environ.get(_TRACEBACK):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    complain(f"this is a defect in tcpstall, please report it: {what} ({_TRACEBACK}=1 shows where)")


def _tolerate_any_encoding() -> None:
    """A terminal that cannot show an arrow gets a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")


def _flush_or_abandon() -> None:
    """What cannot be flushed is pointed at nothing, or the interpreter would complain about it when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
