"""Abilities of a terminal: its width, its characters, and output of text."""

from dataclasses import dataclass

from rich.text import Text

from tcpstall.units import in_ascii

__all__ = ["Screen"]

_NARROWEST = 60


@dataclass(frozen=True)
class Screen:
    """Columns, and whether every character of Unicode can be shown; colours are the writer's business."""

    width: int
    unicode: bool

    def text(self, line: str, style: str = "") -> Text:
        """A line no longer than the screen is wide, as it can show it."""
        return Text(self.shown(line)[: max(self.width, _NARROWEST)], style, no_wrap=True)

    def shown(self, words: str) -> str:
        """In ASCII where there is no more."""
        return words if self.unicode else in_ascii(words)

    def columns(self, gutter: int) -> int:
        """The screen without a gutter on the left."""
        return max(self.width, _NARROWEST) - gutter - 1
