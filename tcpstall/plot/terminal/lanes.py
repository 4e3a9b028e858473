"""Waits as rows of letters on their causes' colours, readable without colours too."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from rich.text import Text

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.plot import bands, style
from tcpstall.plot.bands import Band
from tcpstall.plot.reduce import View
from tcpstall.plot.terminal.screen import Screen

__all__ = ["lane", "legend", "letter", "wrapped"]


@cache
def _letters() -> dict[Cause, str]:
    """The first letter of each name that no earlier cause has; capitals stand out in a row."""
    taken: dict[Cause, str] = {}
    for cause in Cause:
        free = (one for one in cause.value.upper() if one.isalpha() and one not in taken.values())
        taken[cause] = next(free, "?")
    return taken


def letter(cause: Cause) -> str:
    """The letter of a cause, always the same."""
    return _letters()[cause]


def lane(waits: Sequence[Band], start_ns: int, end_ns: int, columns: int, life: tuple[int, int] | None = None) -> Text:
    """One row: in each column the cause that owns most of it, a dot where nobody waited, nothing outside of `life`."""
    view = View(start_ns, end_ns, columns)
    owned: list[dict[Cause, float]] = [{} for _ in range(columns)]
    per_column = view.length_ns / columns
    for band in bands.apart(bands.cut(waits, start_ns, end_ns), View(start_ns, end_ns, 8 * columns)):
        first, last = (band.start_ns - start_ns) / per_column, (band.end_ns - start_ns) / per_column
        for column in range(int(first), min(int(last), columns - 1) + 1):
            part = min(last, column + 1) - max(first, column)
            if part > 0:
                owned[column][band.cause] = owned[column].get(band.cause, 0.0) + part
    born, died = (0, columns) if life is None else ((at - start_ns) / per_column for at in life)
    text = Text(no_wrap=True)
    for column, causes in enumerate(owned):
        if causes:
            cause = max(causes, key=lambda one: causes[one])
            text.append(letter(cause), _solid(cause))
        else:
            text.append("." if int(born) <= column <= died else " ", "dim")
    return text


def legend(waits: Iterable[tuple[Cause, int]], screen: Screen) -> Iterator[Text]:
    """Causes of the letters, with the time of each."""
    yield from wrapped(
        (
            Text.assemble((letter(cause), _solid(cause)), screen.shown(f" {cause} {units.duration(span_ns)}"))
            for cause, span_ns in sorted(waits, key=lambda row: -row[1])
        ),
        screen,
    )


def wrapped(entries: Iterable[Text], screen: Screen) -> Iterator[Text]:
    """As many to a line as fit."""
    line = Text(no_wrap=True)
    for entry in entries:
        if line and len(line) + len(entry) + 3 > screen.width:
            yield line
            line = Text(no_wrap=True)
        line.append("   " if line else "").append(entry)
    if line:
        yield line


def _solid(cause: Cause) -> str:
    return f"{style.ink_on(cause.colour)} on {cause.colour}"
