"""An Analysis as text for tickets, chats and mails: GitHub's Markdown, Jira's wiki markup, plain text."""

from collections.abc import Callable, Iterable

from tcpstall.report.ticket.blocks import Block, Picture
from tcpstall.report.ticket.content import Detail, content
from tcpstall.report.ticket.jira import in_wiki_markup
from tcpstall.report.ticket.markdown import in_github_markdown
from tcpstall.report.ticket.plain import in_plain_text

__all__ = ["FORMS", "Detail", "Picture", "content"]

FORMS: dict[str, Callable[[Iterable[Block]], str]] = {
    "markdown": in_github_markdown,
    "jira": in_wiki_markup,
    "text": in_plain_text,
}
"""From what is said to how it is written."""
