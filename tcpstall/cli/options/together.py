"""Options that several commands have, added to a command together."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["together"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """A decorator that adds these options; the help lists them in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
