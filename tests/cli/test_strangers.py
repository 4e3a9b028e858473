"""A capture whose every text attacks the reader shows it as text, in every form that the command line writes."""

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.formats.containers import block, interface, option, section
from tests.scene import Scene
from tests.test_labels import hello

PATH = "/<script>alert(1)</script>|`x`\x1b[2J{code}!x.png!"
HOST = "=cmd()|[~admin]@here`"
NAME = "=cmd()|<b>`\x1b]0;x\x07"
COMMENT = b"=cmd() | <script>alert(2)</script> `c` \x1b[31m {code}"


@pytest.fixture
def hostile(scene: Scene, tmp_path: Path) -> Path:
    """Two flows, an HTTP request and a TLS hello, in a pcapng of which section, interface and packets have comments."""
    other = Scene(tmp_path, client_port=40_001)
    request = f"GET {PATH} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
    for stage, said in ((scene, request), (other, hello(NAME))):
        stage.handshake(rtt_ms=20)
        stage.client_sends(len(said), content=said)
        stage.server_acks()
        stage.server_transfers(60_000)
        stage.closes()
    plain = scene.capture(kind="pcapng", beside=[other]).read_bytes()
    path = tmp_path / "a=b`c|d.pcapng"
    path.write_bytes(commented(plain))
    return path


def commented(plain: bytes) -> bytes:
    """The same blocks, with a comment each."""
    out, at, comment = [section() + interface(1, resolution=9)], 0, option("<", 1, COMMENT) + option("<", 0, b"")
    while at < len(plain):
        kind, length = (int.from_bytes(plain[at + place : at + place + 4], "little") for place in (0, 4))
        if kind == 6:
            out.append(block("<", kind, plain[at + 8 : at + length - 4] + comment))
        at += length
    return b"".join(out) + block("<", 10, bytes(2) + bytes(2) + option("<", 0, b""))


def labels(here: Run, path: Path) -> list[str]:
    report = json.loads(here("analyze", path, "--format", "json").stdout)
    found = [flow["label"] for flow in report["flows"]]
    assert any("<script>" in label for label in found)
    assert any("=cmd()" in label for label in found)
    return found


@pytest.mark.parametrize("form", ["table", "text", "markdown", "jira", "csv", "json"])
def test_no_escape_reaches_the_terminal(here: Run, hostile: Path, form: str) -> None:
    done = here("analyze", hostile, "--format", form)
    assert done.returncode == 0
    assert all(line.isprintable() for line in (done.stdout + done.stderr).splitlines())


@pytest.mark.parametrize("form", ["table", "text"])
def test_where_nothing_is_markup_the_text_stands_as_it_is(here: Run, hostile: Path, form: str) -> None:
    shown = "".join(here("analyze", hostile, "--format", form, "--stalls", COLUMNS="300").stdout.split())
    for label in labels(here, hostile):
        assert "".join(label.split()) in shown


def test_markdown_keeps_strangers_in_code_spans(here: Run, hostile: Path) -> None:
    text = here("analyze", hostile, "--format", "markdown").stdout
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    for attack in ("<script", "=cmd", "[~admin", "@here", "<b>", "x.png"):
        assert attack in text
        assert attack not in outside
    rows = [line for line in text.splitlines() if line.startswith("|") and "script" in line]
    headings = next(line for line in text.splitlines() if line.startswith("| flow"))
    assert rows
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == headings.count("|")


def test_jira_reads_no_markup_of_strangers(here: Run, hostile: Path) -> None:
    text = here("analyze", hostile, "--format", "jira").stdout
    for attack in ("<script", "{code", "[~", "!x.png", "@here", "=cmd("):
        assert attack not in text
    assert "&#60;script&#62;" in text
    for row in (line for line in text.splitlines() if line.startswith("|") and "script" in line):
        assert row.count("|") == 10


def test_a_spreadsheet_runs_nothing(here: Run, hostile: Path) -> None:
    text = here("analyze", hostile, "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 2
    assert not [cell for row in rows for cell in row if cell.lstrip()[:1] in ("=", "@") or cell.startswith("+")]


def test_comments_are_shown_by_none(here: Run, hostile: Path) -> None:
    for form in ("table", "text", "markdown", "jira", "csv", "json"):
        assert "alert(2)" not in here("analyze", hostile, "--format", form).stdout


def test_pictures_of_it_are_drawn_and_linked(here: Run, hostile: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pic (1)"
    done = here("analyze", hostile, "--format", "markdown", "--plots", folder, "--plot-format", "svg")
    assert done.returncode == 0
    links = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", done.stdout)
    assert {Path(link).name for link in links} == {path.name for path in folder.iterdir()}
    assert "timeline.svg" in {path.name for path in folder.iterdir()}
    assert all("script" not in path.read_text() for path in folder.iterdir())


def test_an_anonymised_ticket_names_nobody(here: Run, hostile: Path, tmp_path: Path) -> None:
    options = ("--anonymise", "--plots", tmp_path / "out", "--plot-format", "svg")
    for form in ("markdown", "jira", "text"):
        done = here("analyze", hostile, "--format", form, *options)
        assert done.returncode == 0
        for word in ("a=b", "script", "cmd", "admin", "10.0.0."):
            assert word not in done.stdout
    assert all("10.0.0." not in path.read_text() for path in (tmp_path / "out").iterdir())
    assert len(list((tmp_path / "out").iterdir())) > 2


def test_a_page_shows_requests_server_names_and_comments_as_text_or_not_at_all(here: Run, hostile: Path) -> None:
    page = hostile.with_name("page.html")
    assert here("report", hostile, "-o", page).returncode == 0
    text = page.read_text()
    for attack in ("<script>alert", "|<b>", "\x1b[", "\x07"):
        assert attack not in text
    for label in labels(here, hostile):
        assert html.escape(label, quote=False) in text
