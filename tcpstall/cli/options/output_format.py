"""The option --format of commands that print for people or for programs."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["table_or_json"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def table_or_json(shown: str) -> Callable[[_Command], _Command]:
    """Adds the option, as `form`; `shown` is what people get: `Tables`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(("table", "json")),
        default="table",
        show_default=True,
        help=f"{shown} for reading, or one JSON object.",
    )
