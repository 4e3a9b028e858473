"""Errors of those who write into a folder, as one of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tcpstall.errors import CannotWrite, TcpstallError

__all__ = ["writing"]


@contextmanager
def writing(folder: Path, *errors: type[Exception]) -> Iterator[None]:
    """Raises CannotWrite, with the first line of the reason, in place of these errors."""
    try:
        yield
    except TcpstallError:
        raise
    except errors as error:
        reason = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), type(error).__name__)
        raise CannotWrite(f"cannot write into {folder}: {reason}") from error
