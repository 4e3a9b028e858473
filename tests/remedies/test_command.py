"""`tcpstall remedies` end to end: forms, platforms, pastes, and bad input in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode

FIXTURES = Path(__file__).parents[2] / "fixtures"
SLOW = FIXTURES / "slowstart-rtt7ms-512k.pcap"
RUN = FIXTURES / "ss" / "sndbuf-16k"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, code: ExitCode = ExitCode.COMPLETE) -> str:
    assert main(["remedies", *map(str, arguments)]) == code
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(printed(capsys, *arguments, "--format", "json"))
    assert report["schema"] == "tcpstall.remedies/1"
    return report


def test_the_command_stands_on_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, SLOW).splitlines()
    assert "       # ip route change $(ip route get 192.168.247.130 fibmatch) initcwnd 44" in lines
    assert any(line.endswith("tcpstall whatif CAPTURE --flow 0 --set initcwnd=44") for line in lines)


def test_long_commands_are_not_folded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys, RUN / "sender.pcap").splitlines()
    assert any("kprobe:sk_stream_wait_memory" in line and line.endswith("}'") for line in lines)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", "initcwnd 44"),
        ("windows", "PS> Set-NetTCPSetting -SettingName InternetCustom -InitialCongestionWindowMss 44"),
        ("bsd", "sysctl net.inet.tcp.initcwnd_segments=44"),
    ],
)
def test_each_platform_has_its_own_commands(platform: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert expected in printed(capsys, SLOW, "--platform", platform)


def test_json_has_every_platform_unless_one_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    def platforms(*arguments: str) -> set[str]:
        (flow,) = as_json(capsys, SLOW, *arguments)["flows"]
        return {name for finding in flow["findings"] for remedy in finding["remedies"] for name in remedy["steps"]}

    assert platforms() == {"linux", "windows", "bsd"}
    assert platforms("--platform", "bsd") == {"bsd"}


def test_json_ranks_findings_by_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    (flow,) = as_json(capsys, SLOW)["flows"]
    times = [finding["time_ns"] for finding in flow["findings"]]
    assert times == sorted(times, reverse=True)
    assert flow["findings"][0]["remedies"][0]["whatif"] == "initcwnd=44"
    assert flow["sizes"] == []


def test_sizes_are_for_the_link_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    (flow,) = as_json(capsys, SLOW, "--link-rate", "100Mbit")["flows"]
    (sizes,) = flow["sizes"]
    assert sizes["rate_bytes_per_s"] == 12_500_000
    assert sizes["bdp_bytes"] == 80_388
    assert "100.0 Mbit/s, the link" in printed(capsys, SLOW, "--link-rate", "100Mbit")


def test_a_paste_is_held_against_the_capture(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, RUN / "sender.pcap", "--ss", RUN / "sender.ss", "--ss", RUN / "receiver.ss")
    assert text.startswith("pasted: 2 sockets of 1 flow in the capture, seen 11 times: the latest counts\n")
    assert "ss agrees: tb 32,768: SO_SNDBUF of 16,384; inferred " in text
    assert "flow 0: the client's socket 10.77.0.2:56634 beside the capture" in text
    report = as_json(capsys, RUN / "sender.pcap", "--ss", RUN / "sender.ss")
    assert report["ss"]["flows"] == 1
    assert report["flows"][0]["sockets"]["server"]["send_buffer_bytes"] == 32_768
    assert report["flows"][0]["findings"][0]["kernel"][0]["word"] == "agrees"


def test_only_flows_with_a_pasted_socket_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    report = as_json(capsys, SLOW, RUN / "sender.pcap", "--ss", RUN / "sender.ss")
    assert [flow["server"]["port"] for flow in report["flows"]] == [5_001]


def test_a_paste_of_other_connections_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, SLOW, "--ss", RUN / "sender.ss")
    assert "of 0 flows in the capture; 5 others of none" in text
    assert "behind a NAT?" in text
    assert "initcwnd 44" in text


def test_markdown_keeps_commands_as_they_are(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["remedies", str(RUN / "sender.pcap"), "--ss", str(RUN / "sender.ss"), "--format", "markdown"]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert "\n```sh\nsysctl -w net.ipv4.tcp_wmem=\"$(sysctl -n net.ipv4.tcp_wmem | awk '{print " in text
    assert "- **ss agrees**: tb 32,768" in text
    assert text.startswith("# What to change, on Linux\n")


def test_the_first_flows_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    several = [FIXTURES / "lab" / name / "sender.pcap" for name in ("sndbuf-16k", "rpc-30k", "rmem-4096", "edge-14480")]
    assert sum(line.startswith("flow ") and "→" in line for line in printed(capsys, *several).splitlines()) == 3
    assert len(as_json(capsys, *several)["flows"]) == 4
    assert len(as_json(capsys, *several, "--top", "2")["flows"]) == 2
    assert [flow["id"] for flow in as_json(capsys, *several, "--flow", "1")["flows"]] == [1]


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["remedies", *map(str, arguments)])
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return code, error


def test_a_paste_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = refused(capsys, SLOW, "--ss", tmp_path / "none.txt")
    assert code == ExitCode.CANNOT_OPEN
    assert error.count("\n") == 1
    assert "No such file" in error


def test_a_paste_without_sockets_is_said_and_the_rest_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paste = tmp_path / "a\x1b[2Jb.txt"
    paste.write_text("bash: ss: command not found\n")
    assert main(["remedies", str(SLOW), "--ss", str(paste)]) == ExitCode.NOT_A_CAPTURE
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "no TCP socket in it" in shown.err
    assert "\x1b" not in shown.err
    assert "initcwnd 44" in shown.out


def test_a_capture_that_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.pcap").write_bytes(b"\x00" * 50)
    code, error = refused(capsys, tmp_path / "empty.pcap")
    assert code == ExitCode.NOT_A_CAPTURE
    assert error.count("\n") == 1


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_a_capture_without_flows_has_nothing_to_change(
    form: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(SLOW.read_bytes()[:24])
    assert main(["remedies", str(empty), "--format", form]) == ExitCode.COMPLETE
    assert capsysbinary.readouterr().out.strip()


@pytest.mark.parametrize("arguments", [("--anonymise", "--ss", "x"), ("--ss", "-", "-"), ("--ss", "-", "--ss", "-")])
def test_what_cannot_be_done_is_a_usage_error(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, SLOW, *arguments)[0] == ExitCode.USAGE


def test_pseudonyms_stand_in_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert "192.168.247.130" not in printed(capsys, SLOW, "--anonymise")


def test_tickets_and_the_page_tell_the_worst_findings_command(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    command = "ip route change $(ip route get 192.168.247.130 fibmatch) initcwnd 44"
    for form in ("markdown", "jira", "text"):
        assert main(["analyze", str(SLOW), "--format", form]) == 0
        text = capsysbinary.readouterr().out.decode()
        assert command in text
        assert "ss -tinmo 'src 192.168.247.129:80 and dst 192.168.247.130:44612'" in text
    page = tmp_path / "page.html"
    assert main(["report", str(SLOW), "-o", str(page)]) == 0
    assert command in page.read_text()
