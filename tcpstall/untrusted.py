"""Text that strangers wrote, made safe for where it is shown: packets, file names and system messages quote them.

Everything that came out of a capture or a folder and is shown goes through one of these, once, where it is shown.
"""

import re

__all__ = ["in_csv", "in_html", "in_jira", "in_markdown", "in_terminal"]

_FORMULAS = "=+-@＝＋－＠"
"""A cell that begins with one of these is a formula to a spreadsheet, the full-width forms to some."""

_BAR = r"(\\*)\|"
_ASCII = 0x7F
_BYTE = 0xFF
_HALVES = frozenset(map(chr, range(0xDC80, 0xDD00)))
"""Python's halves of characters for bytes that are no UTF-8 (PEP 383)."""

_PLAIN_IN_JIRA = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;=/%")


def in_terminal(text: str) -> str:
    """For a terminal and for plain files: what is not printable is spelled out as a backslash and its number.

    That is terminal escapes (C0, DEL, C1), line ends, characters that turn the direction of writing or have no width,
    and halves of characters, which no encoding can write. Python has such halves for bytes of names that are no UTF-8:
    the byte is shown, as the core shows it.
    """
    return text if text.isprintable() else "".join(map(_spelled, text))


def in_markdown(text: str) -> str:
    """As a code span, in which nothing is markup; bars are escaped, so that it may stand in a table."""
    # A table's cells are parted before code is looked for: an even number of backslashes would leave the bar bare.
    plain = re.sub(_BAR, lambda bar: f"{bar[1] * 2}\\|", in_terminal(text))
    if not plain.strip():
        return plain
    fence = "`"
    while fence in plain:
        fence += "`"
    # A span's own backticks must not touch the fence, and renderers take the spaces away again.
    return f"{fence} {plain} {fence}" if plain[0] in "` " or plain[-1] in "` " else f"{fence}{plain}{fence}"


def in_jira(text: str) -> str:
    """For Jira's wiki markup, anywhere in a line: every character that could be part of markup is a numeric entity.

    A backslash would do for most, but not for links, issue keys, mentions and smileys, which are found by their form.
    """
    return "".join(one if one in _PLAIN_IN_JIRA or ord(one) > _ASCII else f"&#{ord(one)};" for one in in_terminal(text))


def in_csv(text: str) -> str:
    """Never a formula: an apostrophe is put before what a spreadsheet would run. Quoting is the CSV writer's."""
    plain = in_terminal(text)
    return f"'{plain}" if plain.lstrip()[:1] and plain.lstrip()[0] in _FORMULAS else plain


def in_html(text: str) -> str:
    """For text and for quoted attributes."""
    import html

    return html.escape(in_terminal(text), quote=True)


def _spelled(character: str) -> str:
    if character in _HALVES:
        return f"\\x{ord(character) & _BYTE:02x}"
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
