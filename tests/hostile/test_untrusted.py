"""Text from strangers stays text wherever it is shown: in terminals, Markdown, HTML and spreadsheets."""

import csv
import html
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tcpstall import Cause
from tcpstall.labels import read_label
from tcpstall.report.page import render
from tcpstall.untrusted import in_csv, in_html, in_jira, in_markdown, in_terminal
from tests.report.flows import Canned, capture, flow, stall

ATTACKS = [
    "\x1b[2J\x1b]0;owned\x07",  # clears the screen, names the window
    "\x9b31m",  # the same in one C1 character
    "user\u202egpj.exe",  # reads backwards from there
    "a\rb\nc\x7f\x00",
    "\ud800",  # half a character
    "[red]not red[/red] [link=https://example.org]here[/link] :skull:",
    "</td><script>alert(1)</script>",
    "' onmouseover='x",
    "=HYPERLINK(\"https://example.org\")",
    "@SUM(1)", "＝1+1", " =1",
    "![](https://example.org/x.png) [a](javascript:x) <b>",
    "` ``` `` ", "`", "| a | b |", "a\\|b", "a\\\\|b",
    "{code}[~admin]!x.png!{noformat} (!) :)", "# heading", "@someone #1 https://example.org",
]  # fmt: skip

strangers = st.one_of(st.text(), st.sampled_from(ATTACKS), st.text(alphabet="`|\\ =@[]<&'\x1b\u202ea"))


@given(strangers)
def test_nothing_steers_the_terminal(text: str) -> None:
    shown = in_terminal(text)
    assert shown.isprintable()
    shown.encode()
    assert in_terminal(shown) == shown


@given(strangers.filter(str.isprintable))
def test_what_can_be_read_is_shown_as_it_is(text: str) -> None:
    assert in_terminal(text) == text


@given(strangers)
def test_html_shows_the_text_and_holds_no_element(text: str) -> None:
    class Found(HTMLParser):
        def __init__(self) -> None:
            super().__init__(convert_charrefs=True)
            self.text, self.attribute = "", ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag == "p"
            assert [name for name, _ in attrs] == ["title"]
            self.attribute = attrs[0][1] or ""

        def handle_data(self, data: str) -> None:
            self.text += data

    for quote in "'\"":
        found = Found()
        found.feed(f"<p title={quote}{in_html(text)}{quote}>{in_html(text)}</p>")
        found.close()
        assert found.text == found.attribute == in_terminal(text)
    assert html.unescape(in_html(text)) == in_terminal(text)


@given(strangers)
def test_markdown_is_one_code_span(text: str) -> None:
    shown = in_markdown(text)
    if not shown.strip():
        return
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    inside = shown[len(fence) : -len(fence)]
    assert shown == f"{fence}{inside}{fence}"
    # CommonMark 6.1: the span ends at the next run of as many backticks.
    assert fence not in inside
    assert not inside.startswith("`")
    assert not inside.endswith("`")
    assert all(len(bar[1]) % 2 for bar in re.finditer(r"(\\*)\|", inside))


@given(strangers)
def test_jira_finds_no_markup_and_shows_the_text(text: str) -> None:
    shown = in_jira(text)
    assert not set(shown.replace("&#", "")) & set("{}[]|*_-+~^!?:()@#\\<>\"'`$&")
    assert html.unescape(shown) == in_terminal(text)


@given(strangers)
def test_no_cell_is_a_formula(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow([in_csv(text), "next"])
    ((cell, after),) = csv.reader(io.StringIO(written.getvalue()))
    assert after == "next"
    assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠\t\r"))


@given(st.binary(max_size=300), st.sampled_from([b"", b"GET ", b"\x16\x03\x01\x01\x00\x01\x00\x00\xff\x03\x03"]))
def test_a_label_is_one_short_line_of_ascii(payload: bytes, begins: bytes) -> None:
    for label in (read_label(begins + payload, b""), read_label(b"", begins + payload)):
        if label is not None:
            assert label.source in {"http", "tls"}
            for text in filter(None, (label.text, label.server_name, label.http_host, label.http_method)):
                assert text.isprintable()
                assert len(text) <= 200
                assert text.removesuffix("…").isascii()


def _page(analysis: Canned, width: int, *, stalls: bool = True) -> list[str]:
    # With markup, as rich has it by default: whoever prints a page need not know that strangers wrote parts of it.
    screen = Console(file=io.StringIO(), width=width, color_system=None)
    with screen.capture() as written:
        for part in render(analysis, width=width, stalls=stalls):
            screen.print(part)
    return written.get().split("\n")


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("label", ATTACKS)
def test_the_page_shows_labels_paths_and_errors_as_they_are(label: str, width: int) -> None:
    inputs = [capture(path=f"{label}.pcap", exit_code=5, error=f"{label}.pcap is damaged")]
    lines = _page(Canned([flow(stall(Cause.PACING, 5), label=label), flow(label=label)], inputs), width)
    assert all(line.isprintable() for line in lines)
    together = "".join("".join(lines).split())
    for told in (label, f"{label}.pcap: pcap", f"warning: {label}.pcap is damaged"):
        assert "".join(in_terminal(told).split()) in together
    assert all(line.isprintable() for line in _page(Canned([flow(label=label)], inputs), width, stalls=False))
