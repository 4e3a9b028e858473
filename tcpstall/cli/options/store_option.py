"""The options that name stores."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tcpstall.cli.options.together import together

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


def _store(name: str, meaning: str, **how: Any) -> Callable[[_Command], _Command]:
    return click.option(
        "--store",
        name,
        envvar="TCPSTALL_STORE",
        metavar="DIR|URL",
        help=f"{meaning}  [env var: TCPSTALL_STORE]",
        **how,
    )


store_option = _store("store", "The store: a folder, or a URL.", required=True)


def several_stores_option(meaning: str, **how: Any) -> Callable[[_Command], _Command]:
    """An option `--store` that may be repeated, as the argument `stores`; its help begins with the meaning."""
    repeated = f"{meaning} May be repeated: several stores answer as one."
    return _store("stores", repeated, type=_STORE, multiple=True, **how)


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


def _given(option: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    return together(
        click.argument(
            "given", nargs=-1, type=_STORE, expose_value=False, is_eager=True, callback=_keeps, metavar="DIR|URL"
        ),
        option,
    )


_AS_NAMED = "The store, as the argument names it."

stores_given = _given(several_stores_option(_AS_NAMED, callback=_stores))
"""Stores as arguments, or by `--store`."""

store_given = _given(_store("store", _AS_NAMED, type=_STORE, multiple=True, callback=_one_store))
"""A store as the argument, or by `--store`."""
