"""Inputs that a search finds, by their names."""

from tcpstall.archive.captures.discovery import Input, Tally, find

__all__ = ["NOISE", "failed", "found", "readable"]

NOISE = bytes(range(255, 0, -1)) * 20


def found(*roots: object, tally: Tally | None = None) -> dict[str, Input]:
    """By name below the only root; each name once."""
    inputs = list(find([str(root) for root in roots], tally=tally))
    names = [one.name.removeprefix(f"{roots[0]}/") for one in inputs]
    assert len(set(names)) == len(names)
    return dict(zip(names, inputs, strict=True))


def readable(inputs: dict[str, Input]) -> list[str]:
    return sorted(name for name, one in inputs.items() if one.error is None)


def failed(inputs: dict[str, Input]) -> dict[str, int]:
    return {name: one.exit_code for name, one in sorted(inputs.items()) if one.error is not None}
