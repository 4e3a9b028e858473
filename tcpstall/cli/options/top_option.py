"""The option --top: the number of rows that a command shows."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tcpstall.cli.options.numbers import Number

__all__ = ["top_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def top_option(meaning: str, *, default: int | None = None, most: int | None = None) -> Callable[[_Command], _Command]:
    """An option `--top N`, from 1 to `most`. Without a default the meaning ends with what holds then."""
    return click.option(
        "--top",
        type=Number(min=1, max=most),
        default=default,
        show_default=default is not None,
        metavar="N",
        help=meaning,
    )
