"""The option --flow: a flow of the captures by its number, or one of a store by its scan and number."""

import re
from typing import NamedTuple

import click

from tcpstall.cli.options.numbers import Number

__all__ = ["FLOW", "InStore", "store_of_flow_option"]

_IN_STORE = r"(?i)([0-9a-f]{1,16})/([0-9]{1,18})"


class InStore(NamedTuple):
    """A flow of a store: the beginning of its scan's id, and its number in the scan."""

    scan: str
    flow: int


class _FlowType(click.ParamType[int | InStore]):
    """A number, or SCAN/FLOW."""

    name = "flow"
    _number = Number(min=0)

    def convert(
        self, value: str | int | InStore, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | InStore:
        """`3` of the captures, `0f3a/3` of a store."""
        if isinstance(value, InStore):
            return value
        if isinstance(value, str) and "/" in value:
            if found := re.fullmatch(_IN_STORE, value.strip()):
                return InStore(found[1].lower(), int(found[2]))
            self.fail(f"{value!r} is no flow of a store: write the columns scan and flow as SCAN/FLOW", param, ctx)
        return self._number.convert(value, param, ctx)


FLOW = _FlowType()

store_of_flow_option = click.option(
    "--store",
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="The store that --flow SCAN/FLOW is in, instead of CAPTURE.  [env var: TCPSTALL_STORE]",
)
