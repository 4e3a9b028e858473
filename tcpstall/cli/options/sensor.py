"""Names of sensors on the command line."""

import click

__all__ = ["SENSOR"]

_WILDCARDS = frozenset("*?[]")

_LONGEST = 200
"""Most characters of a name: it stands in every row."""


class _SensorType(click.ParamType[str]):
    """A label of rows, which `--sensor` of other commands selects."""

    name = "sensor"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses what is empty, long or not printable, and wildcards, which would select other names too."""
        if not value.strip() or len(value) > _LONGEST or not value.isprintable() or _WILDCARDS.intersection(value):
            self.fail(f"{value!r} is no name of a sensor: write 1 to {_LONGEST} characters without * ? [ ]", param, ctx)
        return value


SENSOR = _SensorType()
