"""Interface of the plots that another layer draws for the page."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Drawn", "Mark", "Panel"]


class Mark(Protocol):
    """A line of a plot's legend."""

    @property
    def text(self) -> str:
        """Meaning of the line."""

    @property
    def colour(self) -> str:
        """#rrggbb."""

    @property
    def mark(self) -> str:
        """`line`, `dash`, `stroke`, `dot`, `cross`, `triangle` or `band`."""

    @property
    def pattern(self) -> int:
        """Of a band; 0 is plain."""


class Panel(Protocol):
    """A plot's place in the page and what is written above it."""

    @property
    def element(self) -> str:
        """The id of the element that it is put into."""

    @property
    def title(self) -> str:
        """Title of the plot."""

    @property
    def unit(self) -> str:
        """Of the vertical axis; empty without one."""

    @property
    def legend(self) -> Sequence[Mark]:
        """In the order they were drawn."""


class Drawn(Protocol):
    """The plots of a flow."""

    @property
    def side(self) -> str:
        """The end whose data is drawn."""

    @property
    def time_unit(self) -> str:
        """Of the horizontal axis."""

    @property
    def unit_ns(self) -> int:
        """Nanoseconds in it."""

    @property
    def panels(self) -> Sequence[Panel]:
        """From the top down."""

    @property
    def payload(self) -> str:
        """Text in base64 that the page's script unpacks."""

    @property
    def reduced(self) -> bool:
        """Not every packet is drawn."""
