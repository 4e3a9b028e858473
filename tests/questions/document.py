"""The page on the store: its columns as the code has them, and the questions in it."""

import re

from tcpstall.archive.columns import TABLES, Table, documented
from tests.documents import DOCS

DOCUMENT = DOCS / "store.md"
START = "<!-- columns: python -m tests.questions --write -->\n"
END = "<!-- end of columns -->\n"

_QUESTION = re.compile(r"^([^\n]+)\n\n```sql\n(.+?)\n```$", re.MULTILINE | re.DOTALL)


def tables() -> str:
    """All of them, a heading each."""
    return "\n".join(_table(table) for table in TABLES.values())


def written() -> str:
    """The document with these tables in it."""
    before, _, rest = DOCUMENT.read_text().partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{tables()}\n{END}{after}"


def questions() -> dict[str, str]:
    """SQL by the question that it answers."""
    return dict(_QUESTION.findall(DOCUMENT.read_text()))


def _table(table: Table) -> str:
    rows = [
        f"### {table.name}",
        "",
        table.meaning,
        "",
        "| column | type | unit | meaning |",
        "| --- | --- | --- | --- |",
    ]
    for names, type_, unit, meaning in documented(table):
        spelled = ", ".join(f"`{name}`" for name in names.split(", "))
        rows.append(f"| {spelled} | {type_} | {unit} | {meaning} |")
    return "\n".join(rows) + "\n"
