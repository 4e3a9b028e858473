"""Whole numbers as people type them on the command line."""

from typing import Any

import click

__all__ = ["LARGEST", "Number"]

LARGEST = 2**63 - 1
"""Largest number of the core. As nanoseconds it reaches the year 2262."""


class Number(click.IntRange):
    """A range that ends at the core's largest number, which the help omits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        number: int = super().convert(value, param, ctx)
        if number > LARGEST:
            self.fail(f"{number} is larger than any number here: at most {LARGEST}", param, ctx)
        return number
