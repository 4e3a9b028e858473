"""The README, or a command's own page, names every command, option and exit code."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tcpstall as tcpstall_package
from tcpstall.cli import tcpstall
from tcpstall.errors import ExitCode

README = Path(__file__).parents[2] / "README.md"
PAGES = Path(tcpstall_package.__file__).parent / "docs"


def _commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(tcpstall)
    for name in tcpstall.list_commands(context):
        command = tcpstall.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", each) for below, each in command.commands.items())


COMMANDS = dict(_commands())


def _page(name: str) -> str:
    """The command's own page; where it has none, its row in the README."""
    page = PAGES / f"{name}.md"
    if page.exists():
        return page.read_text()
    return next((line for line in README.read_text().splitlines() if line.startswith(f"| `tcpstall {name}")), "")


def _everything() -> str:
    return "\n".join(path.read_text() for path in (README, *sorted(PAGES.glob("*.md"))))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_documented(name: str) -> None:
    assert f"tcpstall {name}" in _everything()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_on_its_commands_page(name: str) -> None:
    page = _page(name)
    options = (parameter for parameter in COMMANDS[name].params if isinstance(parameter, click.Option))

    missing = [option.name for option in options if f"`{max(option.opts, key=len)}" not in page]

    assert not missing


def test_each_picture_is_shown_and_is_there() -> None:
    pictures = README.parent / ".github" / "pictures"
    shown = re.findall(r"!\[[^]]+\]\(\.github/pictures/([^)]+)\)", README.read_text())

    assert sorted(shown) == sorted(path.name for path in pictures.iterdir())


@pytest.mark.parametrize("code", list(ExitCode), ids=lambda code: code.name)
def test_each_exit_code_is_documented_with_its_meaning(code: ExitCode) -> None:
    assert f"| {code.value} | {code.meaning} |" in _everything()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_and_command_has_a_help_text(name: str) -> None:
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), parameter.name


def test_shell_completion_is_in_the_readme() -> None:
    assert "_TCPSTALL_COMPLETE" in README.read_text()
