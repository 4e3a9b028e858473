"""Sizes as people type them on the command line."""

import click

from tcpstall.units import read_size

__all__ = ["SIZE"]


class _SizeType(click.ParamType[int]):
    """Bytes: binary units, or decimal ones with a B."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        size = read_size(value)
        if not size:
            self.fail(f"{value!r} is no size: write bytes, such as 512M (or MiB), or 1.5GB of 1,000 MB", param, ctx)
        return size


SIZE = _SizeType()
