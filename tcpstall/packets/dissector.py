"""The dissector in Wireshark: installs and removes the Lua file that shows stalls as fields of packets."""

import os
from contextlib import suppress
from pathlib import Path

from tcpstall.errors import CannotWrite
from tcpstall.output import written
from tcpstall.packets.side import cache_folder

__all__ = ["install", "is_installed", "plugin_folder", "remove"]

_SOURCE = Path(__file__).with_name("tcpstall.lua")

_MARK = b"-- tcpstall.lua, written by `tcpstall wireshark --install`"
"""Begins the file in every version: another file of that name is somebody else's."""


def plugin_folder() -> Path:
    """Wireshark's folder for Lua plugins of this user, the same on Linux, BSD and macOS."""
    return _home() / ".local" / "lib" / "wireshark" / "plugins"


def is_installed() -> bool:
    """True where this version's dissector is in that folder."""
    return _content(plugin_folder() / _SOURCE.name) == _SOURCE.read_bytes()


def install(folder: Path) -> tuple[Path, bool]:
    """Puts the dissector into `folder`, made if it is not there: the file, and False where it was there already.

    Raises CannotWrite where somebody else's file has its name, OSError.
    """
    target, content = folder / _SOURCE.name, _SOURCE.read_bytes()
    if _own_content(target) == content:
        return target, False
    folder.mkdir(parents=True, exist_ok=True)
    with written(target) as file:
        file.write(content)
    return target, True


def remove(folder: Path) -> tuple[Path, bool]:
    """Takes the dissector out of `folder` and deletes the user's side files: the file, and False where there was none.

    Folders of the user that are empty then go too. Raises CannotWrite where somebody else's file has its name, OSError.
    """
    target, cache = folder / _SOURCE.name, cache_folder()
    was_there = _own_content(target) is not None
    target.unlink(missing_ok=True)
    for side in cache.glob("*.tcpstall"):
        side.unlink(missing_ok=True)
    if folder == plugin_folder():
        _remove_empty(folder, _home())
    _remove_empty(cache, _home() if cache.is_relative_to(_home()) else cache.parent.parent)
    return target, was_there


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises for a user without an entry


def _own_content(target: Path) -> bytes | None:
    content = _content(target)
    if content is not None and not content.startswith(_MARK):
        raise CannotWrite(f"{target} is not tcpstall's: move it away, or choose another folder with --dir")
    return content


def _content(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _remove_empty(folder: Path, kept: Path) -> None:
    with suppress(OSError):
        while folder != kept:
            folder.rmdir()
            folder = folder.parent
