"""Man pages and shell completions, made of the commands themselves: files below a `share` folder."""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from textwrap import wrap

import click
from click.shell_completion import ShellComplete, get_completion_class

__all__ = ["files"]

_SHELLS: Mapping[str, str] = {
    "bash": "bash-completion/completions/tcpstall",
    "zsh": "zsh/site-functions/_tcpstall",
    "fish": "fish/vendor_completions.d/tcpstall.fish",
}
"""Files below share in which each shell looks for completions."""

_AS_IT_STANDS = "\b\n"
"""Click's mark of a paragraph whose lines are kept."""

_COMPLETE = "_TCPSTALL_COMPLETE"

_WIDE = 72
"""Columns of the source, whose lines the formatter fills anew."""

_LONGEST = 1_000
"""Characters of a short description: all of its first sentence."""


def files(group: click.Group, version: str) -> Iterator[tuple[str, str]]:
    """Each file's path below share, and its text."""
    for context in _commands(click.Context(group, info_name="tcpstall", **group.context_settings)):
        yield f"man/man1/{_file(context)}.1", _page(context, version)
    for shell, path in _SHELLS.items():
        kind = get_completion_class(shell)
        assert kind is not None, shell  # noqa: S101 click has all three
        # The base class's: bash's own would ask the bash of this machine for its version.
        yield path, ShellComplete.source(kind(group, {}, "tcpstall", _COMPLETE))


def _commands(context: click.Context) -> Iterator[click.Context]:
    """The command and all below it."""
    yield context
    for below in _below(context):
        yield from _commands(below)


def _below(context: click.Context) -> Iterator[click.Context]:
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        if command := group.get_command(context, name):
            yield click.Context(command, parent=context, info_name=name)


def _file(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _page(context: click.Context, version: str) -> str:
    command, file = context.command, _file(context)
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    records = [record for each in options if (record := each.get_help_record(context))]
    lines = [
        f'.TH {_text(file.upper())} 1 "" "tcpstall {version}" "tcpstall manual"',
        ".SH NAME",
        f"{_text(file)} \\- {_text(command.get_short_help_str(_LONGEST))}",
        ".SH SYNOPSIS",
        f".B {_text(context.command_path)}",
        _text(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        ".SH OPTIONS",
        *_items(records),
    ]
    if below := [(each.command_path, each.command.get_short_help_str(_LONGEST)) for each in _below(context)]:
        lines += [".SH COMMANDS", *_items(below)]
    if command.epilog:
        lines += [".SH NOTES", *_paragraphs(command.epilog)]
    see = f".BR {_text(_file(context.parent))} (1)" if context.parent else ".BR tcpdump (8)"
    return "\n".join([*lines, ".SH SEE ALSO", see]) + "\n"


def _items(items: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, told in items:
        yield from (".TP", f".B {_text(term)}", *_filled(told))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", cleandoc(text))):
        if number:
            yield ".PP"
        if paragraph.startswith(_AS_IT_STANDS):
            yield from (".nf", *map(_text, paragraph.removeprefix(_AS_IT_STANDS).splitlines()), ".fi")
        else:
            yield from _filled(paragraph)


def _filled(text: str) -> Iterator[str]:
    return map(_text, wrap(text, _WIDE, break_long_words=False, break_on_hyphens=False))


def _text(text: str) -> str:
    """A line that is no request to the formatter."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
