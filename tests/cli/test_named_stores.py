"""Commands that ask a store: it is named as an argument, or by `--store`."""

from pathlib import Path

import pytest

from tcpstall.cli import main
from tests.cli.conftest import FIXTURES

COMMANDS = (("top",), ("trend",), ("metrics",), ("store", "info"), ("store", "check"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_is_named_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    store = str(tmp_path / "store")
    assert main(["scan", str(FIXTURES / "slowstart-rtt7ms-512k.pcap"), "--store", store]) == 0
    capsys.readouterr()
    assert main([*command, "--store", store]) == 0
    by_option = capsys.readouterr().out
    monkeypatch.setenv("TCPSTALL_STORE", "elsewhere")
    assert main([*command, store]) == 0
    assert capsys.readouterr().out == by_option


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_store_the_error_has_the_command_to_type(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.delenv("TCPSTALL_STORE", raising=False)
    assert main(command) == 2
    assert f"name the store: tcpstall {' '.join(command)} DIR" in capsys.readouterr().err
