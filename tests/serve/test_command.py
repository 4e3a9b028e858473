"""The command as a client starts it: a process that is talked to on its standard input and output."""

import json
import signal
import subprocess
import sys

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.cli.conftest import environment
from tests.serve.conftest import CAPTURE, FIXTURES, told

COMMAND = ["-m", "tcpstall", "serve", "--mcp", "--root", str(FIXTURES)]
REQUEST = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}\n'
)
TOOLS = {"analyze", "findings", "flow", "explain_stall", "plot", "query"}


def test_a_client_of_the_mcp_package_drives_it() -> None:
    anyio = pytest.importorskip("anyio", reason="the mcp package is not installed")
    mcp = pytest.importorskip("mcp", reason="the mcp package is not installed")

    async def talk() -> None:
        async with mcp.Client(mcp.StdioServerParameters(command=sys.executable, args=COMMAND)) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == TOOLS
            assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
            analysed = told(await client.call_tool("analyze", {"captures": [CAPTURE]}))
            assert analysed.answer["flows"][0]["lost_ns"] == 49_357_000
            (worst, *_) = analysed.answer["findings"]
            shown = {"captures": [CAPTURE], "flow": worst["example"]["flow"], "stall": worst["example"]["stall"]}
            proof = told(await client.call_tool("explain_stall", shown)).answer
            assert proof["stall"]["cause"] == "cwnd-limited"
            assert told(await client.call_tool("plot", {"captures": [CAPTURE], "kind": "in-flight"})).png
            assert "no such file" in (told(await client.call_tool("flow", {"captures": ["x"], "flow": 0})).error or "")

    anyio.run(talk)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it_while_it_waits_for_a_request(number: signal.Signals) -> None:
    pytest.importorskip("mcp", reason="the mcp package is not installed")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, *COMMAND], env=environment(), **pipes) as server:  # type: ignore[call-overload]
        server.stdin.write(REQUEST)
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "tcpstall"
        server.send_signal(number)
        try:
            ended = server.wait(timeout=30)
        finally:
            server.kill()
        assert ended == (ExitCode.INTERRUPTED if number is signal.SIGINT else ExitCode.TERMINATED)
        assert len(server.stderr.read().splitlines()) == 1


@pytest.mark.parametrize("missing", ["mcp", "anyio", "pydantic"])
def test_without_the_package_a_line_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("tcpstall.serve.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    assert main(["serve", "--mcp", "--root", str(FIXTURES)]) == ExitCode.CANNOT_OPEN
    assert capsys.readouterr().err == (
        "tcpstall: serve --mcp: the mcp package is not installed: pip install 'tcpstall[mcp]'\n"
    )


def test_what_is_spoken_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--root", str(FIXTURES)]) == ExitCode.USAGE
    assert "tcpstall serve --mcp" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("streams", "code", "line"),
    [
        ("<&-", ExitCode.CANNOT_OPEN, "tcpstall: cannot read standard input: Bad file descriptor"),
        (">/dev/full", ExitCode.DEFECT, "tcpstall: cannot write standard output: No space left on device"),
    ],
    ids=["input", "output"],
)
def test_streams_that_cannot_be_used_are_one_line(streams: str, code: ExitCode, line: str) -> None:
    pytest.importorskip("mcp", reason="the mcp package is not installed")
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, *COMMAND],
        input=REQUEST,
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.decode().splitlines()) == (code, [line])
