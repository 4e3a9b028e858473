"""The folders that may be read, and the files that a stranger's path may name in them."""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from tcpstall.errors import CannotOpen

__all__ = ["Roots"]


class Roots:
    """Finds files in some folders. Links and `..` are resolved before a path is compared with them."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [each.resolve() for each in folders]

    def file(self, path: str) -> str:
        """A regular file in one of the folders, without links. Raises CannotOpen for any other path."""
        return self._found(path, stat.S_ISREG, "file")

    def folder(self, path: str) -> str:
        """A folder in one of them, or one of them itself, without links. Raises CannotOpen for any other path."""
        return self._found(path, stat.S_ISDIR, "folder")

    def _found(self, path: str, is_wanted: Callable[[int], bool], kind: str) -> str:
        for root in self._folders:
            try:
                real = os.path.realpath(root / path)
                if any(Path(real).is_relative_to(each) for each in self._folders) and is_wanted(os.lstat(real).st_mode):
                    return real
            except (OSError, ValueError):
                continue  # it is not there, or no system has such a name
        # The same line whatever is outside: an answer must not say which files exist there.
        raise CannotOpen(
            f"cannot open {path}: no such {kind} in the folders that --root names; give a path within them"
        )
