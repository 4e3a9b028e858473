"""Width and colours of the terminal."""

import os
import sys
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["colours", "console", "has_braille", "show", "width"]

_NARROWEST = 80
_PIPED = 160
_WITHOUT_BRAILLE = ("dumb", "linux", "vt100", "vt220")


def colours(stream: TextIO) -> Literal["auto"] | None:
    """None where escape codes are forbidden: not a terminal, or NO_COLOR is set (https://no-color.org)."""
    return "auto" if stream.isatty() and not os.environ.get("NO_COLOR") else None


def has_braille() -> bool:
    """True where pictures may use more than ASCII: fonts of kernel consoles, for example, have no Braille."""
    return (sys.stdout.encoding or "").lower().startswith("utf") and os.environ.get("TERM") not in _WITHOUT_BRAILLE


def show(part: "RenderableType", screen: "Console") -> None:
    """Writes one part of a page.

    Not through the console's own `print`: that leaves the interpreter where the reader of a pipe has gone.
    """
    from tcpstall.report.text import whole

    with screen.capture() as written:
        screen.print(whole(part), crop=False)
    text = written.get()
    if screen.color_system is None:
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    sys.stdout.write(text)


def console() -> "Console":
    """Standard output for tables; wide when piped, and never so narrow that a figure would be cut."""
    from rich.console import Console

    return Console(
        width=width(),
        color_system=colours(sys.stdout),
        force_terminal=sys.stdout.isatty(),
        markup=False,
        highlight=False,
        emoji=False,
    )


def width() -> int:
    """COLUMNS wins, then the terminal; a pipe has no width, so its lines are long enough for one line a stall."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return max(_NARROWEST, int(columns))
    if not sys.stdout.isatty():
        return _PIPED
    return max(_NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns)
