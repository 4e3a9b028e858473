"""The page on the store: its columns as the code has them, and the questions in it."""

from tcpstall.archive.asking.saved import Question, ours
from tcpstall.archive.columns import TABLES, Table, documented
from tests.documents import DOCS

DOCUMENT = DOCS / "store.md"
START = "<!-- columns: python -m tests.questions --write -->\n"
END = "<!-- end of columns -->\n"
QUESTIONS = "<!-- questions: python -m tests.questions --write -->\n"
END_OF_QUESTIONS = "<!-- end of questions -->\n"


def tables() -> str:
    """All of them, a heading each."""
    return "\n".join(_table(table) for table in TABLES.values())


def asked() -> str:
    """The questions that come with tcpstall."""
    return "\n".join(f"{_words(name, one)}\n\n```sql\n{one.sql}\n```\n" for name, one in ours().items())


def _words(name: str, question: Question) -> str:
    return f"`@{name}`: {question.text} {question.note}".strip()


def written() -> str:
    """The document with these tables and questions in it."""
    text = DOCUMENT.read_text()
    for start, content, end in ((START, tables(), END), (QUESTIONS, asked(), END_OF_QUESTIONS)):
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}\n{content}\n{end}{after}"
    return text


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
