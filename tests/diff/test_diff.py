"""Changes between two captures, like compared with like."""

import json
from pathlib import Path
from typing import Any

import pytest

from tcpstall.causes import Cause
from tcpstall.diff import Comparison, compare
from tcpstall.report.diff.words import headline
from tests.cli.conftest import Run, capture, cut_capture, here, picture, run
from tests.documents import DOCS
from tests.page.prose import prose
from tests.pair.test_command import _keys
from tests.scene import Scene

__all__ = ["capture", "cut_capture", "here", "picture", "run"]

LAB = Path(__file__).parents[2] / "fixtures" / "lab"


def lab(name: str) -> Path:
    return LAB / name / "sender.pcap"


def scene_of(folder: Path, name: str, *, port: int = 80, rtt_ms: float = 20, size: int = 300_000, **how: Any) -> Path:
    flows = []
    (folder / name).mkdir()
    for number in range(3):
        one = Scene(folder / name, client_port=40_000 + number, start_ns=1_700_000_000_000_000_000 + number * 10**10)
        one.server.endpoint = type(one.server.endpoint)("10.0.0.2", port)
        one.client.isn += number * 1_000
        one.handshake(rtt_ms=rtt_ms)
        one.download(size, **how)
        one.closes()
        flows.append(one)
    return flows[0].capture(beside=flows[1:])


def first(good: Path, bad: Path) -> str:
    return headline(compare(good, bad))


def test_the_first_line_tells_another_initial_window() -> None:
    assert first(lab("initcwnd-100"), lab("slowstart-512k")).startswith("cwnd-limited grew from ")
    assert first(lab("initcwnd-100"), lab("slowstart-512k")).endswith(
        "a flow: slow start from 10 instead of 100 segments"
    )
    assert "slow start from 100 instead of 10 segments" in first(lab("slowstart-512k"), lab("initcwnd-100"))


def test_the_first_line_tells_a_small_send_buffer() -> None:
    told = first(lab("slowstart-512k"), lab("sndbuf-16k"))
    assert told.startswith("sndbuf-limited is new, ")
    assert "the send buffer was full at " in told
    assert first(lab("sndbuf-16k"), lab("slowstart-512k")).startswith("sndbuf-limited is gone, ")


def test_an_idle_restart_is_found_beside_seconds_of_idleness() -> None:
    assert first(lab("idle-restart-off"), lab("idle-restart-on")).startswith("idle-restart is new, ")


def test_a_capture_does_not_differ_from_itself() -> None:
    for name in ("slowstart-512k", "sndbuf-16k", "zero-window-6s"):
        comparison = compare(lab(name), lab(name))
        assert headline(comparison) == "nothing changed beyond what captures of the same thing differ by"
        assert not comparison.overall.proven


def test_a_longer_way_is_no_change_of_a_cause(tmp_path: Path) -> None:
    good, bad = scene_of(tmp_path, "near", rtt_ms=20), scene_of(tmp_path, "far", rtt_ms=80)
    comparison = compare(good, bad)
    assert headline(comparison).startswith("the round trip grew from 20.0 ms to 80.0 ms; no cause changed")
    (change,) = [change for change in comparison.overall.changes if change.cause is Cause.CWND_LIMITED]
    assert change.grew_ns > 100_000_000
    assert abs(change.own_ns) < change.noise_ns


def test_more_data_is_no_change_of_a_cause(tmp_path: Path) -> None:
    told = first(scene_of(tmp_path, "little", size=100_000), scene_of(tmp_path, "much", size=400_000))
    assert told.startswith("a flow carries 400.1 kB instead of 100.1 kB; no cause changed")


def test_thinking_longer_is_told_whatever_the_way(tmp_path: Path) -> None:
    good = scene_of(tmp_path, "quick", rtt_ms=20, size=3_000, think_ms=10)
    bad = scene_of(tmp_path, "slow", rtt_ms=80, size=3_000, think_ms=300)
    told = first(good, bad)
    assert told.startswith("app-limited grew from ")
    assert "besides, the round trip grew from 20.0 ms to 80.0 ms" in told


def test_losses_are_told_with_what_was_sent_again(tmp_path: Path) -> None:
    told = first(scene_of(tmp_path, "clean"), scene_of(tmp_path, "lossy", lose=(144_800,)))
    assert "retransmission is new, " in told
    assert "1 instead of 0 repairs of losses a flow" in told


def test_flows_that_vary_prove_nothing_until_the_change_exceeds_it(tmp_path: Path) -> None:
    def thinking(name: str, *spans_ms: float) -> Path:
        (tmp_path / name).mkdir()
        flows = []
        for number, span_ms in enumerate(spans_ms):
            one = Scene(tmp_path / name, client_port=40_000 + number)
            one.client.isn += number * 1_000
            one.handshake()
            one.download(3_000, think_ms=span_ms)
            one.closes()
            flows.append(one)
        return flows[0].capture(beside=flows[1:])

    good = thinking("good", 10, 200, 20, 190)
    assert headline(compare(good, thinking("like", 150, 30, 250, 110))).startswith("nothing changed")
    assert headline(compare(good, thinking("worse", 900, 800, 850, 950))).startswith("app-limited grew")


