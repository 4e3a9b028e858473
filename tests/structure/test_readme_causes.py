"""The README's table of causes is the core's."""

from pathlib import Path

from tcpstall import _core

README = Path(__file__).parents[2] / "README.md"


def table() -> str:
    """The table as the README must show it."""
    rows = [f"| `{cause.name}` | {cause.summary} |" for cause in _core.causes()]
    return "\n".join(["| cause | the sender waited because |", "| --- | --- |", *rows])


def test_the_readme_lists_the_causes_as_the_core_does() -> None:
    assert table() in README.read_text()
