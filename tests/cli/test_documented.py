"""The README names every command, option and exit code."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tcpstall.cli import tcpstall
from tcpstall.errors import ExitCode

README = Path(__file__).parents[2] / "README.md"


def _commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(tcpstall)
    for name in tcpstall.list_commands(context):
        command = tcpstall.get_command(context, name)
        assert command is not None
        yield name, command


COMMANDS = dict(_commands())
OPTIONS = sorted(
    {
        max(parameter.opts, key=len)
        for command in COMMANDS.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }
)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_in_the_readme(name: str) -> None:
    assert f"tcpstall {name}" in README.read_text()


@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_is_in_the_readme(option: str) -> None:
    assert f"`{option}" in README.read_text() or f" {option}" in README.read_text()


@pytest.mark.parametrize("code", list(ExitCode), ids=lambda code: code.name)
def test_each_exit_code_is_in_the_readme_with_its_meaning(code: ExitCode) -> None:
    assert f"| {code.value} | {code.meaning} |" in README.read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_and_command_has_a_help_text(name: str) -> None:
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), parameter.name


def test_shell_completion_is_in_the_readme() -> None:
    assert "_TCPSTALL_COMPLETE" in README.read_text()
