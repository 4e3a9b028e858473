"""Rates as people type them on the command line."""

import re
from decimal import Decimal

import click

__all__ = ["RATE"]

_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmg]?)(bit(?:/s|ps)?|bps)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BITS = 8
_MOST = 10**18
"""Bits a second: a million times the fastest link that is sold, and within what the core counts."""


class _RateType(click.ParamType[int]):
    """Bits a second, decimal units, as network interfaces are sold."""

    name = "rate"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes a second."""
        if isinstance(value, int):
            return value
        match = _RATE.fullmatch(value.strip())
        if match and not match[2] and not match[3]:
            self.fail(f"{value!r} is no rate: its unit is missing; write {match[1]}Mbit, or {match[1]}bit", param, ctx)
        bits = int(Decimal(match[1]) * _FACTORS[match[2].lower()]) if match else 0
        if not _BITS <= bits <= _MOST:
            self.fail(f"{value!r} is no rate: write bits a second, such as 100Mbit, 2.5Gbit or 640k", param, ctx)
        return bits // _BITS


RATE = _RateType()
