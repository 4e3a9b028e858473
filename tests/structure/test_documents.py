"""The README is short, lists the causes as the core does, and every link of a document leads to a file."""

import re
from pathlib import Path

import pytest

from tcpstall import _core
from tests.documents import DOCS, README, REPOSITORY

_FOLDERS = ("", ".github", "tcpstall/docs", "fixtures", "fixtures/pairs", "fixtures/lines", "tests/formats")
DOCUMENTS = [document for folder in _FOLDERS for document in sorted((REPOSITORY / folder).glob("*.md"))]

_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Files that a document links to, code left out."""
    return [file for file, _ in _LINK.findall(_CODE.sub("", text))]


def headings(text: str) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", _CODE.sub(lambda found: found[0].strip("`"), text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text().splitlines()) <= 200


def test_the_readme_lists_the_causes_as_the_core_does() -> None:
    rows = [f"| `{cause.name}` | {cause.summary} |" for cause in _core.causes()]
    table = "\n".join(["| cause | the sender waited because |", "| --- | --- |", *rows])
    assert table in README.read_text()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_each_link_leads_to_a_file_and_heading_of_the_repository(document: Path) -> None:
    for file, anchor in _LINK.findall(_CODE.sub("", document.read_text())):
        target = (document.parent / file).resolve()
        assert target.exists(), file
        assert target.is_relative_to(REPOSITORY), file
        assert not anchor or anchor[1:] in headings(target.read_text()), f"{file}{anchor}"


def test_a_link_in_code_is_none() -> None:
    assert links("[a](b.md#c) `[d](e.md)` [f](https://example.org/g.md)\n```\n[h](i.md)\n```\n") == ["b.md"]


def test_the_readme_links_each_page() -> None:
    linked = {(README.parent / file).resolve() for file in links(README.read_text())}
    assert not {page.name for page in DOCS.glob("*.md") if page not in linked}
