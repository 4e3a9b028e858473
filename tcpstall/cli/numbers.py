"""Whole numbers as people type them on the command line."""

from typing import Any

import click

__all__ = ["LARGEST", "Number"]

LARGEST = 2**63 - 1
"""What the core counts to. Time in nanoseconds reaches the year 2262."""


class Number(click.IntRange):
    """A range that ends where the core's numbers end, which help need not say."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        number: int = super().convert(value, param, ctx)
        if number > LARGEST:
            self.fail(f"{number} is larger than any number here: at most {LARGEST}", param, ctx)
        return number
