"""The option that names a store."""

import click

__all__ = ["store_option"]

store_option = click.option(
    "--store",
    required=True,
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="The store: a folder, or a URL.  [env var: TCPSTALL_STORE]",
)
