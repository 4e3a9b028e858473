"""The outcome of a connection that nobody answered is given wherever its headline stands."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.advice.treatment import treatments
from tcpstall.cli import main
from tcpstall.model import analyze
from tcpstall.report.first_change import first_change
from tcpstall.report.services import service_line
from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.page.prose import prose
from tests.scene import Scene
from tests.scene.verdict import flows_of

BACKED_OFF = (200, 400, 800, 1_600)


def unreachable(scene: Scene) -> Path:
    scene.handshake(rtt_ms=20, lost_syns=3, answered=False)
    return scene.capture("client")


def refused(scene: Scene) -> Path:
    scene.handshake(rtt_ms=20, lost_syns=2, refused=True)
    return scene.capture("client")


def half_open(scene: Scene) -> Path:
    """The SYN-ACK is sent again and again, as to a forged address."""
    scene.handshake(rtt_ms=20, lost_syn_acks=3)
    acks = [number for number, (_, packet) in enumerate(scene.packets("server"), 1) if packet.flags == 0x10]
    return scene.capture("server", drop=acks)


def gone(scene: Scene, times: int = 4) -> Path:
    scene.handshake(rtt_ms=20)
    scene.client_sends(1_000, lost=True)
    for after in BACKED_OFF[:times]:
        scene.wait_ms(after)
        scene.client_repeats(0, 1_000, lost=True)
    return scene.capture("client")


CASES: dict[str, tuple[Callable[[Scene], Path], str, str]] = {
    "unreachable": (unreachable, "nobody answered 4 SYNs in 7.00 s", "the port listens"),
    "refused": (refused, "a RST answered the SYN", "start the service"),
    "half-open": (
        half_open,
        "the server sent 4 SYN-ACKs, and no ACK of the client followed",
        "client does not complete",
    ),
    "gone": (gone, "the client sent the same data again 4 times, and nothing came back in 3.0", "host still runs"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["table", "text", "markdown", "jira"])
def test_each_form_says_what_happened_and_what_to_check(scene: Scene, here: Run, name: str, form: str) -> None:
    capture, seen, check = CASES[name]
    said = " ".join(here("analyze", capture(scene), "--format", form, "--stalls", COLUMNS="1000").stdout.split())
    assert f"{name}: {seen}" in said
    assert check.lower() in said.lower()
    assert "reuse connections" not in said
    assert "never waited" not in said
    assert "repaired" not in said


@pytest.mark.parametrize("name", CASES)
def test_the_page_and_the_comments_say_it_too(scene: Scene, tmp_path: Path, name: str) -> None:
    capture, seen, check = CASES[name]
    path, page, annotated = capture(scene), tmp_path / "page.html", tmp_path / "said.pcapng"
    assert main(["report", str(path), "-o", str(page)]) == 0
    assert main(["annotate", str(path), "-o", str(annotated)]) == 0
    for said in (prose(page.read_text("utf-8")), annotated.read_bytes().decode("utf-8", "replace")):
        assert seen in said
        assert check in said
        assert name == "gone" or "reuse connections" not in said


@pytest.mark.parametrize("name", CASES)
def test_no_change_of_tcp_is_advised(scene: Scene, name: str) -> None:
    (flow,) = analyze(CASES[name][0](scene))
    assert flow.outcome == name
    assert first_change(flow) is None
    assert all("nothing to change in TCP" in treated.nothing for treated in treatments(flow))


def test_json_names_the_outcome_who_got_no_answer_how_often_and_for_how_long(scene: Scene) -> None:
    (flow,) = flows_of(unreachable(scene))
    assert (flow["outcome"], flow["unanswered_sender"], flow["unanswered_attempts"]) == ("unreachable", "client", 4)
    assert 6.99e9 < flow["unanswered_ns"] < 7.01e9
    assert (flow["stalls"][0]["detail"], flow["stalls"][0]["ended"]) == ("unanswered", False)
    assert flow["time_ns"] == {"handshake": flow["end_ns"] - flow["start_ns"]}


def test_a_connection_that_stood_has_no_outcome(scene: Scene, tap: str) -> None:
    scene.handshake(rtt_ms=20, lost_syns=1)
    scene.download(50_000, lose=(20_000,))
    scene.closes()
    (flow,) = flows_of(scene.capture(tap))  # type: ignore[arg-type]
    assert flow["outcome"] is None
    assert "unanswered_sender" not in flow


def test_one_direction_of_a_normal_connection_is_never_called_unreachable(scene: Scene, here: Run) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(20_000)
    seen = scene.packets("client")
    for end in ("10.0.0.1", "10.0.0.2"):
        others = [number for number, (_, packet) in enumerate(seen, 1) if packet.source.address != end]
        capture = scene.capture("client", drop=others)
        (flow,) = flows_of(capture)
        assert flow["outcome"] == "one-sided"
        said = here("analyze", capture, COLUMNS="1000").stdout
        assert "unsure: only one direction was captured" in said
        assert "nobody answered" not in said


def test_a_capture_that_ends_with_the_syn_is_too_short_to_say(scene: Scene, here: Run) -> None:
    scene.handshake(rtt_ms=20, answered=False)
    said = here("analyze", scene.capture("client"), COLUMNS="1000").stdout
    assert "too early to say: the capture ends 0 ns after the SYN" in said
    assert "capture for longer" in said
    assert "unreachable" not in said


def test_a_lone_syn_is_unanswered_once_the_capture_has_gone_on_for_a_second(scene: Scene, tmp_path: Path) -> None:
    scene.handshake(rtt_ms=20, answered=False)
    (tmp_path / "other").mkdir()
    other = Scene(tmp_path / "other", client_port=40_001)
    other.handshake(rtt_ms=20)
    other.wait_ms(1_500)
    other.download(5_000)
    outcomes = [flow["outcome"] for flow in flows_of(scene.capture("client", beside=[other]))]
    assert sorted(outcomes, key=str) == [None, "unreachable"]


def test_a_reset_after_the_handshake_refused_nothing(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_resets()
    flow = scene.flow("client")
    assert (flow["outcome"], flow["state"], flow["handshake"]["complete"]) == (None, "reset", True)


def test_a_client_that_resets_what_was_accepted_completed_no_handshake(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_resets()
    acks = [number for number, (_, packet) in enumerate(scene.packets("client"), 1) if packet.flags == 0x10]
    flow = scene.flow("client", drop=acks)
    assert (flow["outcome"], flow["handshake"]["complete"]) == ("aborted", False)


@pytest.mark.parametrize("times", [1, 2])
def test_data_sent_again_once_or_twice_shows_no_end(scene: Scene, here: Run, times: int) -> None:
    capture = gone(scene, times)
    said = here("analyze", capture, "--stalls", COLUMNS="1000").stdout
    assert json.loads(here("analyze", capture, "--format", "json").stdout)["flows"][0]["outcome"] is None
    assert f"the client sent data again {('once', 'twice')[times - 1]}" in said
    assert "no ACK of it was captured" in said
    assert "repaired" not in said


def test_a_peer_that_was_heard_again_is_not_gone(scene: Scene) -> None:
    gone(scene)
    scene.client_repeats(0, 1_000)
    scene.server_acks()
    assert scene.flow("client")["outcome"] is None


def test_a_service_of_which_no_connection_came_about_is_told_as_such(scene: Scene, tmp_path: Path) -> None:
    unreachable(scene)
    (tmp_path / "other").mkdir()
    other = Scene(tmp_path / "other", client_port=40_001)
    refused(other)
    (service,) = analyze(scene.capture("client", beside=[other])).services
    assert service_line(service).endswith("2 connections (1 unreachable, 1 refused): none was established")
    assert (service.unreachable, service.refused, service.half_open, service.gone) == (1, 1, 0, 0)


def test_a_normal_handshake_sends_nobody_to_look_for_dropped_syns(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    advice = scene.flow("client")["stalls"][0]["advice"]
    assert "reuse connections" in advice
    assert "drop" not in advice


def test_syns_sent_again_ask_who_dropped_them(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=1)
    scene.download(5_000)
    assert "find out who drops or ignores SYNs" in scene.flow("client")["stalls"][0]["advice"]
