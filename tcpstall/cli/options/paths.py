"""Paths as options of commands that read captures."""

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PathType"]


class PathType(click.Path):
    """A path as `pathlib.Path`, which is imported once a path is given."""

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "Path":
        """The path, checked as click.Path checks it."""
        from pathlib import Path

        return Path(os.fsdecode(super().convert(value, param, ctx)))
