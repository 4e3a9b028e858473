"""The options that name stores."""

import click

__all__ = ["STORE", "store_option", "stores_option"]


class _StoreType(click.ParamType[str]):
    """A folder or a URL."""

    name = "store"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As it is."""
        return value

    def split_envvar_value(self, rv: str) -> list[str]:
        """One store: folders have spaces, and URLs colons."""
        return [rv]


STORE = _StoreType()

store_option = click.option(
    "--store",
    required=True,
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="The store: a folder, or a URL.  [env var: TCPSTALL_STORE]",
)

stores_option = click.option(
    "--store",
    "stores",
    type=STORE,
    required=True,
    multiple=True,
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="The store: a folder, or a URL. May be repeated: several stores answer as one.  [env var: TCPSTALL_STORE]",
)
