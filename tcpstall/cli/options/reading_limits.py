"""Options of every command that reads captures, one of many captures too, which needs no more of what reads one."""

import click

from tcpstall.cli.options.numbers import Number
from tcpstall.cli.options.quantities import RATE

__all__ = ["link_rate_option", "max_expansion_option"]

link_rate_option = click.option(
    "--link-rate",
    "link_bytes_per_s",
    type=RATE,
    metavar="RATE",
    help="Rate of the link, e.g. 100Mbit: each flow's share of it is shown.",
)

max_expansion_option = click.option(
    "--max-expansion",
    type=Number(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="How many times its size a compressed capture may grow to, beyond a gigabyte; what grows further is cut off.",
)
