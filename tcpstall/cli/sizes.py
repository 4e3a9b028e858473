"""Sizes as people type them on the command line."""

import re
from decimal import Decimal

import click

__all__ = ["SIZE"]

_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class _SizeType(click.ParamType[int]):
    """Bytes: decimal units, or binary ones with an i."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(value.strip())
        size = int(Decimal(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].lower()]) if match else 0
        if size <= 0:
            self.fail(f"{value!r} is no size: write bytes, such as 600M, 1.5GB or 512MiB", param, ctx)
        return size


SIZE = _SizeType()