def services(comparison: Comparison) -> list[tuple[str, str]]:
    return [(str(service.good_service), str(service.bad_service)) for service in comparison.services]


def test_services_are_matched_by_address_and_port_else_by_port(tmp_path: Path) -> None:
    same = compare(scene_of(tmp_path, "one"), scene_of(tmp_path, "two"))
    assert services(same) == [("10.0.0.2:80", "10.0.0.2:80")]
    moved = compare(lab("slowstart-512k"), lab("rpc-30k"))
    assert [good.split(":")[-1] for good, _ in services(moved)] == [bad.split(":")[-1] for _, bad in services(moved)]


def test_services_in_one_capture_only_are_listed(tmp_path: Path, here: Run) -> None:
    good, bad = scene_of(tmp_path, "web"), scene_of(tmp_path, "db", port=5432)
    comparison = compare(good, bad)
    assert not comparison.services
    assert [str(end) for end, _ in comparison.only_good] == ["10.0.0.2:80"]
    assert [str(end) for end, _ in comparison.only_bad] == ["10.0.0.2:5432"]
    text = here("diff", good, bad).stdout
    assert text.splitlines()[0] == "the captures have no service in common: nothing to compare"
    assert "10.0.0.2:5432  3 flows" in text


def test_the_command_puts_the_answer_first(here: Run) -> None:
    done = here("diff", lab("initcwnd-100"), lab("slowstart-512k"))
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].endswith("slow start from 10 instead of 100 segments")
    assert [line.split()[0] for line in done.stdout.splitlines() if "segments  " in line] == ["good", "bad"]
    assert not any(line.endswith("…") for line in done.stdout.splitlines())


def test_json_has_a_schema_whose_keys_are_all_documented(here: Run) -> None:
    report = json.loads(here("diff", lab("initcwnd-100"), lab("sndbuf-16k"), "--format", "json").stdout)
    assert report["schema"] == "tcpstall.diff/1"
    assert report["overall"]["changes"][0]["cause"] == "sndbuf-limited"
    assert report["overall"]["changes"][0]["proven"]
    assert report["services"][0]["good"]["initial_window_segments"] == 100
    documented = (DOCS / "diff.md").read_text()
    assert not {key for key in _keys(report) if f"`{key}`" not in documented}


@pytest.mark.parametrize("turn", [False, True])
def test_unreadable_inputs_have_their_exit_codes(
    here: Run, run: Run, capture: Path, cut_capture: Path, picture: Path, turn: bool
) -> None:
    for other, code in ((Path("nowhere.pcap"), 3), (picture, 4), (cut_capture, 5)):
        done = here("diff", *((other, capture) if turn else (capture, other)))
        assert done.returncode == code
        assert len(done.stderr.splitlines()) == 1
    assert here("diff", "-", "-").returncode == 2
    assert run("diff", "-", capture, stdin=capture.read_bytes()).returncode == 0


def test_the_page_holds_the_answer_and_asks_for_nothing(here: Run, tmp_path: Path) -> None:
    hostile = tmp_path / "<script>alert(1)<script>.pcap"
    hostile.write_bytes(lab("slowstart-512k").read_bytes())
    page = tmp_path / "diff.html"
    done = here("diff", lab("initcwnd-100"), hostile, "-o", page)
    assert (done.returncode, done.stdout) == (0, "")
    text = prose(page.read_text())
    assert "slow start from 10 instead of 100 segments" in text
    assert "&lt;script&gt;alert(1)&lt;script&gt;" in text
    assert text.count("<script") == 1  # our own, which the policy names
    assert "default-src &#39;none&#39;" in text
    assert "http:" not in text
    assert "https:" not in text
    assert "tcpstall diff" in text


def test_a_page_that_cannot_be_written_is_an_error_in_a_line(here: Run, tmp_path: Path) -> None:
    done = here("diff", lab("rpc-30k"), lab("rpc-30k"), "-o", tmp_path / "nowhere" / "diff.html")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_names_of_inputs_cannot_steer_a_terminal(here: Run, tmp_path: Path) -> None:
    hostile = tmp_path / "\x1b[31mred.pcap"
    hostile.write_bytes(lab("rpc-30k").read_bytes())
    for command in ("diff", "pair"):
        done = here(command, hostile, hostile)
        assert "\x1b" not in done.stdout + done.stderr
        assert "\\x1b[31mred.pcap" in done.stdout
