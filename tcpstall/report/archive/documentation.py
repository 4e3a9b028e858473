"""The columns of tables and the questions that have a name, for reading in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from tcpstall.report.style import table, words

__all__ = ["render_questions", "render_table"]


def render_table(
    name: str, meaning: str, columns: Sequence[tuple[str, str, str, str]], *, width: int
) -> Iterator[RenderableType]:
    """Names, type, unit and meaning a row."""
    headings = [words("column"), words("type"), words("unit"), words("meaning")]
    yield table(f"{name}: {meaning}", headings, columns, width)
    yield Text()


def render_questions(questions: Sequence[tuple[str, str]], *, width: int) -> RenderableType:
    """A name and its question a row."""
    return table("tcpstall query @NAME", [words("name"), words("question")], questions, width)
