"""Why a sender waited: the native table of causes as an enum."""

from enum import EnumMeta, StrEnum
from typing import TYPE_CHECKING

from tcpstall import _core

__all__ = ["Cause"]

_TABLE = {info.name: info for info in _core.causes()}


class _FromTable(StrEnum):
    """A cause by its public name, with the rest of its row in the native table."""

    @property
    def code(self) -> int:
        """The permanent number."""
        return _TABLE[self.value].code

    @property
    def colour(self) -> str:
        """Its colour in tables and pictures, #rrggbb."""
        return _TABLE[self.value].colour

    @property
    def summary(self) -> str:
        """One sentence without a full stop."""
        return _TABLE[self.value].summary

    @property
    def documentation(self) -> str:
        """The rule's own documentation, as `tcpstall explain` prints it."""
        return _TABLE[self.value].documentation

    @property
    def advice(self) -> str:
        """What to change where no stall's detail says better."""
        return _TABLE[self.value].advice


if TYPE_CHECKING:

    class _AnyName(EnumMeta):
        def __getattr__(cls, name: str) -> "Cause": ...

    class Cause(_FromTable, metaclass=_AnyName):
        """Why a sender waited. Members are named after the table: `zero-window` is Cause.ZERO_WINDOW."""

else:
    Cause = _FromTable("Cause", [(name.replace("-", "_").upper(), name) for name in _TABLE], module=__name__)
    Cause.__doc__ = "Why a sender waited. Members are named after the table: `zero-window` is Cause.ZERO_WINDOW."
