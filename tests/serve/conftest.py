"""A client that calls one tool after another, within this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURE = "slowstart-rtt7ms-512k.pcap"


@dataclass(frozen=True)
class Told:
    """Result of a tool: `answer` is decoded from its text, `error` is its one line."""

    answer: Any = None
    error: str | None = None
    png: str | None = None


Ask = Callable[..., Told]


def told(result: Any) -> Told:
    """The parts of a tool's result, which say the same twice."""
    text = next(part.text for part in result.content if part.type == "text")
    if result.is_error:
        assert "\n" not in text
        return Told(error=text)
    assert json.loads(text) == result.structured_content
    return Told(json.loads(text), png=next((part.data for part in result.content if part.type == "image"), None))


def asking(root: Path, key: bytes | None = None) -> Ask:
    """`ask("analyze", captures=[…])` of a server over that folder."""
    anyio = pytest.importorskip("anyio", reason="the mcp package is not installed")
    mcp = pytest.importorskip("mcp", reason="the mcp package is not installed")
    from tcpstall.serve.reading import Source
    from tcpstall.serve.roots import Roots
    from tcpstall.serve.server import server

    made = server(Source(Roots([root]), key))

    async def call(tool: str, arguments: dict[str, Any]) -> Told:
        async with mcp.Client(made) as client:
            return told(await client.call_tool(tool, arguments))

    def _ask(tool: str, **arguments: Any) -> Told:
        answer: Told = anyio.run(call, tool, arguments)
        return answer

    return _ask


@pytest.fixture
def ask() -> Ask:
    """Of the fixtures."""
    return asking(FIXTURES)
