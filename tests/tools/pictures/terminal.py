"""A terminal's contents as a picture: a command run on a pseudo-terminal, its colours kept."""

import io
import os
import pty
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""They fetch fonts from another site; whoever shows the picture has a monospaced one."""

REPOSITORY = Path(__file__).parents[3]
OF_THE_MAKER = "Running as user"
"""tshark's word about who made the picture."""

DAYLIGHT = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (207, 34, 46),
        (17, 99, 41),
        (125, 78, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (90, 95, 100),
    ],
    [
        (87, 96, 106),
        (164, 14, 38),
        (26, 127, 55),
        (99, 60, 1),
        (33, 139, 255),
        (164, 117, 249),
        (49, 146, 170),
        (140, 149, 159),
    ],
)


def typed(command: Sequence[str]) -> str:
    """The command as somebody would type it."""
    return "$ " + " ".join(f"'{word}'" if re.search(r"[ *\"|]", word) else word for word in command)


def printed(command: Sequence[str], columns: int, folder: Path) -> str:
    """Output of the command, run there, on a terminal of that width, escape codes included."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ |= {"COLUMNS": str(columns), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], list(command))
    text = b""
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:  # so a pseudo-terminal ends
            break
        if not read:
            break
        text += read
    os.waitpid(child, 0)
    return text.decode().replace("\r\n", "\n")


def draw(
    commands: Sequence[Sequence[str]],
    output: Path,
    *,
    columns: int,
    lines: int | None = None,
    folder: Path = REPOSITORY,
) -> None:
    """Runs the commands in that folder and writes an SVG of what stands in the terminal then, or of its first lines."""
    seen: list[Text] = []
    for command in commands:
        shown = [Path(command[0]).name, *command[1:]]
        told = Text.from_ansi(printed(command, columns, folder).rstrip("\n")).split("\n")
        seen += [Text(typed(shown), "bold"), *(line for line in told if OF_THE_MAKER not in line.plain), Text()]
    if lines is not None and len(seen) > lines:
        seen = [*seen[:lines], Text("…", "dim")]
    screen = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in seen:
        screen.print(line, crop=True, overflow="ignore", no_wrap=True)
    svg = screen.export_svg(title="", theme=DAYLIGHT, unique_id=output.stem)
    output.write_text(FONT_FACES.sub("", svg))


def tcpstall() -> str:
    """The command as it is installed beside this interpreter."""
    return str(Path(sys.executable).with_name("tcpstall"))
