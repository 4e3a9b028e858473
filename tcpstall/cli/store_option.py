"""The options that name stores."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["several_stores_option", "store_option", "stores_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _StoreType(click.ParamType[str]):
    """A folder or a URL."""

    name = "store"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As it is."""
        return value

    def split_envvar_value(self, rv: str) -> list[str]:
        """One store: folders have spaces, and URLs colons."""
        return [rv]


_STORE = _StoreType()

store_option = click.option(
    "--store",
    required=True,
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="The store: a folder, or a URL.  [env var: TCPSTALL_STORE]",
)


def several_stores_option(meaning: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """An option `--store` that may be repeated, as the argument `stores`; its help begins with the meaning."""
    return click.option(
        "--store",
        "stores",
        type=_STORE,
        required=required,
        multiple=True,
        envvar="TCPSTALL_STORE",
        metavar="DIR|URL",
        help=f"{meaning} May be repeated: several stores answer as one.  [env var: TCPSTALL_STORE]",
    )


stores_option = several_stores_option("The store: a folder, or a URL.", required=True)
