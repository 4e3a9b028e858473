"""Copies of captures that are no files of this machine, and the names that users see instead of the copies'."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, AnyStr

import click

from tcpstall.cli.process.progress import Bar
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["by_name", "copy_of", "joined_copy", "named_as_given"]

_CALLED: dict[str, str] = {}
"""Text shown for each name of a copy. Folders of copies have random names, so no other text contains them."""

_FOLDER = "tcpstall.copies"

_PIECE = 1 << 16


def copy_of(name: str) -> tuple[str, CannotOpen | None]:
    """A file with the capture's content, until the command ends; or the name of no file, and why there is none."""
    from tcpstall.archive.captures.local_copies import copied

    target = _new_name()
    try:
        with Bar() as bar:
            copied(name, target, bar)
    except CannotOpen as error:
        target.unlink(missing_ok=True)
        _CALLED[f"cannot open {target}: no such file"] = str(error)
        return str(target), error
    finally:
        _CALLED[str(target)] = name
    return str(target), None


def joined_copy(captures: Sequence[tuple[str, str]]) -> str:
    """A file with several captures, (name, file) each, behind each other. Raises CannotOpen."""
    from tcpstall.archive.captures.local_copies import joined

    target = _new_name()
    joined(captures, target)
    _CALLED[str(target)] = f"{captures[0][0]} … {captures[-1][0]}"
    return str(target)


def _new_name() -> "Path":
    """In a folder that nobody else may enter, which is removed when the command ends."""
    import tempfile
    from pathlib import Path

    context = click.get_current_context()
    if _FOLDER not in context.meta:
        _CALLED.clear()
        context.meta[_FOLDER] = context.with_resource(tempfile.TemporaryDirectory(prefix="tcpstall-"))
    folder = Path(context.meta[_FOLDER])
    return folder / f"capture-{len(_CALLED)}"


def by_name(text: str) -> str:
    """The text with the captures' own names where it names copies of them."""
    return _replaced(text, _CALLED)


@contextmanager
def named_as_given(descriptor: int) -> Iterator[int]:
    """A descriptor whose JSON arrives at the given one, with the captures' own names where it names copies of them.

    Raises what writing to the given one raises.
    """
    if not _CALLED:
        yield descriptor
        return
    outlet, inlet = os.pipe()
    failed: list[OSError] = []
    called = {_in_json(text): _in_json(name) for text, name in _CALLED.items()}
    writer = threading.Thread(target=_pass_on, args=(outlet, descriptor, called, failed), daemon=True)
    writer.start()
    try:
        yield inlet
    finally:
        os.close(inlet)
        writer.join()
        if failed:
            raise failed[0]


def _in_json(text: str) -> bytes:
    import json

    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace")


def _pass_on(outlet: int, descriptor: int, called: Mapping[bytes, bytes], failed: list[OSError]) -> None:
    """Until the end; where it cannot write, whoever writes into the pipe can neither."""
    kept_back = max(map(len, called)) - 1
    held = b""
    try:
        while piece := os.read(outlet, _PIECE):
            held = _replaced(held + piece, called)
            _write(descriptor, held[:-kept_back])
            held = held[-kept_back:]
        _write(descriptor, held)
    except OSError as error:
        failed.append(error)
    finally:
        os.close(outlet)


def _replaced(text: AnyStr, called: Mapping[AnyStr, AnyStr]) -> AnyStr:
    """The longest first: a message about a copy has its name in it."""
    for name in sorted(called, key=len, reverse=True):
        text = text.replace(name, called[name])
    return text


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
