"""An analysis as a notebook shows it: the page of the terminal, in its colours."""

import io

from rich.console import Console

from tcpstall.model import Analysis
from tcpstall.report.page import render
from tcpstall.report.text import whole

__all__ = ["html"]

_WIDTH = 100
_CODE = '<pre style="font-family:monospace;line-height:1.3;white-space:pre;overflow-x:auto"><code>{code}</code></pre>'


def html(analysis: Analysis) -> str:
    """HTML that needs no style sheet; text from the wire is escaped."""
    console = Console(
        record=True, file=io.StringIO(), width=_WIDTH, force_terminal=True, markup=False, highlight=False, emoji=False
    )
    for part in render(analysis, width=_WIDTH):
        console.print(whole(part), crop=False)
    return console.export_html(inline_styles=True, code_format=_CODE)
