"""Causes why a sender waited: the native lists of causes and of their details as enums."""

from enum import EnumMeta, StrEnum
from typing import TYPE_CHECKING, TypeVar

from tcpstall import _core

__all__ = ["Cause", "Detail"]

_TABLE = {info.name: info for info in _core.causes()}
_DETAILS = dict.fromkeys(detail for info in _TABLE.values() for detail in info.details)


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
    def details(self) -> list[str]:
        """Names that narrow the cause."""
        return _TABLE[self.value].details

    @property
    def documentation(self) -> str:
        """The rule's own documentation, as `tcpstall explain` prints it."""
        return _TABLE[self.value].documentation

    @property
    def advice(self) -> str:
        """Change to make where no stall's detail has a better one."""
        return _TABLE[self.value].advice


if TYPE_CHECKING:
    _Member = TypeVar("_Member")

    class _AnyName(EnumMeta):
        def __getattr__(cls: type[_Member], name: str) -> _Member: ...

    class Cause(_FromTable, metaclass=_AnyName):
        """Cause of a sender's wait. Members are named after the table: `zero-window` is Cause.ZERO_WINDOW."""

    class Detail(StrEnum, metaclass=_AnyName):
        """Detail that narrows a cause: `slow-reader` is Detail.SLOW_READER."""

else:

    def _members(names):
        return [(name.replace("-", "_").upper(), name) for name in names]

    Cause = _FromTable("Cause", _members(_TABLE), module=__name__)
    Detail = StrEnum("Detail", _members(_DETAILS), module=__name__)
    Detail.__doc__ = "What narrows a cause: `slow-reader` is Detail.SLOW_READER."
    Cause.__doc__ = "Why a sender waited. Members are named after the table: `zero-window` is Cause.ZERO_WINDOW."
