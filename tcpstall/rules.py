"""A rule's own documentation, folded where the terminal ends. Without rich: it must be there at once."""

import re
import textwrap
from collections.abc import Mapping

from tcpstall.causes import Cause
from tcpstall.units import held

__all__ = ["all_causes", "listed", "rule", "sections"]

_HEADING = re.compile(r"^(Rule|Evidence|Source|Abstains|Looks like)\s+", re.MULTILINE)

_NO_BREAK = "\N{NO-BREAK SPACE}"


def sections(cause: Cause) -> dict[str, str]:
    """Text of the documentation under each of its headings, each in one line."""
    parts = _HEADING.split(cause.documentation)
    return {name: " ".join(text.split()) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def rule(cause: Cause, width: int) -> str:
    """The cause in a sentence, then each section."""
    sentence = _HEADING.split(cause.documentation)[0].strip()
    return f"{_folded(sentence, width)}\n\n{listed(sections(cause), width)}"


def all_causes(width: int) -> str:
    """A line a cause."""
    return listed({cause.value: cause.summary for cause in Cause}, width)


def listed(rows: Mapping[str, str], width: int) -> str:
    """A name a line with its text beside it, folded to `width` columns."""
    indent = max(map(len, rows)) + 2
    return "\n".join(_folded(text, width, f"{name:<{indent}}", " " * indent) for name, text in rows.items())


def _folded(text: str, width: int, before: str = "", indent: str = "") -> str:
    kept = textwrap.fill(
        held(text, _NO_BREAK),
        width,
        initial_indent=before,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return kept.replace(_NO_BREAK, " ")
