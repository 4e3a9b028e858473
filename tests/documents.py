"""The README and the pages of `tcpstall help`, with the marks between which tools put their tables."""

import re
from pathlib import Path

__all__ = ["DOCS", "README", "REPOSITORY", "put"]

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
DOCS = REPOSITORY / "tcpstall" / "docs"


def put(text: str, document: Path, marks: tuple[str, str]) -> None:
    """Replaces what is between the two marks, which stay."""
    begin, end = marks
    place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    marked = f"{begin}\n\n{text}\n\n{end}"
    document.write_text(place.sub(lambda _: marked, document.read_text(encoding="utf-8")), encoding="utf-8")
