"""`tcpstall help`: the pages of documentation that are installed with tcpstall, shown without a network."""

import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

import click
from click.shell_completion import CompletionItem

from tcpstall.causes import Cause
from tcpstall.cli import COMMANDS
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.terminal import width
from tcpstall.errors import ExitCode

__all__ = ["command", "pages"]

_NEAR = 0.6
"""Share of a topic's name that must match for the topic to be suggested."""

_PICTURE = re.compile(r"^!\[[^]]*\]\([^)]*\)\n+", re.MULTILINE)


@cache
def pages() -> Mapping[str, str]:
    """The text of each page, Markdown, by its topic; topics are in alphabetical order.

    Raises OSError where the installation is damaged.
    """
    found = (entry for entry in files("tcpstall").joinpath("docs").iterdir() if entry.name.endswith(".md"))
    return {
        entry.name.removesuffix(".md"): entry.read_text(encoding="utf-8")
        for entry in sorted(found, key=lambda entry: entry.name)
    }


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ").replace("`", "")


def _hint(topic: str) -> str:
    if topic in COMMANDS:
        return f"`tcpstall {topic} --help` lists the command's options"
    if topic in list(Cause):
        return f"`tcpstall explain {topic}` documents the cause"
    near = get_close_matches(topic, pages(), n=2, cutoff=_NEAR)
    return f"did you mean {' or '.join(near)}?" if near else "`tcpstall help` lists the pages"


class _TopicType(click.ParamType[str]):
    """The name of a page."""

    name = "topic"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Accepts capital letters too; an unknown topic is refused with the nearest ones."""
        topic = value.lower()
        if topic not in pages():
            self.fail(f"there is no page {value!r}; {_hint(topic)}", param, ctx)
        return topic

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Topics with the titles of their pages."""
        found = {topic: _title(text) for topic, text in pages().items() if topic.startswith(incomplete)}
        return [CompletionItem(topic, help=title) for topic, title in found.items()]


@click.command("help")
@click.argument("topic", type=_TopicType(), required=False)
def command(topic: str | None) -> ExitCode:
    """Show a page of the documentation; without TOPIC, list the pages.

    Pages are installed with tcpstall, so no network is needed. On a pipe they are Markdown. Options of a command are in
    its own help: `tcpstall COMMAND --help`.
    """
    with writing("standard output"):
        if topic is None:
            click.echo(_contents())
        elif sys.stdout.isatty():
            _show(pages()[topic])
        else:
            click.echo(pages()[topic], nl=False)
        sys.stdout.flush()
    return ExitCode.COMPLETE


def _contents() -> str:
    from tcpstall.rules import listed

    return listed({topic: _title(text) for topic, text in pages().items()}, width())


def _show(text: str) -> None:
    """On a terminal, without pictures; a link shows the file that it names, because a terminal cannot follow it."""
    from rich.markdown import Markdown
    from rich.theme import Theme

    from tcpstall.cli.process.terminal import console, show

    screen = console()
    screen.push_theme(Theme({"markdown.code": "cyan", "markdown.code_block": "cyan"}))
    show(Markdown(_PICTURE.sub("", text), code_theme="ansi_dark", hyperlinks=False), screen)
