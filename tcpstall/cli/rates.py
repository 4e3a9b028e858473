"""Rates as people type them on the command line."""

import re
from decimal import Decimal

import click

__all__ = ["RATE"]

_RATE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmg]?)(?:bit(?:/s|ps)?|bps)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BITS = 8


class _RateType(click.ParamType[int]):
    """Bits a second, decimal units, as network interfaces are sold."""

    name = "rate"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes a second."""
        if isinstance(value, int):
            return value
        match = _RATE.fullmatch(value.strip())
        size = int(Decimal(match[1]) * _FACTORS[match[2].lower()]) // _BITS if match else 0
        if size <= 0:
            self.fail(f"{value!r} is no rate: write bits a second, such as 100Mbit, 2.5Gbit or 640k", param, ctx)
        return size


RATE = _RateType()
