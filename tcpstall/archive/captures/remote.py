"""Names that are URLs, and the filesystems behind them: whatever fsspec knows, once its driver is installed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from tcpstall.errors import CannotOpen, TcpstallError

__all__ = ["filesystem", "is_url", "local", "named", "told", "writable"]

_FILE = "file://"

_EXTRAS = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gcs",
    "gcs": "gcs",
    "abfs": "azure",
    "abfss": "azure",
    "az": "azure",
    "sftp": "sftp",
    "ssh": "sftp",
}
"""Extra in `pip install 'tcpstall[…]'` that installs the driver of a scheme."""


def is_url(name: str) -> bool:
    """True if a name is a URL and not a path: `file://` is neither opened nor found through fsspec, see `local`."""
    scheme, colon, _ = name.partition("://")
    return bool(colon) and scheme.isascii() and scheme.isalnum() and scheme != "file"


def local(name: str) -> str:
    """The path of a `file://` URL; other names as they are."""
    if not name.startswith(_FILE):
        return name
    return os.fsdecode(unquote_to_bytes("/" + name.removeprefix(_FILE).partition("/")[2]))


def writable(path: str) -> str:
    """The path, or a `file://` URL of it where it is not UTF-8: that can be written into JSON, Parquet and reports."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _FILE + quote_from_bytes(os.fsencode(os.path.abspath(path)))  # noqa: PTH100 Path would drop a `..`
    return path


def filesystem(url: str) -> tuple[Any, str]:
    """The filesystem of a URL, as fsspec has it, and the path in it. Raises CannotOpen.

    Endpoints and credentials come from the environment and from fsspec's configuration; a password in a URL is refused,
    for names of captures stand in stores and reports.
    """
    scheme = url.partition("://")[0]
    if "@" in url and urlsplit(url).password is not None:
        raise CannotOpen(
            f"{scheme}://…: no passwords in URLs: names stand in reports; use a key or fsspec's configuration"
        )
    import fsspec

    try:
        with told(url):
            found: tuple[Any, str] = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        extra = _EXTRAS.get(scheme)
        how = f"pip install 'tcpstall[{extra}]'" if extra else f"install a driver of fsspec for it ({error})"
        raise CannotOpen(f"{url}: {scheme}:// cannot be read: {how}") from error
    return found


def named(url: str, root: str, path: str) -> str:
    """The URL of a path that a filesystem gave, written as `url`, whose own path is `root`: its host and user stay."""
    front = url[: len(url) - len(root)] if root and url.endswith(root) else f"{url.partition('://')[0]}://"
    return front + path


@contextmanager
def told(url: str) -> Iterator[None]:
    """Turns errors of a driver into CannotOpen in one line: drivers raise whatever their libraries do."""
    try:
        yield
    except (TcpstallError, ImportError, ValueError, FileNotFoundError):
        raise
    except Exception as error:
        lines = str(error).splitlines()
        raise CannotOpen(f"{url}: {lines[0] if lines else type(error).__name__}") from error
