"""Questions to a store that have a name: those that come with tcpstall, and the user's own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

from tcpstall.errors import CannotAnswer, CannotOpen

__all__ = ["Question", "named", "ours", "questions"]

_REMARK = "-- "
_ENDING = ".sql"


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `text` and `note` are the first two remarks of its SQL, empty where there are none."""

    text: str
    note: str
    sql: str


def questions() -> Mapping[str, Question]:
    """All of them by name, in alphabetical order; the user's own go before those that come with tcpstall.

    The user's are files NAME.sql of the folder `tcpstall/questions` in XDG_CONFIG_HOME, by default `~/.config`.
    """
    return dict(sorted({**ours(), **_own()}.items()))


def named(name: str) -> Question:
    """Raises CannotAnswer for an unknown name."""
    known = questions()
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=2)
    hint = f"did you mean @{' or @'.join(near)}?" if near else "`tcpstall query --questions` lists them"
    raise CannotAnswer(f"there is no question @{name}: {hint}")


@cache
def ours() -> Mapping[str, Question]:
    """Those that come with tcpstall, by name in alphabetical order."""
    folder = files("tcpstall").joinpath("archive", "sql")
    found = (entry for entry in folder.iterdir() if entry.name.endswith(_ENDING))
    by_name = sorted(found, key=lambda entry: entry.name.removesuffix(_ENDING))
    return {entry.name.removesuffix(_ENDING): _read(entry.read_text(encoding="utf-8")) for entry in by_name}


def _own() -> dict[str, Question]:
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    folder = Path(base).expanduser() / "tcpstall" / "questions"
    found = {}
    for file in folder.glob(f"*{_ENDING}") if folder.is_dir() else ():
        try:
            found[file.stem] = _read(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise CannotOpen(f"{file}: a question that cannot be read: {error}") from error
    return found


def _read(text: str) -> Question:
    lines = text.splitlines()
    remarks = [line.removeprefix(_REMARK) for line in lines[:2] if line.startswith(_REMARK)]
    first, second = [*remarks, "", ""][:2]
    return Question(first, second, "\n".join(lines[len(remarks) :]))
