"""The pages name every command, option and exit code."""

import re
from collections.abc import Iterator

import click
import pytest

from tcpstall.cli import COMMANDS as SENTENCES
from tcpstall.cli import tcpstall
from tcpstall.errors import ExitCode
from tests.documents import DOCS, README, REPOSITORY

PAGE = DOCS / "commands.md"


def _commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(tcpstall)
    for name in tcpstall.list_commands(context):
        command = tcpstall.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", each) for below, each in command.commands.items())


COMMANDS = dict(_commands())


def _documentation(name: str) -> str:
    """The command's section in the page on commands, and the page of its own, if it has one."""
    section = re.search(rf"^### `tcpstall {name}\b.*?(?=^##)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    own = DOCS / f"{name}.md"
    return (section[0] if section else "") + (own.read_text() if own.is_file() else "")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_documented_with_its_options(name: str) -> None:
    documentation = _documentation(name)
    options = (parameter for parameter in COMMANDS[name].params if isinstance(parameter, click.Option))

    missing = [option.name for option in options if f"`{max(option.opts, key=len)}" not in documentation]

    assert f"`tcpstall {name}" in documentation
    assert not missing


def test_each_picture_is_shown_and_is_there() -> None:
    pictures = REPOSITORY / ".github" / "pictures"
    documents = "\n".join(document.read_text() for document in (README, *DOCS.iterdir()))
    shown = re.findall(r"!\[[^]]+\]\((?:\.\./\.\./)?\.github/pictures/([^)]+)\)", documents)

    assert sorted(shown) == sorted(path.name for path in pictures.iterdir())


@pytest.mark.parametrize("code", list(ExitCode), ids=lambda code: code.name)
def test_each_exit_code_is_documented_with_its_meaning(code: ExitCode) -> None:
    assert f"| {code.value} | {code.meaning} |" in PAGE.read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_and_command_has_a_help_text(name: str) -> None:
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize("name", SENTENCES)
def test_the_list_of_commands_has_the_first_sentence_of_their_help(name: str) -> None:
    listed = click.Command(name, help=SENTENCES[name])
    assert listed.get_short_help_str(1_000) == COMMANDS[name].get_short_help_str(1_000)


def test_shell_completion_is_documented() -> None:
    assert "_TCPSTALL_COMPLETE" in PAGE.read_text()
