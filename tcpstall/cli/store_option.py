"""The options that name stores."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tcpstall.cli.options import together

__all__ = ["several_stores_option", "store_given", "store_option", "stores_given", "stores_option"]

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

_GIVEN = "tcpstall.stores"
"""Key of the stores that were named as arguments."""

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


def _keeps(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keeps the arguments for the option, which is read after them."""
    ctx.meta[_GIVEN] = value


def _stores(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The stores named as arguments and by `--store`, else that of the environment."""
    given: tuple[str, ...] = ctx.meta.get(_GIVEN, ())
    by_name = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
    named = (*given, *(value if by_name or not given else ()))
    if not named and not ctx.resilient_parsing:
        raise click.UsageError(f"name the store: {ctx.command_path} DIR", ctx)
    return named


def _one_store(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str:
    """The one store."""
    first, *others = _stores(ctx, param, value) or ("",)
    if others:
        raise click.UsageError(f"one store at a time: {ctx.command_path} DIR", ctx)
    return first


def _given(name: str, callback: Callable[..., Any], help_: str) -> Callable[[_Command], _Command]:
    return together(
        click.argument(
            "given", nargs=-1, type=_STORE, expose_value=False, is_eager=True, callback=_keeps, metavar="DIR|URL"
        ),
        click.option(
            "--store",
            name,
            type=_STORE,
            multiple=True,
            callback=callback,
            envvar="TCPSTALL_STORE",
            metavar="DIR|URL",
            help=help_,
        ),
    )


stores_given = _given(
    "stores",
    _stores,
    "The store, as the argument names it. May be repeated: several stores answer as one.  [env var: TCPSTALL_STORE]",
)
"""Stores as arguments, or by `--store`."""

store_given = _given("store", _one_store, "The store, as the argument names it.  [env var: TCPSTALL_STORE]")
"""A store as the argument, or by `--store`."""
