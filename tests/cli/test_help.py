"""`tcpstall help` shows the pages that are installed, as Markdown on a pipe and rendered on a terminal."""

import sys

import pytest
from rich.cells import cell_len

from tcpstall.cli import main
from tcpstall.cli.help import command, pages
from tcpstall.errors import ExitCode
from tests.documents import DOCS

Capsys = pytest.CaptureFixture[str]


def test_without_a_topic_each_page_is_listed_with_its_title(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["help"]) == ExitCode.COMPLETE
    listed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in listed] == sorted(page.stem for page in DOCS.glob("*.md"))
    assert "capture       How to capture, and how far to trust a capture" in listed
    assert max(map(cell_len, listed)) <= 80


@pytest.mark.parametrize("topic", pages())
def test_a_pipe_gets_the_page_as_it_is(topic: str, capsys: Capsys) -> None:
    assert main(["help", topic.upper()]) == ExitCode.COMPLETE
    assert capsys.readouterr().out == (DOCS / f"{topic}.md").read_text()


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("topic", pages())
def test_a_terminal_gets_a_page_that_fits_it(
    topic: str, columns: int, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["help", topic]) == ExitCode.COMPLETE
    shown = capsys.readouterr().out
    assert max(map(cell_len, shown.splitlines())) <= columns
    assert not [mark for mark in ("\x1b", "](", "<!--", "| ---", ".github/pictures") if mark in shown]


@pytest.mark.parametrize(
    ("topic", "hint"),
    [
        ("archiv", "did you mean archive?"),
        ("formets", "did you mean formats?"),
        ("analyze", "`tcpstall analyze --help` lists the command's options"),
        ("zero-window", "`tcpstall explain zero-window` documents the cause"),
        ("../../pyproject", "`tcpstall help` lists the pages"),
        ("", "`tcpstall help` lists the pages"),
    ],
)
def test_an_unknown_topic_is_refused_with_what_to_type(topic: str, hint: str, capsys: Capsys) -> None:
    assert main(["help", topic]) == ExitCode.USAGE
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("Error: Invalid value for '[TOPIC]': there is no page")
    assert told.endswith(hint)


def test_topics_complete_with_their_titles() -> None:
    (topic,) = command.params[:1]
    (item,) = topic.type.shell_complete(command.make_context("help", []), topic, "arch")[:1]
    assert (item.value, item.help) == (
        "architecture",
        "Architecture: the house, the path of an ACK, where to add a part",
    )
